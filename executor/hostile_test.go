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
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// What the user plugs in may be as bad as the agent's code.

// badStore panics or fails in one of its methods.
type badStore struct {
	taskstore.Store
	get, create, update func() error
}

func newBadStore() *badStore {
	return &badStore{Store: taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})}
}

func (s *badStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	if s.get != nil {
		if err := s.get(); err != nil {
			return nil, err
		}
	}
	return s.Store.Get(ctx, id)
}

func (s *badStore) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	if s.create != nil {
		if err := s.create(); err != nil {
			return 0, err
		}
	}
	return s.Store.Create(ctx, t)
}

func (s *badStore) Update(ctx context.Context, r *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	if s.update != nil {
		if err := s.update(); err != nil {
			return 0, err
		}
	}
	return s.Store.Update(ctx, r)
}

func TestStoreThatPanicsEndsNothing(t *testing.T) {
	t.Parallel()
	boom := func() error { panic("store: hunter2") }
	for name, spoil := range map[string]func(*badStore){
		"get":    func(s *badStore) { s.get = boom },
		"create": func(s *badStore) { s.create = boom },
		"update": func(s *badStore) { s.update = boom },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newBadStore()
			spoil(store)
			h := newHandler(t, echo("a"), executor.TaskStore(store))
			ctx := call(t)
			follow := userMessage("x")
			follow.Message.TaskID = "t1"
			_, err1 := h.SendMessage(ctx, userMessage("x"))
			_, err2 := h.SendMessage(ctx, follow)
			_, err3 := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: "t1"})
			_, err4 := h.GetTask(ctx, &a2a.GetTaskRequest{ID: "t1"})
			for _, err := range []error{err1, err2, err3, err4} {
				if err != nil && strings.Contains(err.Error(), "hunter2") {
					t.Errorf("leaks %v", err)
				}
			}
		})
	}
}

// TestStoreThatRefusesTheEnding: the host fails such a task bare; the client
// learns why all the same, and the hooks learn what was stored.
func TestStoreThatRefusesTheEnding(t *testing.T) {
	t.Parallel()
	var updates atomic.Int32
	store := newBadStore()
	store.update = func() error {
		if updates.Add(1) == 1 {
			return errors.New("disk full: hunter2")
		}
		return nil
	}
	outcomes := make(chan executor.Outcome, 1)
	got := executortest.Run(t, echo("a"), "x", executortest.Blocking(), executortest.With(executor.TaskStore(store),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { outcomes <- o })))
	got.AssertFailed(t, errcode.Internal, executortest.Reason("host_stopped"))
	if o := <-outcomes; o.State != executor.Failed || o.Data.ErrorReason != "host_stopped" {
		t.Errorf("outcome: got %+v", o)
	}
}

type panickingLog struct{}

func (panickingLog) Enabled(context.Context, slog.Level) bool  { return true }
func (panickingLog) Handle(context.Context, slog.Record) error { panic("log") }
func (l panickingLog) WithAttrs([]slog.Attr) slog.Handler      { return l }
func (panickingLog) WithGroup(string) slog.Handler             { panic("group") }

func TestLoggerThatPanicsEndsNothing(t *testing.T) {
	t.Parallel()
	log := executortest.With(executor.Logger(slog.New(panickingLog{})))
	both(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		panic("x")
	}), func(t *testing.T, got *executortest.Got) {
		t.Helper()
		got.AssertFailed(t, errcode.Internal)
	})
	executortest.Run(t, echo("a"), "x", log).AssertCompleted(t)
	executortest.Run(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, errors.New("x")
	}), "x", log).AssertFailed(t, errcode.Internal)
}

type blockingError struct{ release chan struct{} }

func (e blockingError) Error() string { <-e.release; return "released" }

type exitingError struct{}

func (exitingError) Error() string { runtime.Goexit(); return "" }

func TestErrorWhoseTextExitsTheGoroutine(t *testing.T) {
	t.Parallel()
	both(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, exitingError{} }),
		func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertFailed(t, errcode.Internal, executortest.Reason("handler_exited"))
		})
}

// TestShutdownIsBounded: neither an error whose text blocks nor a hook that
// does keeps a server from going down.
func TestShutdownIsBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hook := executor.OnOutcome(func(context.Context, executor.Outcome) { <-release })
	for name, c := range map[string]struct {
		err  error
		opts []executor.Option
	}{
		"a blocking text": {blockingError{release}, nil},
		"a blocking hook": {nil, []executor.Option{hook}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			returning := make(chan struct{}, 1)
			h, err := executor.NewHandler(invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
				returning <- struct{}{}
				return nil, c.err
			}), append(c.opts, quiet, executor.GracePeriod(time.Millisecond))...)
			if err != nil {
				t.Fatal(err)
			}
			ctx := call(t)
			sent := make(chan error, 1)
			go func() { _, err := h.SendMessage(ctx, userMessage("x")); sent <- err }()
			<-returning
			limit, cancel := context.WithCancel(t.Context())
			cancel()
			if err := h.Shutdown(limit); err == nil {
				t.Error("Shutdown does not tell that it left something behind")
			}
			if err := <-sent; err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
}

