package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// around is a flow with the node "form" that runs another flow.
func around(t *testing.T, inner *flow.Compiled[order], after node) *flow.Compiled[order] {
	t.Helper()
	g := flow.New[order]("outer")
	first := flow.Node(g, "first", "step", fixed("one"), func(*order, string) {})
	form := flow.Node(g, "form", "flow", flow.Nested(inner, func(s order) order { return s }),
		func(s *order, v order) { *s = v }, flow.NoArtifact())
	last := flow.Node(g, "last", "step", after, func(*order, string) {})
	g.Edge(flow.START, first)
	g.Edge(first, form)
	g.Edge(form, last)
	g.Edge(last, flow.END)
	return compiled(t, g)
}

func TestNestedFlowAsksThroughTheTask(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(around(t, line(t, asking("name"), asking("size")), fixed("x")), begin, finish))
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

// artifactNames are the artifacts of a task, as name:text.
func artifactNames(task *a2a.Task) []string {
	var names []string
	for _, a := range task.Artifacts {
		name := a.Name
		if v, ok := a.Metadata["visit"]; ok {
			name += fmt.Sprint("#", v)
		}
		names = append(names, name)
	}
	return names
}

func TestNestedFlowFailureKeepsTheInnerWork(t *testing.T) {
	t.Parallel()
	inner := line(t, fixed("Ada"), failing(&errcode.ComponentInvokeError{Component: "rag"}))
	a := agent.New("shop", agent.Flow(around(t, inner, fixed("x")), begin, finish))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		d := got.AssertFailed(t, errcode.UpstreamUnavailable, executortest.Reason("component_invoke_error"))
		if d.Node == nil || d.Node.ID != "form" || d.Node.Kind != "flow" || d.Flow == nil || d.Flow.ID != "outer" ||
			strings.Join(d.Flow.CompletedNodes, ",") != "first" {
			t.Errorf("node %+v, flow %+v", d.Node, d.Flow)
		}
		if diff := cmp.Diff([]string{"first", "form/name"}, artifactNames(got.Task)); diff != "" {
			t.Errorf("artifacts (-want +got):\n%s", diff)
		}
	})
}

// TestFlowLoopKeepsEachVisit: a loop that fails delivers what each round made.
func TestFlowLoopKeepsEachVisit(t *testing.T) {
	t.Parallel()
	g := flow.New[order]("loop")
	draft := flow.Node(g, "draft", "llm", func(_ context.Context, s order) (string, error) { return s.Name + "+", nil },
		func(s *order, v string) { s.Name = v })
	review := flow.Node(g, "review", "llm", func(_ context.Context, s order) (string, error) {
		if s.Name == "+++" {
			return "", errors.New("no more")
		}
		return "again", nil
	}, func(*order, string) {})
	g.Edge(flow.START, draft)
	g.Edge(draft, review)
	g.Route(review, func(order) flow.Ref { return draft }, draft, flow.END)
	c := compiled(t, g)
	a := agent.New("writer", agent.Flow(c, begin, finish))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		d := got.AssertFailed(t, errcode.Internal)
		if d.Flow == nil || strings.Join(d.Flow.CompletedNodes, ",") != "draft,review" {
			t.Errorf("flow %+v", d.Flow)
		}
		want := []string{"draft", "review", "draft#2", "review#2", "draft#3"}
		if diff := cmp.Diff(want, artifactNames(got.Task)); diff != "" {
			t.Errorf("artifacts (-want +got):\n%s", diff)
		}
	})
}

