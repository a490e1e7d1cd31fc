package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/a2aexec/a2aexec/stream"
)

// process is one of several that share a database.
type process struct {
	*executor.Handler
	db       *sqlstore.DB
	outcomes chan executor.Outcome
}

// start starts a process; it goes down with the test.
func start(t *testing.T, dsn string, a func(*sqlstore.DB) *agent.Agent, opts ...executor.Option) *process {
	t.Helper()
	p := &process{db: open(t, dsn, sqlstore.Lease(3*time.Second)), outcomes: make(chan executor.Outcome, 100)}
	opts = append([]executor.Option{
		executor.TaskStore(p.db.Tasks()), executor.Logger(slog.New(slog.DiscardHandler)), executor.GracePeriod(0),
		executor.RecoverEvery(20 * time.Millisecond),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { p.outcomes <- o }),
	}, opts...)
	h, err := executor.NewHandler(a(p.db), opts...)
	if err != nil {
		t.Fatal(err)
	}
	p.Handler = h
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

// declareDead makes every process one of which nothing was heard for too long.
func declareDead(t *testing.T, dsn string) {
	t.Helper()
	meddle(t, dsn, "DELETE FROM a2a_workers")
}

// raw opens a database past the package.
func raw(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(dsn, "postgres") {
		driver = "pgx"
	} else {
		dsn = "file:" + dsn + "?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func meddle(t *testing.T, dsn, statement string) {
	t.Helper()
	db := raw(t, dsn)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// column gives the only value of a query.
func column(t *testing.T, dsn, query string) (text string) {
	t.Helper()
	db := raw(t, dsn)
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *process) stream(t *testing.T, m *a2a.Message) (next func() (a2a.Event, error, bool), stop func()) {
	t.Helper()
	return iter.Pull2(p.SendStreamingMessage(asMe(t.Context()), &a2a.SendMessageRequest{Message: m}))
}

func (p *process) send(t *testing.T, m *a2a.Message) (*a2a.Task, error) {
	t.Helper()
	res, err := p.SendMessage(asMe(t.Context()), &a2a.SendMessageRequest{Message: m})
	task, _ := res.(*a2a.Task)
	return task, err
}

func (p *process) task(t *testing.T, id a2a.TaskID) *a2a.Task {
	t.Helper()
	task, err := p.GetTask(asMe(t.Context()), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// until waits until the task is in a state.
func (p *process) until(t *testing.T, id a2a.TaskID, s a2a.TaskState) *a2a.Task {
	t.Helper()
	for {
		if task := p.task(t, id); task.Status.State == s {
			return task
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("the task is not %s but %s", s, p.task(t, id).Status.State)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func said(text string) *a2a.Message {
	return a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
}

func answer(task *a2a.Task, text string) *a2a.Message {
	return a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(text))
}

func next(t *testing.T, f func() (a2a.Event, error, bool)) a2a.Event {
	t.Helper()
	ev, err, ok := f()
	if err != nil || !ok {
		t.Fatalf("no event: %v", err)
	}
	return ev
}

func textOf(m *a2a.Message) string {
	if m == nil || len(m.Parts) == 0 {
		return ""
	}
	return m.Parts[0].Text()
}

// hanging writes a chunk and waits until it is stopped.
func hanging(stopped chan<- error) func(*sqlstore.DB) *agent.Agent {
	return func(*sqlstore.DB) *agent.Agent {
		return agent.New("hanging", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if req.Text() != "hang" {
				return agent.Text("got " + req.Text()), nil
			}
			if err := w.Text("half of it"); err != nil {
				return nil, err
			}
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return nil, ctx.Err()
		}))
	}
}

// A process dies with a run under way: another ends the task as failed, keeping
// its artifacts, and the dead one, which lives after all, ends nothing.
func TestRunOfADeadProcessFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		stopped := make(chan error, 2)
		a := start(t, dsn, hanging(stopped), executor.RecoverEvery(0))
		events, stop := a.stream(t, said("hang"))
		defer stop()
		id := next(t, events).TaskInfo().TaskID
		next(t, events) // the chunk

		declareDead(t, dsn)
		b := start(t, dsn, hanging(stopped))
		task := b.until(t, id, a2a.TaskStateFailed)

		data, ok := errcode.FromTask(task)
		if !ok || data.Code() != errcode.UpstreamUnavailable || data.Reason() != "process_restarted" || !data.Retriable() {
			t.Errorf("got the failure %+v", data)
		}
		if len(task.Artifacts) != 1 || task.Artifacts[0].Parts[0].Text() != "half of it" {
			t.Errorf("got the artifacts %v", task.Artifacts)
		}
		if len(task.History) != 1 || textOf(task.History[0]) != "hang" {
			t.Errorf("got the history %v", task.History)
		}
		if o := <-b.outcomes; o.State != executor.Failed || o.TaskID != string(id) {
			t.Errorf("the hook was told of %+v", o)
		}
		if cause := <-stopped; cause == nil { // by the heartbeat
			t.Error("the code was stopped without a cause")
		}
		ev, err, ok := events()
		if last, isTask := ev.(*a2a.Task); !ok || err != nil || !isTask || last.Status.State != a2a.TaskStateFailed {
			t.Errorf("the client of the dead process got %v, %v", ev, err)
		}
		if again := b.task(t, id); again.Status.Message.ID != task.Status.Message.ID {
			t.Error("the task ended again")
		}
		select {
		case o := <-a.outcomes:
			t.Errorf("the dead process told of %+v", o)
		default:
		}
	})
}

// loan makes an agent of a flow of three nodes. The second waits for the gate
// the first time, and has a side effect.
type loan struct {
	mu      sync.Mutex
	ran     map[string]int
	effects atomic.Int32
	began   chan struct{} // receives when the second node has begun
	gate    chan struct{}
	asks    bool
}

func newLoan() *loan {
	return &loan{ran: map[string]int{}, began: make(chan struct{}, 100), gate: make(chan struct{})}
}

func (l *loan) count(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[node]++
}

func (l *loan) runs() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.ran)
}

