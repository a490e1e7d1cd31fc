package sqlstore_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/dbtest"
	"github.com/a2aexec/a2aexec/stream"
)

// clerk is an agent on loopback that asks, and works on the answer until the
// gate opens.
type clerk struct {
	srv      *executor.Server
	client   *http.Client
	url      string
	began    chan struct{}
	gate     chan struct{}
	stopped  chan error
	released chan string
}

func newClerk(t *testing.T) *clerk {
	t.Helper()
	c := &clerk{began: make(chan struct{}, 10), gate: make(chan struct{}), stopped: make(chan error, 10), released: make(chan string, 10)}
	srv, err := executor.NewServer(agent.New("clerk", agent.Stream(c.work),
		agent.OnRelease(func(_ context.Context, id string) { c.released <- id })))
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		hs.Close()
	})
	c.srv, c.url, c.client = srv, hs.URL, &http.Client{Transport: transport}
	return c
}

func (c *clerk) work(ctx context.Context, _ *agent.Request, _ *stream.Writer) (*agent.Result, error) {
	name, err := hitl.Ask[string](ctx, "name", "Name?")
	if err != nil {
		return nil, err
	}
	c.began <- struct{}{}
	select {
	case <-c.gate:
		return agent.Text("a loan for " + name), nil
	case <-ctx.Done():
		c.stopped <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

// front is a flow with a node that calls the clerk.
func (c *clerk) front(t *testing.T) func(*sqlstore.DB) *agent.Agent {
	t.Helper()
	return func(db *sqlstore.DB) *agent.Agent {
		a, err := remote.New(c.url, remote.HTTPClient(c.client))
		if err != nil {
			t.Error(err)
			return nil
		}
		t.Cleanup(func() { _ = a.Close() })
		g := flow.New[string]("front")
		n := flow.Node(g, "calls", "remote", remote.Node(a, remote.Text), func(s *string, answer string) { *s = answer })
		g.Edge(flow.START, n)
		g.Edge(n, flow.END)
		compiled, err := g.Compile()
		if err != nil {
			t.Error(err)
			return nil
		}
		return agent.New("front", agent.Flow(compiled,
			func(_ context.Context, req *agent.Request) (string, error) { return req.Text(), nil },
			func(_ context.Context, s string) (*agent.Result, error) { return agent.Text(s), nil },
			agent.FlowStore(db.Flows()), agent.FlowRecover()))
	}
}

// A process that lost a task cancelled the remote task that it waited for, and
// with that the flow that another process had taken over.
func TestALostRunLeavesItsRemoteTaskToTheNext(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := newClerk(t)
		a := start(t, dsn, c.front(t), executor.RecoverEvery(0))
		parked, err := a.send(t, said("begin"))
		if err != nil || parked.Status.State != a2a.TaskStateInputRequired {
			t.Fatal(parked, err)
		}
		events, stop := a.stream(t, answer(parked, "Ann"))
		defer stop()
		next(t, events)
		<-c.began
		declareDead(t, dsn)
		b := start(t, dsn, c.front(t))
		if err := a.Shutdown(t.Context()); err != nil { // when its code has returned
			t.Error(err)
		}
		select {
		case cause := <-c.stopped:
			t.Errorf("the remote task was stopped: %v", cause)
		default:
		}
		close(c.gate)
		if end := b.untilRests(t, parked.ID); end.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the task is %s: %s", end.Status.State, textOf(end.Status.Message))
		}
	})
}

// A run that a remote agent had asked, and that was lost before it parked, left the
// remote task parked for ever: no memo tells of it, and nobody goes on with the task.
func TestALostRunTakesBackWhatNobodyWillFind(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c, asked := newClerk(t), make(chan struct{})
		clerk, err := remote.New(c.url, remote.HTTPClient(c.client))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = clerk.Close() })
		front := func(*sqlstore.DB) *agent.Agent {
			return agent.New("front", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				if _, err := clerk.Handle(ctx, req, w); hitl.Find(err) == nil {
					t.Errorf("got %v, want a question", err)
				}
				close(asked)
				<-ctx.Done()
				return nil, ctx.Err()
			}))
		}
		a := start(t, dsn, front, executor.RecoverEvery(0))
		events, stop := a.stream(t, said("begin"))
		defer stop()
		task := next(t, events)
		<-asked
		declareDead(t, dsn)
		b := start(t, dsn, front)
		if end := b.untilRests(t, task.TaskInfo().TaskID); end.Status.State != a2a.TaskStateFailed {
			t.Errorf("the task is %s", end.Status.State)
		}
		<-c.released
	})
}

// uncancelable is a store that is out of reach for whoever cancels.
type uncancelable struct{ *sqlstore.Tasks }

func (s uncancelable) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	if req.Task.Status.State == a2a.TaskStateCanceled {
		return taskstore.TaskVersionMissing, fmt.Errorf("update: %w", syscall.ECONNREFUSED)
	}
	return s.Tasks.Update(ctx, req)
}

// A cancel that could not be stored cancelled the remote task that the question
// came from, and deleted what the flow had done, though the task stayed parked.
func TestACancelThatIsNotStoredReleasesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := newClerk(t)
		close(c.gate)
		a := start(t, dsn, c.front(t))
		parked, err := a.send(t, said("begin"))
		if err != nil || parked.Status.State != a2a.TaskStateInputRequired {
			t.Fatal(parked, err)
		}
		b := start(t, dsn, c.front(t), executor.TaskStore(uncancelable{open(t, dsn).Tasks()}))
		if _, err := b.CancelTask(asMe(t.Context()), &a2a.CancelTaskRequest{ID: parked.ID}); err == nil {
			t.Fatal("a cancel that is not stored was confirmed")
		}
		end, err := a.send(t, answer(parked, "Ann"))
		if err != nil || end.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the answer got %v, %v", end, err)
		}
	})
}
