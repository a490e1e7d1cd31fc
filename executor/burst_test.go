package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/stream"
)

// follow reads a stream to its end.
func follow(ctx context.Context, t *testing.T, h *executor.Handler, req *a2a.SendMessageRequest) (events []a2a.Event) {
	t.Helper()
	for ev, err := range h.SendStreamingMessage(ctx, req) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// A burst of artifacts cost two events each, and the host copies the whole task
// for each event.
func TestBurstOfArtifacts(t *testing.T) {
	t.Parallel()
	const n = 50
	h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for i := range n {
			if err := w.Artifact(fmt.Sprint(i)).Text("x"); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}), executor.StreamBuffer(stream.Buffer{Bytes: 16 << 10, First: time.Hour, Longest: time.Hour}))
	events := follow(user(t, "u"), t, h, userMessage("hi"))
	if got := len(events); got != 1+n+1+1 { // the task, the artifacts, the end of the first one, the status
		t.Errorf("%d events for %d artifacts", got, n)
	}
	task, err := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: events[0].TaskInfo().TaskID})
	if err != nil || len(task.Artifacts) != n {
		t.Fatalf("stored: %v, %v", task, err)
	}
	if err := executortest.CheckOrder(events); err != nil {
		t.Error(err)
	}
	if err := executortest.CheckStored(events, task); err != nil {
		t.Error(err)
	}
}

// endless writes artifacts as fast as it can, until it may not.
func endless(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
	for i := 0; ; i++ {
		if err := w.Artifact(fmt.Sprint(i)).Text("x"); err != nil {
			return nil, err
		}
	}
}

// Cancel, and the end of a run's time, waited behind as many events as the host
// had room for.
func TestAnEndingDoesNotWaitBehindABurst(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "timeout"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := newHookedStore()
				store.onUpdate(func(r *taskstore.UpdateRequest) error {
					if _, ok := r.Event.(*a2a.TaskArtifactUpdateEvent); ok {
						time.Sleep(time.Second)
					}
					return nil
				})
				opts := []executor.Option{executor.TaskStore(store), executor.StreamBuffer(stream.Buffer{})}
				if how == "timeout" {
					opts = append(opts, executor.RunTimeout(10*time.Second))
				}
				h := newHandler(t, streaming(endless), opts...)
				began := time.Now()
				task := started(user(t, "u"), t, h, "hi")
				want := a2a.TaskStateFailed
				if how == "cancel" {
					want = a2a.TaskStateCanceled
					time.Sleep(10 * time.Second)
					if _, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
						t.Error(err)
					}
				}
				for _, err := range h.SubscribeToTask(user(t, "u"), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
					if err != nil && !errors.Is(err, a2a.ErrUnsupportedOperation) { // it has ended
						t.Error(err)
					}
				}
				// The artifacts written by then, ten, are closed first; canceled ones for a second.
				limit := map[string]time.Duration{"cancel": 4 * time.Second, "timeout": 15 * time.Second}[how]
				if late := time.Since(began) - 10*time.Second; late > limit {
					t.Errorf("ended %v after that", late)
				}
				if got, err := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: task.ID}); err != nil || got.Status.State != want {
					t.Errorf("got %v, %v", got, err)
				}
			})
		})
	}
}

// An ending of many artifacts could not be interrupted.
func TestCancelDuringALongEnding(t *testing.T) {
	t.Parallel()
	store := newHookedStore()
	var n atomic.Int64
	ending, release := make(chan struct{}), make(chan struct{})
	store.onUpdate(func(r *taskstore.UpdateRequest) error {
		if _, ok := r.Event.(*a2a.TaskArtifactUpdateEvent); ok && n.Add(1) == 3 {
			close(ending)
			<-release
		}
		return nil
	})
	canceling := make(chan struct{})
	h := newHandler(t, invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		context.AfterFunc(ctx, func() { close(canceling) })
		var out []agent.Artifact
		for range 200 {
			out = append(out, agent.Artifact{Parts: []stream.Part{stream.TextPart("x")}})
		}
		return agent.Artifacts(out...), nil
	}), executor.TaskStore(store))
	var all sync.WaitGroup
	ids := make(chan a2a.TaskID, 1)
	all.Go(func() {
		for ev, err := range h.SendStreamingMessage(user(t, "u"), userMessage("hi")) {
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case ids <- ev.TaskInfo().TaskID:
			default:
			}
		}
	})
	id := <-ids
	<-ending
	all.Go(func() {
		if got, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: id}); err != nil || got.Status.State != a2a.TaskStateCanceled || len(got.Artifacts) > 50 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	<-canceling
	close(release)
	all.Wait()
}