// TestShutdownAndAMessageAtOnce: a message is refused, or runs undisturbed.
func TestShutdownAndAMessageAtOnce(t *testing.T) {
	t.Parallel()
	for range 100 {
		h := newHandler(t, echo("a"))
		ctx := call(t)
		down := make(chan error, 1)
		go func() { down <- h.Shutdown(t.Context()) }()
		res, err := h.SendMessage(ctx, userMessage("x"))
		if task, ok := res.(*a2a.Task); err == nil && (!ok || task.Status.State != a2a.TaskStateCompleted) {
			t.Fatalf("admitted, and then %+v", res)
		}
		if err := <-down; err != nil {
			t.Fatalf("Shutdown: %v", err)
		}
	}
}

// TestTimeIsBounded: a run that takes too long, or is silent too long, ends,
// though its code ignores its context; one that works on does not.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	for reason, opt := range map[string]executor.Option{
		"run_timeout":        executor.RunTimeout(20 * time.Second),
		"inactivity_timeout": executor.InactivityTimeout(20 * time.Second),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				deaf := streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
					err := w.Text("so far")
					<-release
					return nil, err
				})
				got := executortest.Run(t, deaf, "x", executortest.With(opt))
				close(release)
				d := got.AssertFailed(t, errcode.UpstreamTimeout, executortest.Reason(reason), executortest.Retriable(true),
					executortest.Source("internal:executor"))
				got.AssertText(t, "so far")
				if ms, ok := d.Details["elapsedMs"].(float64); !ok || ms != 20_000 {
					t.Errorf("details: got %v", d.Details)
				}
			})
		})
	}
	t.Run("busy", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			busy := streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
				for range 10 {
					if err := w.Progress("x"); err != nil {
						return nil, err
					}
					time.Sleep(2 * time.Second)
				}
				return nil, nil
			})
			executortest.Run(t, busy, "x", executortest.With(executor.InactivityTimeout(3*time.Second))).AssertCompleted(t)
		})
	})
}

// TestMiddlewareThatCallsAgain: a retry before any output is fine, one after it
// is refused, and two at once do not mix.
func TestMiddlewareThatCallsAgain(t *testing.T) {
	t.Parallel()
	retry := executortest.With(executor.Middleware(func(next executor.RunFunc) executor.RunFunc {
		return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			if res, err := next(ctx, req); err == nil {
				return res, nil
			}
			return next(ctx, req)
		}
	}))
	t.Run("before any output", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int32
		executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if calls.Add(1) == 1 {
				return nil, errors.New("once")
			}
			return nil, w.Text("second")
		}), "x", retry).AssertText(t, "second")
	})
	t.Run("after output", func(t *testing.T) {
		t.Parallel()
		got := executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, errors.Join(w.Text("first"), errors.New("always"))
		}), "x", retry)
		got.AssertFailed(t, errcode.Internal, executortest.Reason("output_already_sent"))
		got.AssertText(t, "first")
	})
	// What one writer had in hand was stored under a lock that whoever closed the
	// writer held while it waited for that.
	t.Run("while the first is being stored", func(t *testing.T) {
		t.Parallel()
		store, held, again := newHookedStore(), make(chan struct{}, 1), make(chan struct{})
		store.onUpdate(func(r *taskstore.UpdateRequest) error {
			if len(r.Task.Artifacts) == 1 {
				select {
				case held <- struct{}{}:
					<-again
				default:
				}
			}
			return nil
		})
		hedge := executortest.With(executor.TaskStore(store), executor.StreamBuffer(stream.Buffer{}), executor.Middleware(func(next executor.RunFunc) executor.RunFunc {
			return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
				var wg sync.WaitGroup
				wg.Go(func() { _, _ = next(ctx, req) })
				<-held // the first has sent something, and has more in hand
				wg.Go(func() {
					time.AfterFunc(10*time.Millisecond, func() { close(again) }) // it waits by then, or a little later
					_, _ = next(ctx, req)
				})
				wg.Wait()
				return nil, nil
			}
		}))
		executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, errors.Join(w.Text("one"), w.Text("two"))
		}), "x", hedge).AssertCompleted(t)
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		hedge := executortest.With(executor.Middleware(func(next executor.RunFunc) executor.RunFunc {
			return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
				var wg sync.WaitGroup
				defer wg.Wait()
				for range 3 {
					wg.Go(func() { _, _ = next(ctx, req) })
				}
				return nil, nil
			}
		}))
		executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for i := range 20 {
				_ = w.Artifact(fmt.Sprint(i)).Text("x")
			}
			return nil, nil
		}), "x", hedge).AssertCompleted(t)
	})
}

