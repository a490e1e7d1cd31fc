package executor_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// order is the state of the flows below.
type order struct{ Text, Name, Size string }

func begin(_ context.Context, req *agent.Request) (order, error) { return order{Text: req.Text()}, nil }

func finish(_ context.Context, s order) (*agent.Result, error) {
	return agent.Text(s.Name + " " + s.Size), nil
}

type node = flow.Func[order, string]

// line is a flow of two nodes, name and size.
func line(t *testing.T, name, size node, opts ...flow.NodeOption) *flow.Compiled[order] {
	t.Helper()
	return named(t, "line", name, size, opts...)
}

// named is a line of that name.
func named(t *testing.T, flowName string, name, size node, opts ...flow.NodeOption) *flow.Compiled[order] {
	t.Helper()
	g := flow.New[order](flowName)
	a := flow.Node(g, "name", "form", name, func(s *order, v string) { s.Name = v }, opts...)
	b := flow.Node(g, "size", "form", size, func(s *order, v string) { s.Size = v }, opts...)
	g.Edge(flow.START, a)
	g.Edge(a, b)
	g.Edge(b, flow.END)
	return compiled(t, g)
}

func compiled(t *testing.T, g *flow.Graph[order]) *flow.Compiled[order] {
	t.Helper()
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixed(v string) node {
	return func(context.Context, order) (string, error) { return v, nil }
}

func asking(key string) node {
	return func(ctx context.Context, _ order) (string, error) { return hitl.Ask[string](ctx, key, "What "+key+"?") }
}

func failing(err error) node {
	return func(context.Context, order) (string, error) { return "", err }
}

func TestFlowFailureKeepsTheWorkAndNamesTheNode(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), failing(&errcode.ComponentInvokeError{Component: "rag"}),
		flow.Retry(3), flow.Backoff(time.Nanosecond, time.Nanosecond)), begin, finish))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		d := got.AssertFailed(t, errcode.UpstreamUnavailable, executortest.Reason("component_invoke_error"), executortest.Retried(2))
		got.AssertText(t, "Ada")
		if d.Node == nil || d.Node.ID != "size" || d.Node.Kind != "form" || d.Flow == nil || strings.Join(d.Flow.CompletedNodes, ",") != "name" {
			t.Errorf("node %+v, flow %+v", d.Node, d.Flow)
		}
		art := got.Task.Artifacts[0]
		if art.Name != "name" || art.Metadata["kind"] != "form" {
			t.Errorf("artifact: got %+v", art)
		}
	})
}

func TestFlowAsksOneAfterTheOther(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, asking("name"), asking("size")), begin, finish))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		got.AssertInputRequired(t, "What name?")
		got = got.Reply(t, "Ada")
		got.AssertInputRequired(t, "What size?")
		got = got.Reply(t, "XL")
		got.AssertCompleted(t)
		got.AssertText(t, "Ada XL")
	})
}

func TestFlowNodeStreams(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, func(ctx context.Context, _ order) (string, error) {
		w, ok := stream.FromContext(ctx)
		if !ok {
			return "", errors.New("no writer")
		}
		return "Ada", w.Text("looking for a name. ")
	}, fixed("XL")), begin, finish))
	executortest.Run(t, a, "x").AssertText(t, "looking for a name. Ada XL")
}

// TestParkedFlowsAreBounded: too many, too old, or canceled, they go; the answer
// to one that has gone fails clearly.
func TestParkedFlowsAreBounded(t *testing.T) {
	t.Parallel()
	parking := func(t *testing.T, opts ...agent.FlowOption) (context.Context, *executor.Handler) {
		t.Helper()
		a := agent.New("shop", agent.Flow(line(t, asking("name"), fixed("XL")), begin, finish, opts...))
		return call(t), newHandler(t, a)
	}
	send := func(t *testing.T, ctx context.Context, h *executor.Handler, task *a2a.Task, text string) *a2a.Task {
		t.Helper()
		req := userMessage(text)
		if task != nil {
			req.Message.TaskID = task.ID
		}
		return sent(ctx, t, h, req)
	}
	t.Run("too many", func(t *testing.T) {
		t.Parallel()
		ctx, h := parking(t, agent.FlowParked(2, time.Hour))
		var tasks []*a2a.Task
		for range 3 {
			tasks = append(tasks, send(t, ctx, h, nil, "x"))
		}
		if got := send(t, ctx, h, tasks[2], "Ada"); got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the newest: got %s", got.Status.State)
		}
		e, _ := errcode.FromTask(send(t, ctx, h, tasks[0], "Ada"))
		if e.Code() != errcode.NotFound || e.Reason() != "flow_run_expired" {
			t.Errorf("the oldest: got %v", e)
		}
	})
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, h := parking(t, agent.FlowParked(2, time.Hour))
			task := send(t, ctx, h, nil, "x")
			time.Sleep(2 * time.Hour)
			e, _ := errcode.FromTask(send(t, ctx, h, task, "Ada"))
			if e.Code() != errcode.NotFound || e.Reason() != "flow_run_expired" {
				t.Errorf("got %v", e)
			}
		})
	})
}

// countingStore counts what a flow keeps.
type countingStore struct {
	flow.Store
	deleted atomic.Int32
}

func (s *countingStore) Delete(ctx context.Context, run string) error {
	s.deleted.Add(1)
	return s.Store.Delete(ctx, run)
}

func TestFlowRunIsForgottenWithItsTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second node
		end    func(ctx context.Context, h *executor.Handler, id a2a.TaskID) error
	}{
		"completed": {fixed("XL"), nil},
		"failed":    {failing(errors.New("x")), nil},
		"panicked":  {func(context.Context, order) (string, error) { panic("x") }, nil},
		"canceled": {asking("size"), func(ctx context.Context, h *executor.Handler, id a2a.TaskID) error {
			_, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := flow.NewMemory()
			store := &countingStore{Store: memory}
			a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), c.second), begin, finish, agent.FlowStore(store)))
			h := newHandler(t, a)
			ctx := call(t)
			id := sent(ctx, t, h, userMessage("x")).ID
			if c.end != nil {
				if err := c.end(ctx, h, id); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := memory.History(string(id) + "/line"); len(got) != 0 || store.deleted.Load() == 0 {
				t.Errorf("%d checkpoints are kept", len(got))
			}
		})
	}
}

func TestFlowIsChecked(t *testing.T) {
	t.Parallel()
	c := line(t, fixed("a"), fixed("b"))
	for name, a := range map[string]*agent.Agent{
		"no flow":     agent.New("a", agent.Flow[order](nil, begin, finish)),
		"no begin":    agent.New("a", agent.Flow(c, nil, finish)),
		"no finish":   agent.New("a", agent.Flow(c, begin, nil)),
		"no store":    agent.New("a", agent.Flow(c, begin, finish, agent.FlowStore(nil))),
		"no bound":    agent.New("a", agent.Flow(c, begin, finish, agent.FlowParked(0, 0))),
		"with Invoke": agent.New("a", agent.Flow(c, begin, finish), agent.Invoke(agent.TextFunc(func(context.Context, string) (string, error) { return "", nil }))),
		"recover":     agent.New("a", agent.Flow(c, begin, finish, agent.FlowRecover())),
		"nil recover": agent.New("a", agent.Flow(c, begin, finish), agent.Recover(nil)),
		"nil release": agent.New("a", agent.Flow(c, begin, finish), agent.OnRelease(nil)),
	} {
		if a.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
