package sqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/internal/dbtest"
	"github.com/a2aexec/a2aexec/stream"
)

// view is what a handler can read of its request, but for the task.
type view struct {
	Text, Tenant, Language string
	Metadata               map[string]any
	Modes                  []string
	User                   agent.User
	Streaming              bool
}

func viewOf(req *agent.Request) view {
	return view{
		Text: req.Text(), Tenant: req.Tenant(), Language: req.AcceptLanguage(), Metadata: req.Metadata(),
		Modes: req.AcceptedOutputModes(), User: req.User(), Streaming: req.Streaming(),
	}
}

// viewing hangs, and tells what it and the function that recovers it see.
func viewing(saw chan<- view) func(*sqlstore.DB) *agent.Agent {
	return func(*sqlstore.DB) *agent.Agent {
		return agent.New("viewing",
			agent.Stream(func(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
				saw <- viewOf(req)
				<-ctx.Done()
				return nil, ctx.Err()
			}),
			agent.Recover(func(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
				saw <- viewOf(req)
				if inside, ok := agent.FromContext(ctx); !ok || inside.Tenant() != req.Tenant() {
					return nil, errors.New("the context has another request")
				}
				return agent.Text("done"), nil
			}))
	}
}

func aRequest(user map[string]any) (call func(context.Context) context.Context, req *a2a.SendMessageRequest) {
	m := said("hi")
	m.Metadata = map[string]any{"of": "the message"}
	req = &a2a.SendMessageRequest{
		Message: m, Tenant: "north",
		Metadata: map[string]any{
			"trace": "t-1", "deep": map[string]any{"n": 1.5, "big": int64(1<<60 + 1), "far": 1e18, "list": []any{"a", nil, true}},
			"api_key": "hunter2hunter2", "nested": map[string]any{"kept": "yes", "password": "hunter2"},
		},
		Config: &a2a.SendMessageConfig{AcceptedOutputModes: []string{"text/plain", "image/png"}},
	}
	return func(ctx context.Context) context.Context {
		ctx, c := a2asrv.NewCallContext(ctx, a2asrv.NewServiceParams(map[string][]string{
			"accept-language": {"de", "en;q=0.5"}, "authorization": {"Bearer verysecretverysecret"},
		}))
		c.User = a2asrv.NewAuthenticatedUser("me", user)
		return ctx
	}, req
}

// A run that went on in another process had a request without metadata, tenant,
// output modes, language and attributes of the user.
func TestARecoveredRunSeesItsRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		saw := make(chan view, 1)
		a := start(t, dsn, viewing(saw), executor.RecoverEvery(0))
		call, req := aRequest(map[string]any{
			"scopes": []string{"read", "write"}, "level": 3, "claims": map[string]any{"sub": "me", "aud": []any{"x"}},
			"token": "verysecretverysecret", "raw": "Bearer verysecretverysecret", "handle": make(chan int),
			"long": strings.Repeat("x", 70_000),
		})
		var id a2a.TaskID
		go func() {
			for _, err := range a.SendStreamingMessage(call(t.Context()), req) {
				if err != nil {
					return // the run is another process's
				}
			}
		}()
		first := <-saw
		kept := column(t, dsn, "SELECT request FROM a2a_tasks")
		if !strings.Contains(kept, "north") || strings.Contains(kept, "secret") || strings.Contains(kept, "hunter2") {
			t.Errorf("kept is %s", kept)
		}
		declareDead(t, dsn)
		b := start(t, dsn, viewing(saw))
		again := <-saw

		want := first // but for what is a secret, or not data
		delete(want.Metadata, "api_key")
		want.Metadata["nested"] = map[string]any{"kept": "yes"}
		want.User.Attributes = map[string]any{
			"scopes": []string{"read", "write"}, "level": 3, "claims": map[string]any{"sub": "me", "aud": []any{"x"}},
		}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("the request of the recovered run (-want +got): %s", diff)
		}
		if want.Language == "" || want.Tenant == "" || !want.Streaming || len(want.Modes) != 2 || want.Metadata["of"] == nil {
			t.Errorf("the first run saw %+v", want)
		}
		o := <-b.outcomes
		id = a2a.TaskID(o.TaskID)
		if o.State != executor.Completed {
			t.Errorf("the run came to %+v", o)
		}
		b.until(t, id, a2a.TaskStateCompleted)
		if got := column(t, dsn, "SELECT count(*) FROM a2a_tasks WHERE request <> ''"); got != "0" {
			t.Errorf("%s requests are kept after the end", got)
		}
	})
}