// TestResumedFlowKeepsTheOrderOfItsWork: after an answer the artifacts were in the
// order in which the nodes had been declared, and the visits of one in a row.
func TestResumedFlowKeepsTheOrderOfItsWork(t *testing.T) {
	t.Parallel()
	g := flow.New[order]("loop")
	add := func(s *order, v string) { s.Name += v }
	review := flow.Node(g, "review", "llm", func(ctx context.Context, s order) (string, error) {
		if s.Name != "drd" {
			return "r", nil
		}
		if _, err := hitl.Ask[string](ctx, "fit", "Is it fit?"); err != nil {
			return "", err
		}
		return "", errors.New("no more")
	}, add)
	draft := flow.Node(g, "draft", "llm", fixed("d"), add)
	g.Edge(flow.START, draft)
	g.Edge(draft, review)
	g.Route(review, func(order) flow.Ref { return draft }, draft, flow.END)
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	outer := flow.New[order]("outer")
	n := flow.Node(outer, "n", "flow", flow.Nested(c, func(s order) order { return s }), func(*order, order) {})
	outer.Edge(flow.START, n)
	outer.Edge(n, flow.END)
	nested, err := outer.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for path, c := range map[string]*flow.Compiled[order]{"": c, "n/": nested} {
		both(t, agent.New("writer", agent.Flow(c, begin, finish)), func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertInputRequired(t, "Is it fit?")
			got = got.Reply(t, "no")
			got.AssertFailed(t, errcode.Internal)
			want := []string{path + "draft", path + "review", path + "draft#2"}
			if diff := cmp.Diff(want, artifactNames(got.Task)); diff != "" {
				t.Errorf("artifacts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFlowNodeThatEndsItsGoroutineIsNamed: it is not the handler that exited.
func TestFlowNodeThatEndsItsGoroutineIsNamed(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), func(context.Context, order) (string, error) {
		runtime.Goexit()
		return "", nil
	}), begin, finish))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		d := got.AssertFailed(t, errcode.Internal)
		if d.Node == nil || d.Node.ID != "size" || len(got.Task.Artifacts) != 1 {
			t.Errorf("node %+v, artifacts %v", d.Node, artifactNames(got.Task))
		}
	})
}

// TestFlowErrorsMayBeAnything: an error whose chain is a circle ends the task,
// when the run was resumed, too.
func TestFlowErrorsMayBeAnything(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]node{"at once": fixed("Ada"), "resumed": asking("name")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := agent.New("shop", agent.Flow(line(t, first, failing(&loopError{})), begin, finish))
			got := executortest.Run(t, a, "go")
			if name == "resumed" {
				got = got.Reply(t, "Ada")
			}
			if d := got.AssertFailed(t, errcode.Internal); d.Node == nil || d.Node.ID != "size" {
				t.Errorf("node %+v", d.Node)
			}
		})
	}
}

// stolenStore is one whose runs somebody else goes on with.
type stolenStore struct {
	flow.Store
	deleted chan string
}

func (s *stolenStore) Save(ctx context.Context, c flow.Checkpoint) error {
	if c.Seq > 2 {
		return fmt.Errorf("save: %w", flow.ErrConflict)
	}
	return s.Store.Save(ctx, c)
}

func (s *stolenStore) Delete(ctx context.Context, run string) error {
	s.deleted <- run
	return s.Store.Delete(ctx, run)
}

// TestFlowOfSomebodyElseIsNotForgotten: a run that another process goes on with
// stays in the store.
func TestFlowOfSomebodyElseIsNotForgotten(t *testing.T) {
	t.Parallel()
	store := &stolenStore{flow.NewMemory(), make(chan string, 9)}
	r, err := agent.NewFlowRunner(line(t, fixed("Ada"), fixed("XL")), begin, finish, agent.FlowStore(store))
	if err != nil {
		t.Fatal(err)
	}
	a := agent.New("shop", agent.Stream(r.Stream))
	h := newHandler(t, a)
	ctx := call(t)
	res, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		t.Fatal(err)
	}
	if task, ok := res.(*a2a.Task); !ok || task.Status.State != a2a.TaskStateFailed {
		t.Errorf("got %+v", res)
	}
	if len(store.deleted) != 0 {
		t.Errorf("deleted %q", <-store.deleted)
	}
}

// TestNestedParkedFlowIsForgotten: when its task is canceled, and when nobody
// answers in time, nothing of a parked run is left, nested runs included.
func TestNestedParkedFlowIsForgotten(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, h *executor.Handler, id a2a.TaskID) error{
		"canceled": func(ctx context.Context, h *executor.Handler, id a2a.TaskID) error {
			_, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
			return err
		},
		"expired": func(context.Context, *executor.Handler, a2a.TaskID) error {
			time.Sleep(2 * time.Hour) // by the test's own clock
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := flow.NewMemory()
				a := agent.New("shop", agent.Flow(around(t, line(t, fixed("Ada"), asking("size")), fixed("x")), begin, finish, agent.FlowStore(store)))
				h := newHandler(t, a, executor.ParkTimeout(time.Hour))
				ctx := call(t)
				id := sent(ctx, t, h, userMessage("x")).ID
				if len(store.History(string(id)+"/outer")) != 1 {
					t.Fatal("the run is not stored")
				}
				if err := end(ctx, h, id); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := store.History(string(id) + "/outer"); len(got) != 0 {
					t.Errorf("%d checkpoints are left", len(got))
				}
			})
		})
	}
}