// A run that writes all the time was ended for inactivity, as soon as its writes
// were merged over a longer time than that.
func TestInactivityCountsWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, streaming(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for range 400 {
				if err := w.Text("tick "); err != nil {
					return nil, err
				}
				time.Sleep(10 * time.Millisecond)
			}
			if req.Text() == "idle" {
				time.Sleep(time.Second)
			}
			return nil, nil
		}), executor.InactivityTimeout(100*time.Millisecond))
		for text, want := range map[string]a2a.TaskState{"busy": a2a.TaskStateCompleted, "idle": a2a.TaskStateFailed} {
			if got := sent(user(t, "u"), t, h, userMessage(text)); got.Status.State != want {
				t.Errorf("%s: got %v", text, got.Status)
			}
		}
	})
}

// marshaled is a value whose n-th conversion does not return.
type marshaled struct {
	calls *atomic.Int64
	good  int64
	hang  <-chan struct{} // nil: it exits its goroutine
}

func (m marshaled) MarshalJSON() ([]byte, error) {
	if m.calls.Add(1) <= m.good {
		return []byte(`"x"`), nil
	}
	if m.hang == nil {
		runtime.Goexit()
	}
	<-m.hang
	return nil, nil
}

// The metadata of a result's artifacts were converted again in the host's
// goroutine, where nothing the user's code does may happen.
func TestMetadataAreConvertedInTheHandlersGoroutine(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for name, hang := range map[string]<-chan struct{}{"hangs": hang, "exits": nil} {
		for good := range int64(5) {
			t.Run(fmt.Sprint(name, good), func(t *testing.T) {
				t.Parallel()
				value := marshaled{calls: new(atomic.Int64), good: good, hang: hang}
				h := newHandler(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
					return agent.Artifacts(agent.Artifact{Parts: []stream.Part{stream.TextPart("a")}, Metadata: map[string]any{"m": value}}), nil
				}), executor.RunTimeout(50*time.Millisecond), executor.GracePeriod(0), executor.MaxOutput(1<<20))
				got := sent(user(t, "u"), t, h, userMessage("hi"))
				if !got.Status.State.Terminal() {
					t.Errorf("got %v", got.Status)
				}
			})
		}
	}
}

// blockingLog is a log handler that blocks on warnings until it is released.
type blockingLog struct{ release <-chan struct{} }

func (blockingLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (l blockingLog) Handle(context.Context, slog.Record) error  { <-l.release; return nil }
func (l blockingLog) WithAttrs([]slog.Attr) slog.Handler         { return l }
func (l blockingLog) WithGroup(string) slog.Handler              { return l }

// What a chunk held that JSON cannot express was logged with the writer's lock
// held, for which the ending waited.
func TestLogThatBlocks(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		return nil, w.Data(map[string]any{"a": 1, "c": make(chan int)})
	}), executor.Logger(slog.New(blockingLog{release})), executor.RunTimeout(50*time.Millisecond), executor.GracePeriod(0))
	got := sent(user(t, "u"), t, h, userMessage("hi"))
	if !got.Status.State.Terminal() || len(got.Artifacts) != 1 {
		t.Errorf("got %v", got.Status)
	}
}

// What was left out is logged all the same, once the code has returned.
func TestLossesAreLogged(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for range 200 {
			if err := w.Data(map[string]any{"a": 1, "c": make(chan int)}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}), executor.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	sent(user(t, "u"), t, h, userMessage("hi"))
	if err := h.Shutdown(t.Context()); err != nil { // it is logged after the end
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "left out"); n != 1 || !strings.Contains(log.String(), "/c: ") {
		t.Errorf("%d records: %s", n, log.String())
	}
}
