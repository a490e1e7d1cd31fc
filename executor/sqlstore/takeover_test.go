package sqlstore_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/internal/dbtest"
	"github.com/a2aexec/a2aexec/stream"
)

// A message to a task whose process had died, before anybody looked for such
// tasks, began a run of its own, which ended the flow as failed.
func TestMessageToATaskOfADeadProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		l := newLoan()
		a := start(t, dsn, l.agent, executor.RecoverEvery(0))
		impatient := start(t, dsn, l.agent, executor.RecoverEvery(0))
		events, stop := a.stream(t, said("begin"))
		defer stop()
		id := next(t, events).TaskInfo().TaskID
		<-l.began
		declareDead(t, dsn)
		if _, err := impatient.send(t, answer(&a2a.Task{ID: id}, "are you there?")); !errors.Is(err, a2a.ErrUnsupportedOperation) {
			t.Errorf("got %v, want UnsupportedOperation", err)
		}
		b := start(t, dsn, l.agent)
		<-l.began // by another
		close(l.gate)
		if task := b.until(t, id, a2a.TaskStateCompleted); len(task.History) != 1 {
			t.Errorf("got a history of %d messages, want 1", len(task.History))
		}
	})
}

// looking counts how often a process looks for orphans.
type looking struct {
	*sqlstore.Tasks
	looks chan int // how many were asked for
}

func (s looking) Orphans(ctx context.Context, most int) ([]executor.Orphan, error) {
	found, err := s.Tasks.Orphans(ctx, most)
	s.looks <- most
	return found, err
}

// More tasks of dead processes than may run at once were looked for again and
// again without a pause.
func TestMoreOrphansThanMayRun(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SQLite(t)
	dead := open(t, dsn)
	for range 150 {
		task := &a2a.Task{ID: a2a.NewTaskID(), ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}
		if _, err := dead.Tasks().Create(asMe(t.Context()), task); err != nil {
			t.Fatal(err)
		}
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	store := looking{open(t, dsn).Tasks(), make(chan int, 1000)}
	began, gate := make(chan bool, 150), make(chan struct{})
	h, err := executor.NewHandler(agent.New("slow",
		agent.Stream(func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, errors.New("a run began again")
		}),
		agent.Recover(func(ctx context.Context, _ *agent.Request, _ *stream.Writer) (*agent.Result, error) {
			began <- true
			select {
			case <-gate:
				return agent.Text("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})), executor.TaskStore(store), executor.MaxRuns(10, time.Second), executor.RecoverEvery(10*time.Millisecond),
		executor.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		<-began
	}
	if first := <-store.looks; first != 10 {
		t.Errorf("%d tasks were taken, want as many as may run", first)
	}
	select {
	case n := <-store.looks: // at once, without a pause
		if n == 10 {
			t.Error("tasks were taken that cannot run")
		}
	default:
	}
	close(gate)
	for range 140 {
		<-began
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// Anonymous callers were refused a list, though they could do all else.
func TestAnonymousCallersListTheirTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		p := start(t, dsn, hanging(nil))
		if _, err := p.send(t, said("mine")); err != nil {
			t.Fatal(err)
		}
		res, err := p.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: said("anybody's")})
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.ListTasks(t.Context(), &a2a.ListTasksRequest{})
		if err != nil || list.TotalSize != 1 || list.Tasks[0].ID != res.TaskInfo().TaskID {
			t.Errorf("got %+v, %v", list, err)
		}
	})
}
