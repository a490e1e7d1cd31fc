package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// The host lets whoever asks join a cancel that is under way, and gave another
// user the whole task.
func TestCancelOfAnotherUserWhileTheOwnersRuns(t *testing.T) {
	t.Parallel()
	began, canceled, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := newHandler(t, invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		close(began)
		<-ctx.Done()
		close(canceled)
		<-release // deaf
		return nil, ctx.Err()
	}), executor.GracePeriod(time.Hour))
	task := started(user(t, "alice"), t, h, "a secret")
	<-began // a run that is canceled before calls no code
	var owner sync.WaitGroup
	owner.Go(func() {
		if got, err := h.CancelTask(user(t, "alice"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil || got.Status.State != a2a.TaskStateCanceled {
			t.Errorf("the owner: %v, %v", got, err)
		}
	})
	<-canceled
	if got, err := h.CancelTask(user(t, "mallory"), &a2a.CancelTaskRequest{ID: task.ID}); got != nil || !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("got %v, %v, want that there is no such task", got, err)
	}
	close(release)
	owner.Wait()
}

// Whatever another user asks of a task, it is not there: while it works, while
// it waits, and while it is canceled.
func TestTasksOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := newHandler(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == "park" {
			return nil, hitl.InputRequired("?")
		}
		<-release
		return agent.Text("ok"), nil
	}))
	running := started(user(t, "alice"), t, h, "run")
	parked := sent(user(t, "alice"), t, h, userMessage("park"))
	for state, task := range map[string]*a2a.Task{"running": running, "parked": parked} {
		id := task.ID
		asks := map[string]func(ctx context.Context) error{
			"send": func(ctx context.Context) error {
				return second(h.SendMessage(ctx, replyTo(task, a2a.NewTextPart("x"))))
			},
			"get":    func(ctx context.Context) error { return second(h.GetTask(ctx, &a2a.GetTaskRequest{ID: id})) },
			"cancel": func(ctx context.Context) error { return second(h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})) },
			"stream": func(ctx context.Context) (err error) {
				for _, err = range h.SendStreamingMessage(ctx, replyTo(task, a2a.NewTextPart("x"))) {
				}
				return err
			},
			"subscribe": func(ctx context.Context) (err error) {
				for _, err = range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
				}
				return err
			},
			"resume": func(context.Context) error {
				return second(h.Resume(t.Context(), agent.User{Name: "mallory", Authenticated: true}, string(id))) //nolint:contextcheck // no client asks
			},
		}
		for what, ask := range asks {
			if err := ask(user(t, "mallory")); !errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("%s, %s: got %v, want that there is no such task", state, what, err)
			}
		}
	}
	close(release)
}

// A function that lets go of a parked task, or a store that deletes its run, may
// hang: the task is canceled all the same, and nothing waits for ever.
func TestReleaseThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		h := newHandler(t, agent.New("a", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, hitl.InputRequired("?")
		}), agent.OnRelease(func(context.Context, string) { <-hang })))
		defer close(hang)
		task := sent(user(t, "alice"), t, h, userMessage("hi"))
		for range 2 {
			got, err := h.CancelTask(user(t, "alice"), &a2a.CancelTaskRequest{ID: task.ID})
			if err != nil || got.Status.State != a2a.TaskStateCanceled {
				t.Fatalf("got %v, %v", got, err)
			}
		}
		if n := h.Abandoned(); n != 1 {
			t.Errorf("%d given up, want 1", n)
		}
	})
}

