package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// leased is the host's store in memory with leases that say what the test
// wants; package sqlstore has real ones, and tests with them.
type leased struct {
	taskstore.Store
	acquire func() (bool, error)
	renew   func(ids []a2a.TaskID) ([]a2a.TaskID, error)
	orphans func() ([]executor.Orphan, error)
}

func newLeased() *leased {
	return &leased{
		Store:   taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()}),
		acquire: func() (bool, error) { return true, nil },
		renew:   func([]a2a.TaskID) ([]a2a.TaskID, error) { return nil, nil },
		orphans: func() ([]executor.Orphan, error) { return nil, nil },
	}
}

func (s *leased) LeaseTime() time.Duration                                { return 6 * time.Second }
func (s *leased) Acquire(context.Context, a2a.TaskID) (bool, error)       { return s.acquire() }
func (s *leased) Release(context.Context, a2a.TaskID) error               { return nil }
func (s *leased) Orphans(context.Context, int) ([]executor.Orphan, error) { return s.orphans() }

func (s *leased) Overdue(context.Context, time.Duration, int) ([]executor.Orphan, error) {
	return nil, nil
}

func (s *leased) Renew(_ context.Context, ids []a2a.TaskID) ([]a2a.TaskID, error) {
	return s.renew(ids)
}

var greeter = agent.New("asking", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
	if _, asked := req.Question(); !asked {
		return nil, hitl.InputRequired("Name?")
	}
	return agent.Text("hello " + req.Text()), nil
}))

func send(ctx context.Context, h a2asrv.RequestHandler, m *a2a.Message) (*a2a.Task, error) {
	ctx, _ = a2asrv.NewCallContext(ctx, nil)
	res, err := h.SendMessage(ctx, &a2a.SendMessageRequest{Message: m})
	task, _ := res.(*a2a.Task)
	return task, err
}

func TestAnswerToATaskOfAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLeased()
		h := newHandler(t, greeter, executor.TaskStore(s))
		task, err := send(t.Context(), h, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi")))
		if err != nil {
			t.Fatal(err)
		}
		answer := func() (*a2a.Task, error) {
			return send(t.Context(), h, a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("Ada")))
		}
		s.acquire = func() (bool, error) { return false, nil }
		if _, err := answer(); !errors.Is(err, a2a.ErrUnsupportedOperation) {
			t.Errorf("another process works on it: got %v, want UnsupportedOperation", err)
		}
		s.acquire = func() (bool, error) { return false, errors.New("no database") }
		if _, err := answer(); !errors.Is(err, a2a.ErrInternalError) {
			t.Errorf("the store fails: got %v, want an internal error", err)
		}
		s.acquire = func() (bool, error) { panic("no") }
		if _, err := answer(); !errors.Is(err, a2a.ErrInternalError) {
			t.Errorf("the store panics: got %v, want an internal error", err)
		}
		s.acquire = func() (bool, error) { return true, nil }
		if done, err := answer(); err != nil || done.Status.State != a2a.TaskStateCompleted {
			t.Errorf("got %v, %v", done, err)
		}
	})
}

// A run stops when its lease is lost, or cannot be renewed for so long that it
// may be, and neither clients nor hooks are told of an ending.
func TestALostLeaseStopsTheRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		renew func(ids []a2a.TaskID) ([]a2a.TaskID, error)
		after time.Duration
	}{
		"lost":                  {func(ids []a2a.TaskID) ([]a2a.TaskID, error) { return ids, nil }, time.Second},
		"cannot be renewed":     {func([]a2a.TaskID) ([]a2a.TaskID, error) { return nil, errors.New("no database") }, 2500 * time.Millisecond},
		"the store panics":      {func([]a2a.TaskID) ([]a2a.TaskID, error) { panic("no") }, 2500 * time.Millisecond},
		"the store hangs":       {func([]a2a.TaskID) ([]a2a.TaskID, error) { time.Sleep(time.Hour); return nil, nil }, 3 * time.Second},
		"could be renewed once": {failsAfter(1), 6500 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { lostLease(t, tc.renew, tc.after) })
		})
	}
}

func failsAfter(n int) func([]a2a.TaskID) ([]a2a.TaskID, error) {
	return func([]a2a.TaskID) ([]a2a.TaskID, error) {
		if n--; n < 0 {
			return nil, errors.New("no database")
		}
		return nil, nil
	}
}

func lostLease(t *testing.T, renew func([]a2a.TaskID) ([]a2a.TaskID, error), after time.Duration) {
	t.Helper()
	s, began := newLeased(), time.Now()
	s.renew = renew
	var stopped time.Duration
	a := agent.New("waiting", agent.Invoke(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		<-ctx.Done()
		stopped = time.Since(began)
		return nil, ctx.Err()
	}))
	h := newHandler(t, a, executor.TaskStore(s),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { t.Errorf("a hook was told of %+v", o) }))
	ctx := call(t)
	var last a2a.Event
	for ev, err := range h.SendStreamingMessage(ctx, userMessage("x")) {
		if err != nil {
			if !errors.Is(err, a2a.ErrInternalError) || last == nil {
				t.Errorf("the stream ended with %v after %v", err, last)
			}
			break
		}
		last = ev
	}
	if stopped != after {
		t.Errorf("the run was stopped after %v, want %v", stopped, after)
	}
	st, err := s.Get(ctx, last.TaskInfo().TaskID)
	if err != nil || st.Task.Status.State != a2a.TaskStateWorking || len(st.Task.History) != 1 {
		t.Errorf("stored is %+v, %v", st, err)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	time.Sleep(2 * time.Hour) // what was left behind returns
}