// TestCancelRightAfterTheAnswer: the run that parked the task may still be on
// its way out.
func TestCancelRightAfterTheAnswer(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	defer close(slow)
	h := newHandler(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == "ask" {
			return nil, hitl.InputRequired("?")
		}
		return agent.Text("x"), nil
	}), executor.OnOutcome(func(context.Context, executor.Outcome) { <-slow }))
	ctx := call(t)
	for range 200 {
		res, err := h.SendMessage(ctx, userMessage("ask"))
		if err != nil {
			t.Fatal(err)
		}
		task, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: res.TaskInfo().TaskID})
		if err != nil || task.Status.State != a2a.TaskStateCanceled {
			t.Fatalf("cancel of a parked task: got %+v, %v", task, err)
		}
		again, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: res.TaskInfo().TaskID})
		if err != nil || again.Status.State != a2a.TaskStateCanceled {
			t.Fatalf("cancel of a canceled task: got %+v, %v", again, err)
		}
		res, err = h.SendMessage(ctx, userMessage("done"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: res.TaskInfo().TaskID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
			t.Fatalf("cancel of a completed task: got %v", err)
		}
	}
}

// TestTwoFollowUpsAtOnce: one wins, the other is told why not, and both while
// the task is parked and while it works.
func TestTwoFollowUpsAtOnce(t *testing.T) {
	t.Parallel()
	working, finish := make(chan struct{}), make(chan struct{})
	h := newHandler(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			return nil, hitl.InputRequired("?")
		}
		close(working)
		<-finish
		return agent.Text(req.Text()), nil
	}))
	ctx := call(t)
	res, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 2)
	for _, text := range []string{"one", "two"} {
		go func() {
			req := userMessage(text)
			req.Message.TaskID = res.TaskInfo().TaskID
			_, err := h.SendMessage(call(t), req)
			results <- err
		}()
	}
	<-working
	if err := <-results; !errors.Is(err, a2a.ErrUnsupportedOperation) || !strings.Contains(err.Error(), "earlier message") {
		t.Errorf("the loser: got %v", err)
	}
	late := userMessage("late")
	late.Message.TaskID = res.TaskInfo().TaskID
	if _, err := h.SendMessage(call(t), late); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("while it works: got %v", err)
	}
	close(finish)
	if err := <-results; err != nil {
		t.Errorf("the winner: got %v", err)
	}
	task, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: res.TaskInfo().TaskID})
	if err != nil || len(task.History) != 3 || task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the task: got %+v, %v", task, err)
	}
}

func TestFollowUpThatReusesAnID(t *testing.T) {
	t.Parallel()
	a := invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			return nil, hitl.InputRequired("?")
		}
		return agent.Text(req.Original().Parts[0].Text()), nil
	})
	h := newHandler(t, a)
	ctx := call(t)
	first := userMessage("first")
	res, err := h.SendMessage(ctx, first)
	if err != nil {
		t.Fatal(err)
	}
	second := userMessage("second")
	second.Message.ID, second.Message.TaskID = first.Message.ID, res.TaskInfo().TaskID
	res, err = h.SendMessage(ctx, second)
	if err != nil {
		t.Fatal(err)
	}
	if got := firstText(res); got != "first" {
		t.Errorf("original: got %q", got)
	}
	task, ok := res.(*a2a.Task)
	if !ok {
		t.Fatalf("got %T", res)
	}
	said := ""
	for _, m := range task.History {
		said += m.Parts[0].Text() + " "
	}
	if said != "first ? second " {
		t.Errorf("history: got %q", said)
	}
}

func TestLostValuesAreLogged(t *testing.T) {
	t.Parallel()
	var logged syncBuffer
	a := invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == "ask" {
			return nil, hitl.InputRequired("?", hitl.Payload(map[string]any{"payload": make(chan int)}))
		}
		return agent.Artifacts(agent.Artifact{
			Parts:    []stream.Part{stream.DataPart(map[string]any{"part": make(chan int), "ok": 1})},
			Metadata: map[string]any{"metadata": func() {}},
		}), nil
	})
	log := executortest.With(executor.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	executortest.Run(t, a, "x", log).AssertCompleted(t)
	executortest.Run(t, a, "ask", log).AssertInputRequired(t, "?")
	executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		return nil, errors.Join(w.Text("at once"), w.Data(map[string]any{"buffered": func() {}, "ok": 1}),
			w.NewArtifact("b", stream.Metadata(map[string]any{"about": func() {}})).Text("b"), errors.New("x"))
	}), "x", log).AssertFailed(t, errcode.Internal)
	for _, want := range []string{"/part", "/metadata", "/payload", "/buffered", "/about"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %s: %s", want, logged.String())
		}
	}
}