// A cancel that came while the host was on its way out of the run that had
// parked the task had the agent forget the task before it had ended, and again
// when it did.
func TestReleaseOnceWhileTheHostLeavesTheRun(t *testing.T) {
	t.Parallel()
	store := newHookedStore()
	var released []a2a.TaskState // as the task was stored
	h := newHandler(t, agent.New("a", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, hitl.InputRequired("?")
	}), agent.OnRelease(func(ctx context.Context, id string) {
		st, err := store.Get(ctx, a2a.TaskID(id))
		if err != nil {
			t.Error(err)
			return
		}
		released = append(released, st.Task.Status.State)
	})), executor.TaskStore(store))
	for range 50 { // the host is there for a moment
		released = nil
		task := sent(user(t, "alice"), t, h, userMessage("hi"))
		if _, err := h.CancelTask(user(t, "alice"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]a2a.TaskState{a2a.TaskStateCanceled}, released); diff != "" {
			t.Fatalf("released (-want +got):\n%s", diff)
		}
	}
}

// A message to a task that is just being canceled, or a resume, met an error of
// the host's own, told as an internal one.
func TestMessageWhileTheTaskIsCanceled(t *testing.T) {
	t.Parallel()
	store := newHookedStore()
	h := newHandler(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, hitl.InputRequired("?")
	}), executor.TaskStore(store))
	task := sent(user(t, "alice"), t, h, userMessage("hi"))
	storing, release := make(chan struct{}), make(chan struct{})
	store.onUpdate(func(r *taskstore.UpdateRequest) error {
		if r.Task.Status.State == a2a.TaskStateCanceled {
			close(storing)
			<-release
		}
		return nil
	})
	var cancel sync.WaitGroup
	cancel.Go(func() {
		if _, err := h.CancelTask(user(t, "alice"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Errorf("cancel: %v", err)
		}
	})
	<-storing
	_, sendErr := h.SendMessage(user(t, "alice"), replyTo(task, a2a.NewTextPart("x")))
	_, resumeErr := h.Resume(t.Context(), agent.User{Name: "alice", Authenticated: true}, string(task.ID), stream.TextPart("x"))
	for what, err := range map[string]error{"send": sendErr, "resume": resumeErr} {
		if !errors.Is(err, a2a.ErrUnsupportedOperation) || err.Error() != "The task is being canceled and takes no further messages." {
			t.Errorf("%s: got %v", what, err)
		}
	}
	close(release)
	cancel.Wait()
}

// A follow-up whose task is canceled before its run begins got the bare status.
func TestCancelBeforeAnAdmittedMessageRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, cancelBeforeAnAdmittedMessageRuns)
}

func cancelBeforeAnAdmittedMessageRuns(t *testing.T) {
	store := newHookedStore()
	h := newHandler(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); asked {
			return agent.Text("thanks"), nil
		}
		return nil, hitl.InputRequired("?")
	}), executor.TaskStore(store))
	task := sent(user(t, "u"), t, h, userMessage("hi"))
	storing, stored := make(chan struct{}), make(chan struct{})
	store.onUpdate(func(r *taskstore.UpdateRequest) error {
		if _, ok := r.Event.(*a2a.Message); ok {
			close(storing)
			<-stored
		}
		return nil
	})
	var cancel sync.WaitGroup
	cancel.Go(func() {
		<-storing
		if _, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Errorf("cancel: %v", err)
		}
	})
	go func() {
		<-storing
		synctest.Wait() // the canceled status is in the host's pipe
		close(stored)
	}()
	events := follow(user(t, "u"), t, h, replyTo(task, a2a.NewTextPart("x")))
	cancel.Wait()
	if err := executortest.CheckOrder(events); err != nil {
		t.Errorf("%v\n%v", err, events)
	}
	got, err := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: task.ID})
	if err != nil || got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %v, %v", got, err)
	}
	if err := executortest.CheckStored(events, got); err != nil {
		t.Error(err)
	}
}