func (l *loan) agent(db *sqlstore.DB) *agent.Agent {
	g := flow.New[[]string]("loan")
	add := func(s *[]string, v string) { *s = append((*s)[:len(*s):len(*s)], v) }
	first := flow.Node(g, "first", "test", func(context.Context, []string) (string, error) {
		l.count("first")
		return "one", nil
	}, add)
	second := flow.Node(g, "second", "test", l.second, add)
	third := flow.Node(g, "third", "test", func(context.Context, []string) (string, error) {
		l.count("third")
		return "three", nil
	}, add)
	g.Edge(flow.START, first)
	g.Edge(first, second)
	g.Edge(second, third)
	g.Edge(third, flow.END)
	c, err := g.Compile()
	if err != nil {
		return nil
	}
	return agent.New("loan", agent.Flow(c,
		func(context.Context, *agent.Request) ([]string, error) { return nil, nil },
		func(_ context.Context, s []string) (*agent.Result, error) {
			return agent.Text(strings.Join(s, ", ")), nil
		},
		agent.FlowStore(db.Flows()), agent.FlowRecover()))
}

func (l *loan) second(ctx context.Context, _ []string) (string, error) {
	name := "two"
	if l.asks {
		var err error
		if name, err = hitl.Ask[string](ctx, "name", "Name?"); err != nil {
			return "", err
		}
	}
	l.count("second")
	_, err := flow.Once(ctx, "pay", func(context.Context) (int32, error) { return l.effects.Add(1), nil })
	if err != nil {
		return "", err
	}
	l.began <- struct{}{}
	select {
	case <-l.gate:
		return name, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestFlowOfADeadProcessGoesOn(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		t.Run(fmt.Sprintf("asks: %t", asks), func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, dsn string) {
				l := newLoan()
				l.asks = asks
				a := start(t, dsn, l.agent, executor.RecoverEvery(0))
				events, stop := a.stream(t, said("begin"))
				defer stop()
				id := next(t, events).TaskInfo().TaskID
				if asks {
					task := a.until(t, id, a2a.TaskStateInputRequired)
					var stop2 func()
					events, stop2 = a.stream(t, answer(task, "two"))
					defer stop2()
					next(t, events)
				}
				<-l.began
				declareDead(t, dsn)
				b := start(t, dsn, l.agent)
				<-l.began // by the other
				if got := l.runs(); got != "map[first:1 second:2]" {
					t.Errorf("the nodes ran %s", got)
				}
				if ev, err, _ := events(); err == nil {
					t.Errorf("the client of the dead process got %v", ev)
				}
				close(l.gate)
				task := b.until(t, id, a2a.TaskStateCompleted)
				if got := task.Artifacts[len(task.Artifacts)-1].Parts[0].Text(); got != "one, two, three" {
					t.Errorf("the flow came to %q", got)
				}
				if got := l.runs(); got != "map[first:1 second:2 third:1]" || l.effects.Load() != 1 {
					t.Errorf("the nodes ran %s, the effect %d times", got, l.effects.Load())
				}
				<-b.outcomes
				if _, err := b.db.Flows().Load(t.Context(), string(id)+"/loan"); !errors.Is(err, flow.ErrUnknownRun) {
					t.Errorf("the run is not forgotten: %v", err)
				}
			})
		})
	}
}

