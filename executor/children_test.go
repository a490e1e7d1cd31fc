package executor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"golang.org/x/sync/errgroup"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// child is work that a handler has begun with its context: begun is called
// when it is at work, and it returns the cause for which it ended.
type child func(ctx context.Context, begun func()) error

func wait(ctx context.Context, begun func()) error {
	begun()
	<-ctx.Done()
	return context.Cause(ctx)
}

type childKey struct{}

// children are the ways that work is handed down.
func children(t *testing.T) map[string]child {
	t.Helper()
	asked := make(chan func(), 10)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		(<-asked)()
		<-r.Context().Done() // the client has left
	}))
	t.Cleanup(slow.Close)
	return map[string]child{
		"the context": wait,
		"derived": func(ctx context.Context, begun func()) error {
			ctx, cancel := context.WithTimeout(context.WithValue(ctx, childKey{}, 1), time.Hour)
			defer cancel()
			return wait(ctx, begun)
		},
		"an errgroup": func(ctx context.Context, begun func()) error {
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return wait(ctx, begun) })
			return g.Wait()
		},
		"a goroutine": func(ctx context.Context, begun func()) error {
			done := make(chan error)
			go func() { done <- wait(ctx, begun) }()
			return <-done
		},
		"a flow's node": func(ctx context.Context, begun func()) error {
			var cause error
			flow := line(t, func(ctx context.Context, _ order) (string, error) {
				cause = wait(ctx, begun)
				return "", cause
			}, fixed("x"))
			if _, err := flow.Run(ctx, "run", order{}); err == nil {
				return errors.New("the flow did not fail")
			}
			return cause
		},
		"an HTTP request": func(ctx context.Context, begun func()) error {
			asked <- begun
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, slow.URL, nil)
			if err != nil {
				return err
			}
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				return res.Body.Close()
			}
			return context.Cause(ctx)
		},
	}
}

// TestChildrenEndWithTheCause: whatever a handler has begun with its context
// ends when the run is stopped, and can tell why.
func TestChildrenEndWithTheCause(t *testing.T) {
	t.Parallel()
	reasons := map[string]struct {
		want string
		opts []executor.Option
		stop func(t *testing.T, h *executor.Handler, id a2a.TaskID)
	}{
		"cancel": {"the task was cancelled", nil, func(t *testing.T, h *executor.Handler, id a2a.TaskID) {
			t.Helper()
			if task, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: id}); err != nil || task.Status.State != a2a.TaskStateCanceled {
				t.Errorf("cancel: %+v, %v", task, err)
			}
		}},
		"shutdown": {"server is shutting down", nil, func(t *testing.T, h *executor.Handler, _ a2a.TaskID) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := h.Shutdown(ctx); err == nil {
				t.Error("nothing was stopped")
			}
		}},
		"timeout":    {"took too long", []executor.Option{executor.RunTimeout(50 * time.Millisecond)}, nil},
		"inactivity": {"took too long", []executor.Option{executor.InactivityTimeout(50 * time.Millisecond)}, nil},
	}
	for reason, r := range reasons {
		for name, c := range children(t) {
			t.Run(reason+" ends "+name, func(t *testing.T) {
				t.Parallel()
				begunWork, ended := make(chan struct{}), make(chan error, 1)
				a := streaming(func(ctx context.Context, _ *agent.Request, _ *stream.Writer) (*agent.Result, error) {
					err := c(ctx, func() { close(begunWork) })
					ended <- err
					return nil, err
				})
				h, err := executor.NewHandler(a, append([]executor.Option{quiet}, r.opts...)...)
				if err != nil {
					t.Fatal(err)
				}
				id := begun(t, h, userMessage("x"))
				if r.stop != nil {
					<-begunWork
					r.stop(t, h, id)
				}
				if cause := <-ended; cause == nil || !strings.Contains(cause.Error(), r.want) {
					t.Errorf("ended because of %v, want %q", cause, r.want)
				}
				_ = h.Shutdown(t.Context())
			})
		}
	}
}
