package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// asking asks for a name, or for credentials, and tells which tasks it was to
// forget.
func asking(released chan<- string) func(*sqlstore.DB) *agent.Agent {
	return func(*sqlstore.DB) *agent.Agent {
		return agent.New("asking", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
			if _, asked := req.Question(); asked && req.Text() != "again" {
				return agent.Text("thanks"), nil
			}
			if req.Text() == "auth" {
				return nil, hitl.AuthRequired("Who are you?")
			}
			return nil, hitl.InputRequired("Name?")
		}), agent.OnRelease(func(_ context.Context, id string) { released <- id }))
	}
}

// parkedLongAgo makes every parked task one that has been for a day.
func parkedLongAgo(t *testing.T, dsn string) {
	t.Helper()
	meddle(t, dsn, "UPDATE a2a_tasks SET parked_at = parked_at - 86400000 WHERE parked_at > 0")
}

// A task that one process parked, which is no more, never expired.
func TestParkedTaskExpiresInAnotherProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		released := make(chan string, 10)
		a := start(t, dsn, asking(released), executor.ParkTimeout(time.Hour))
		input, err1 := a.send(t, said("input"))
		auth, err2 := a.send(t, said("auth"))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		parkedLongAgo(t, dsn)
		declareDead(t, dsn)
		if err := a.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := start(t, dsn, asking(released), executor.ParkTimeout(time.Hour))
		fresh, err := b.send(t, said("input"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			task *a2a.Task
			code errcode.Code
		}{{input, errcode.InvalidInput}, {auth, errcode.AuthRequired}} {
			task := b.until(t, c.task.ID, a2a.TaskStateFailed)
			data, ok := errcode.FromTask(task)
			if !ok || data.Code() != c.code || data.Reason() != "expired" {
				t.Errorf("got the failure %+v", data)
			}
			if h := task.History; len(h) != 2 || h[1].ID != c.task.Status.Message.ID {
				t.Errorf("the question is not in the history: %v", h)
			}
			if _, err := b.send(t, answer(task, "late")); !errors.Is(err, a2a.ErrUnsupportedOperation) {
				t.Errorf("a late answer got %v", err)
			}
		}
		if one, two := <-released, <-released; one == two {
			t.Errorf("%s was released twice", one)
		}
		if got := b.task(t, fresh.ID).Status.State; got != a2a.TaskStateInputRequired {
			t.Errorf("a question just asked is %s", got)
		}
	})
}

// Of several processes one ends what is overdue, once, though all look for it.
func TestOverdueTaskEndsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		released := make(chan string, 100)
		a := start(t, dsn, asking(released))
		ids := map[string]bool{}
		for range 25 { // more than one look ends
			task, err := a.send(t, said("input"))
			if err != nil {
				t.Fatal(err)
			}
			ids[string(task.ID)] = true
		}
		parkedLongAgo(t, dsn)
		for range 3 {
			start(t, dsn, asking(released), executor.ParkTimeout(time.Hour))
		}
		for range len(ids) {
			id := <-released
			if !ids[id] {
				t.Errorf("%s was released again", id)
			}
			delete(ids, id)
		}
		if got := column(t, dsn, "SELECT count(*) FROM a2a_tasks WHERE state = 'TASK_STATE_FAILED' AND version = 4"); got != "25" {
			t.Errorf("%s tasks have ended by one update, want 25", got)
		}
		if got := column(t, dsn, "SELECT count(*) FROM a2a_tasks WHERE worker <> '' OR parked_at <> 0"); got != "0" {
			t.Errorf("%s tasks are leased, or parked", got)
		}
	})
}

// A question that is answered, and one that is asked again, have their own time.
func TestAnsweredTaskDoesNotExpire(t *testing.T) {
	t.Parallel()
	dsn, released := dbtest.SQLite(t), make(chan string, 10)
	a := start(t, dsn, asking(released))
	task, err := a.send(t, said("input"))
	if err != nil {
		t.Fatal(err)
	}
	parkedLongAgo(t, dsn)
	again, err := a.send(t, answer(task, "again"))
	if err != nil || again.Status.State != a2a.TaskStateInputRequired {
		t.Fatalf("got %v, %v", again, err)
	}
	found, err := a.db.Tasks().Overdue(t.Context(), time.Hour, 10)
	if err != nil || len(found) > 0 {
		t.Errorf("got the overdue tasks %v, %v", found, err)
	}
	// A message that came to nothing does not give the question more time.
	parkedLongAgo(t, dsn)
	st, err := a.db.Tasks().Get(asMe(t.Context()), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	msg := answer(task, "Ada")
	st.Task.History = append(st.Task.History, msg)
	req := updateOf(st.Task)
	req.Event = msg
	if _, err := a.db.Tasks().Update(asMe(t.Context()), req); err != nil {
		t.Fatal(err)
	}
	found, err = a.db.Tasks().Overdue(t.Context(), time.Hour, 10)
	if err != nil || len(found) != 1 || found[0].Task != task.ID || found[0].Owner != "me" {
		t.Errorf("got the overdue tasks %v, %v", found, err)
	}
	// Its lease is this process's now; another has none to take.
	other := open(t, dsn)
	found, err = other.Tasks().Overdue(t.Context(), time.Hour, 10)
	if err != nil || len(found) > 0 {
		t.Errorf("another process got %v, %v", found, err)
	}
}

// The flow of a task that expires is forgotten with it.
func TestFlowOfAnExpiredTaskIsForgotten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		l := newLoan()
		l.asks = true
		a := start(t, dsn, l.agent)
		task, err := a.send(t, said("begin"))
		if err != nil || task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %v, %v", task, err)
		}
		parkedLongAgo(t, dsn)
		b := start(t, dsn, l.agent, executor.ParkTimeout(time.Hour))
		b.until(t, task.ID, a2a.TaskStateFailed)
		for err == nil { // until it is forgotten, or the test's time is over
			_, err = b.db.Flows().Load(t.Context(), string(task.ID)+"/loan")
		}
		if !errors.Is(err, flow.ErrUnknownRun) {
			t.Error(err)
		}
	})
}