// An answer that was stored, but that the flow had not taken in, is not lost.
func TestAnswerOfADeadProcessIsTakenIn(t *testing.T) {
	t.Parallel()
	dsn, l := dbtest.SQLite(t), newLoan()
	l.asks = true
	close(l.gate)
	a := start(t, dsn, l.agent, executor.RecoverEvery(0))
	task, err := a.send(t, said("begin"))
	if err != nil || task.Status.State != a2a.TaskStateInputRequired {
		t.Fatalf("got %v, %v", task, err)
	}
	// What the host and the executor store before the flow goes on.
	st, err := a.db.Tasks().Get(asMe(t.Context()), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	work := st.Task
	work.History = append(work.History, work.Status.Message, answer(task, "Ada"))
	work.Status = a2a.TaskStatus{State: a2a.TaskStateWorking}
	if err := store(t, a.db, work); err != nil {
		t.Fatal(err)
	}
	b := start(t, dsn, l.agent)
	done := b.until(t, task.ID, a2a.TaskStateCompleted)
	if got := done.Artifacts[len(done.Artifacts)-1].Parts[0].Text(); got != "one, Ada, three" {
		t.Errorf("the flow came to %q", got)
	}
	if len(done.History) != 3 {
		t.Errorf("got a history of %d messages, want 3", len(done.History))
	}
}

// store stores a task as a process that died at once.
func store(t *testing.T, db *sqlstore.DB, task *a2a.Task) error {
	t.Helper()
	_, err := db.Tasks().Update(asMe(t.Context()), updateOf(task))
	return err
}

// A flow that had finished, but whose result was not told yet, does not run again.
func TestFinishedFlowOfADeadProcessIsTold(t *testing.T) {
	t.Parallel()
	dsn, l := dbtest.SQLite(t), newLoan()
	close(l.gate)
	var kept flow.Checkpoint
	a := start(t, dsn, l.agent, executor.RecoverEvery(0), executor.Middleware(func(run executor.RunFunc) executor.RunFunc {
		return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			res, err := run(ctx, req)
			db := open(t, dsn) //nolint:contextcheck // the test's
			kept, _ = db.Flows().Load(ctx, req.TaskID()+"/loan")
			return res, err
		}
	}))
	task, err := a.send(t, said("begin"))
	if err != nil || task.Status.State != a2a.TaskStateCompleted {
		t.Fatalf("got %v, %v", task, err)
	}
	<-a.outcomes
	again := *task
	again.Artifacts, again.Status = nil, a2a.TaskStatus{State: a2a.TaskStateWorking}
	for seq := uint64(1); seq <= kept.Seq; seq++ {
		kept.Seq = seq
		if err := a.db.Flows().Save(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
	}
	if err := store(t, a.db, &again); err != nil {
		t.Fatal(err)
	}
	b := start(t, dsn, l.agent)
	done := b.until(t, task.ID, a2a.TaskStateCompleted)
	if got := done.Artifacts[0].Parts[0].Text(); got != "one, two, three" || l.runs() != "map[first:1 second:1 third:1]" {
		t.Errorf("the flow came to %q; the nodes ran %s", got, l.runs())
	}
}

func TestParkedTaskGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		l := newLoan()
		l.asks = true
		close(l.gate)
		a, b := start(t, dsn, l.agent), start(t, dsn, l.agent)
		task, err := a.send(t, said("begin"))
		if err != nil || task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %v, %v", task, err)
		}
		waiting, stop := iter.Pull2(a.SubscribeToTask(asMe(t.Context()), &a2a.SubscribeToTaskRequest{ID: task.ID}))
		defer stop()
		next(t, waiting)
		done, err := b.send(t, answer(task, "Ada"))
		if err != nil || done.Status.State != a2a.TaskStateCompleted {
			t.Fatalf("got %v, %v", done, err)
		}
		if got := done.Artifacts[len(done.Artifacts)-1].Parts[0].Text(); got != "one, Ada, three" || l.runs() != "map[first:1 second:1 third:1]" {
			t.Errorf("the flow came to %q; the nodes ran %s", got, l.runs())
		}
		if ev, ok := next(t, waiting).(*a2a.Task); !ok || ev.Status.State != a2a.TaskStateCompleted {
			t.Errorf("who waits at the other process got %v", ev)
		}
	})
}

