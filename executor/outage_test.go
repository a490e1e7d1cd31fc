package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

// A cancel that could not be stored ended a parked task as failed, without a
// word: the host's invention.
func TestCancelThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for _, failures := range []int{1, 1000} {
		synctest.Test(t, func(t *testing.T) {
			store := newHookedStore()
			h := newHandler(t, invoking(asksOnce), executor.TaskStore(store))
			task := sent(user(t, "u"), t, h, userMessage("hi"))
			left := failures
			store.onUpdate(func(r *taskstore.UpdateRequest) error {
				if left--; left >= 0 && r.Task.Status.State == a2a.TaskStateCanceled {
					return errors.New("database is locked")
				}
				return nil
			})
			_, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID})
			want := a2a.TaskStateAuthRequired
			if failures == 1 {
				want = a2a.TaskStateCanceled
			}
			if got := stateOf(t, h, task.ID); got != want || (err == nil) != (failures == 1) {
				t.Errorf("%d failures: the task is %s, the client got %v", failures, got, err)
			}
		})
	}
}

// down is an error of a database that is out of reach.
var down = errcode.New(errcode.UpstreamUnavailable, "database_unavailable")

// A store that was out of reach was an internal error, which clients do not try
// again.
func TestStoreOutOfReachIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHookedStore()
		h := newHandler(t, invoking(asksOnce), executor.TaskStore(store))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		store.onGet(func(a2a.TaskID) error { return down })
		store.onUpdate(func(*taskstore.UpdateRequest) error { return down })
		_, getErr := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: task.ID})
		_, sendErr := h.SendMessage(user(t, "u"), replyTo(task, a2a.NewTextPart("x")))
		_, cancelErr := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID})
		store.onGet(nil)
		_, answerErr := h.SendMessage(user(t, "u"), replyTo(task, a2a.NewTextPart("x")))
		for what, err := range map[string]error{"get": getErr, "send": sendErr, "cancel": cancelErr, "answer": answerErr} {
			e := errcode.FromClient(err)
			after, told := e.RetryAfter()
			if e.Code() != errcode.UpstreamUnavailable || !e.Retriable() || !told || after != time.Second {
				t.Errorf("%s: the client got %v (%v)", what, err, e)
			}
		}
	})
}

// awayAt is a leased store that is out of reach from an update on.
type awayAt struct {
	*leased
	away func(*taskstore.UpdateRequest) bool
}

func (s awayAt) Update(ctx context.Context, r *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	if s.away(r) {
		return 0, down
	}
	return s.leased.Update(ctx, r)
}

// What a run did could not be stored, and a moment later the host stored that it
// had failed. It is recovered instead.
func TestRunThatCannotBeStoredIsNotFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		s := awayAt{newLeased(), func(r *taskstore.UpdateRequest) bool {
			tries++
			return tries == 1 // the ending, and not what comes after it
		}}
		h := newHandler(t, agent.New("quick", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
			return agent.Text("done"), nil
		})), executor.TaskStore(s),
			executor.OnOutcome(func(_ context.Context, o executor.Outcome) { t.Errorf("a hook was told of %+v", o) }))
		var id a2a.TaskID
		for ev, err := range h.SendStreamingMessage(user(t, ""), userMessage("hi")) {
			if err == nil {
				id = ev.TaskInfo().TaskID
			}
		}
		st, err := s.Get(user(t, ""), id)
		if err != nil || st.Task.Status.State != a2a.TaskStateWorking {
			t.Errorf("stored is %+v, %v", st, err)
		}
	})
}