// Recovery looks at once and then every so often, whatever the store does, until
// the handler is shut down.
func TestRecoveryLooksUntilTheShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, looks := newLeased(), 0
		s.orphans = func() ([]executor.Orphan, error) {
			switch looks++; looks {
			case 1:
				return nil, errors.New("no database")
			case 2:
				panic("no")
			}
			return []executor.Orphan{{Task: "gone", Owner: "me"}}, nil
		}
		h := newHandler(t, greeter, executor.TaskStore(s), executor.RecoverEvery(time.Minute))
		time.Sleep(3*time.Minute + time.Second)
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if looks != 4 {
			t.Errorf("looked %d times, want 4", looks)
		}
	})
}

// A run that goes on sees the request of the run that died: its message, the
// question that this answers, the conversation before, and what was stored.
func TestRecoverSeesTheRequestAsItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLeased()
		task := &a2a.Task{ID: "t", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}
		say := func(role a2a.MessageRole, text string) *a2a.Message {
			return a2a.NewMessageForTask(role, task, a2a.NewTextPart(text))
		}
		question := say(a2a.MessageRoleAgent, "Name?")
		asked := a2a.NewDataPart(map[string]any{"id": "name"})
		asked.SetMeta("schema", hitl.Schema)
		question.Parts = append(question.Parts, asked)
		task.History = []*a2a.Message{say(a2a.MessageRoleUser, "hi"), question, say(a2a.MessageRoleUser, "Ada"), say(a2a.MessageRoleAgent, "a third")}
		task.Status.Message = say(a2a.MessageRoleAgent, "two thirds")
		task.Artifacts = []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart("half")}}}
		ctx, call := a2asrv.NewCallContext(t.Context(), nil)
		call.User = a2asrv.NewAuthenticatedUser("me", nil)
		if _, err := s.Create(ctx, task); err != nil {
			t.Fatal(err)
		}
		found := []executor.Orphan{{Task: "t", Owner: "me"}}
		s.orphans = func() ([]executor.Orphan, error) { defer func() { found = nil }(); return found, nil }

		a := agent.New("going-on", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
			t.Error("the run began again")
			return nil, nil
		}), agent.Recover(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			q, _ := req.Question()
			h := req.History()
			if req.Text() != "Ada" || q.Prompt != "Name?" || req.User().Name != "me" || len(h) != 2 || h[1].ID != question.ID || len(req.Task().Artifacts) != 1 {
				t.Errorf("the request says %q to %q of %q, after %d messages", req.Text(), q.Prompt, req.User().Name, len(h))
			}
			return nil, w.Text("the rest")
		}))
		over := make(chan executor.Outcome, 1)
		newHandler(t, a, executor.TaskStore(s),
			executor.OnOutcome(func(_ context.Context, o executor.Outcome) { over <- o }))
		if o := <-over; o.State != executor.Completed {
			t.Errorf("the run came to %+v", o)
		}
		st, err := s.Get(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, m := range st.Task.History {
			told = append(told, m.Parts[0].Text())
		}
		if diff := cmp.Diff([]string{"hi", "Name?", "Ada", "a third", "two thirds"}, told); diff != "" {
			t.Errorf("the history (-want +got): %s", diff)
		}
		if as := st.Task.Artifacts; len(as) != 2 || as[0].Parts[0].Text() != "half" || as[1].Parts[0].Text() != "the rest" {
			t.Errorf("got the artifacts %v", as)
		}
	})
}

// slowly is a store that takes its time before it creates a task, and after it has
// updated one. A lease begins and ends within these times.
type slowly struct {
	*leased
	time.Duration
}

func (s slowly) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	time.Sleep(s.Duration)
	return s.leased.Create(ctx, t)
}

func (s slowly) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.leased.Update(ctx, req)
	time.Sleep(s.Duration)
	return v, err
}

// Renew gives as lost what is not at work, as a database does.
func (s slowly) Renew(ctx context.Context, ids []a2a.TaskID) (lost []a2a.TaskID, err error) {
	ctx, _ = a2asrv.NewCallContext(ctx, nil)
	for _, id := range ids {
		if st, err := s.Get(ctx, id); err != nil || st.Task.Status.State != a2a.TaskStateWorking {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// A heartbeat while a task was being created, or while its ending was being
// stored, took its lease for lost: the client got an error, the task stayed at
// work for ever, the hook was not told.
func TestAHeartbeatWhileTheStoreWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan executor.Outcome, 1)
		h := newHandler(t, greeter, executor.TaskStore(slowly{newLeased(), 9 * time.Second}), executor.OnOutcome(func(_ context.Context, o executor.Outcome) { over <- o }))
		task, err := send(t.Context(), h, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi")))
		if err != nil || task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %v, %v", task, err)
		}
		if o := <-over; o.State != executor.InputRequired {
			t.Errorf("the hook was told of %+v", o)
		}
		done, err := send(t.Context(), h, a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("Ada")))
		if err != nil || done.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the answer got %v, %v", done, err)
		}
		if o := <-over; o.State != executor.Completed {
			t.Errorf("the hook was told of %+v", o)
		}
	})
}