// TestStoppedCodeIsHeard: what code comes to that was stopped before is in the log,
// and so is code that does not return at all; what a canceled task's code returns
// for that reason is no news.
func TestStoppedCodeIsHeard(t *testing.T) {
	t.Parallel()
	type code func(ctx context.Context, hang chan struct{}) error
	failing := func(ctx context.Context, _ chan struct{}) error { return fmt.Errorf("query the ledger: %w", ctx.Err()) }
	panicking := func(context.Context, chan struct{}) error { panic("the connection was nil") }
	cases := []struct {
		name     string
		timeout  time.Duration // 0: the task is canceled
		after    code
		want     string
		unwanted string
	}{
		{"an error", time.Minute, failing, "query the ledger", "may still be running"},
		{"a panic", time.Minute, panicking, "the connection was nil", "may still be running"},
		{"a panic after a cancel", 0, panicking, "the connection was nil", "may still be running"},
		{"an error after a cancel", 0, failing, "", "query the ledger"},
		{"nothing", time.Minute, func(context.Context, chan struct{}) error { return nil }, "run_timeout", "stopped code"},
		{"never returns", time.Minute, func(_ context.Context, hang chan struct{}) error { <-hang; return nil }, "may still be running", "stopped code"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log syncBuffer
			synctest.Test(t, func(t *testing.T) {
				begun, over, hang := make(chan struct{}), make(chan struct{}), make(chan struct{})
				defer close(hang)
				a := invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
					close(begun)
					<-ctx.Done()
					return nil, c.after(ctx, hang)
				})
				provider, ended := recordSpans()
				h := newHandler(t, a, provider, executor.Logger(slog.New(slog.NewTextHandler(&log, nil))), executor.RunTimeout(c.timeout),
					executor.OnOutcome(func(context.Context, executor.Outcome) { close(over) }))
				task := started(user(t, "u"), t, h, "x")
				<-begun
				if c.timeout == 0 {
					if _, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
						t.Fatal(err)
					}
				}
				<-over
				if left := attributes(<-ended)["abandoned"] == "true"; left != (c.name == "never returns") {
					t.Errorf("the span says abandoned: %t", left)
				}
			})
			if got := log.String(); !strings.Contains(got, c.want) || strings.Contains(got, c.unwanted) {
				t.Errorf("want %q and no %q, got %s", c.want, c.unwanted, got)
			}
		})
	}
}

// TestCancelOfAnEndedTaskIsNoFault: a client that cancels too late is answered, and
// the log has nothing to alarm an operator.
func TestCancelOfAnEndedTaskIsNoFault(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	h := newHandler(t, asker(), executor.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	ctx := user(t, "u")
	parked := sent(ctx, t, h, userMessage("x"))
	completed := sent(ctx, t, h, replyTo(sent(ctx, t, h, userMessage("x")), a2a.NewTextPart("y")))
	for range 2 {
		if task, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: parked.ID}); err != nil || task.Status.State != a2a.TaskStateCanceled {
			t.Errorf("a parked task: got %v, %v", task, err)
		}
		if task, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: completed.ID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
			t.Errorf("a completed task: got %v, %v", task, err)
		}
	}
	if log.String() != "" {
		t.Errorf("logged: %s", log.String())
	}
}

// A task that the host failed had one correlation id for the client and another
// for the log and the hooks.
func TestOneCorrelationIDWhereTheStoreFails(t *testing.T) {
	t.Parallel()
	store := newHookedStore()
	var once sync.Once
	store.onUpdate(func(r *taskstore.UpdateRequest) (err error) {
		if r.Task.Status.State.Terminal() {
			once.Do(func() { err = errors.New("connection reset") })
		}
		return err
	})
	outcomes := make(chan executor.Outcome, 1)
	var log syncBuffer
	h := newHandler(t, echo("a"), executor.TaskStore(store), executor.Logger(slog.New(slog.NewTextHandler(&log, nil))),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { outcomes <- o }))
	task := sent(user(t, "u"), t, h, userMessage("hi"))
	told, ok := errcode.FromEvent(task)
	o := <-outcomes
	if !ok || told.CorrelationID() == "" || told.CorrelationID() != o.Data.CorrelationID || !strings.Contains(log.String(), "correlation_id="+told.CorrelationID()) {
		t.Errorf("the client got %v %s, the hook %s, the log %s", ok, told.CorrelationID(), o.Data.CorrelationID, log.String())
	}
}