// Of two answers at once, at two processes, one is taken.
func TestOneOfTwoAnswersIsTaken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		l := newLoan()
		l.asks = true
		close(l.gate)
		both := []*process{start(t, dsn, l.agent), start(t, dsn, l.agent)}
		for range 5 {
			task, err := both[0].send(t, said("begin"))
			if err != nil {
				t.Fatal(err)
			}
			errs := make(chan error, 2)
			for i, p := range both {
				go func() {
					_, err := p.send(t, answer(task, fmt.Sprint("by ", i)))
					errs <- err
				}()
			}
			one, two := <-errs, <-errs
			if (one == nil) == (two == nil) {
				t.Errorf("got %v and %v, want one answer taken", one, two)
			}
			if err := errors.Join(one, two); !errors.Is(err, a2a.ErrUnsupportedOperation) {
				t.Errorf("the other got %v, want UnsupportedOperation", err)
			}
			done := both[0].until(t, task.ID, a2a.TaskStateCompleted)
			if len(done.History) != 3 {
				t.Errorf("got a history of %d messages, want 3", len(done.History))
			}
		}
	})
}

// A client cancels at one process what another works on.
func TestCancelElsewhere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		stopped := make(chan error, 1)
		a, b := start(t, dsn, hanging(stopped)), start(t, dsn, hanging(stopped))
		events, stop := a.stream(t, said("hang"))
		defer stop()
		id := next(t, events).TaskInfo().TaskID
		next(t, events) // the chunk
		if _, err := b.send(t, answer(&a2a.Task{ID: id}, "more")); !errors.Is(err, a2a.ErrUnsupportedOperation) {
			t.Errorf("a message at the other process got %v, want UnsupportedOperation", err)
		}
		task, err := b.CancelTask(asMe(t.Context()), &a2a.CancelTaskRequest{ID: id})
		if err != nil || task.Status.State != a2a.TaskStateCanceled {
			t.Fatalf("got %v, %v", task, err)
		}
		if cause := <-stopped; cause == nil { // by the heartbeat
			t.Error("the code was stopped without a cause")
		}
		if ev, ok := next(t, events).(*a2a.Task); !ok || ev.Status.State != a2a.TaskStateCanceled {
			t.Errorf("the client of the other process got %v", ev)
		}
	})
}
