package flow_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/stream"
)

// TestVisitEndsWithItsNode: without a store what a node left running could go on
// to ask, to cause effects and to run nested flows in its name.
func TestVisitEndsWithItsNode(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{
		"plain":  nil,
		"hooked": {flow.OnEvent(func(context.Context, flow.Event) {})},
		"stored": {flow.WithStore(flow.NewMemory())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newLab("inner")
			inner.chain(flow.START, inner.node("a", nil), flow.END)
			in := inner.compile(t)
			var late context.Context
			l := newLab("outer")
			keep := func(ctx context.Context, _ trail) error { late = ctx; return nil } //nolint:fatcontext // what is tested
			check := func(context.Context, trail) error {
				_, once := flow.Once(late, "k", func(context.Context) (int, error) { return 1, nil })
				_, nested := flow.Nested(in, func(s trail) trail { return s })(late, trail{})
				if !errors.Is(once, flow.ErrNotInNode) || !errors.Is(nested, flow.ErrNotInNode) || flow.IdempotencyKey(late) != "" {
					t.Errorf("Once: %v, Nested: %v, key %q", once, nested, flow.IdempotencyKey(late))
				}
				return nil
			}
			a, b, c, d := l.node("a", keep), l.node("b", check), l.node("c", keep), l.node("d", nil)
			l.chain(flow.START, a, b)
			l.Edge(b, c, d) // not on the plain path
			j := l.node("j", check)
			l.Join(j, c, d)
			l.Edge(j, flow.END)
			if _, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...); err != nil {
				t.Error(err)
			}
			if inner.ran("a") != 0 {
				t.Error("the inner node ran")
			}
		})
	}
}

// TestNestedFlowLeftRunning: a nested flow that outlives its node counted its
// retries in a run that was over, at the same time as that was read.
func TestNestedFlowLeftRunning(t *testing.T) {
	t.Parallel()
	inner, outer := newLab("inner"), newLab("outer")
	inner.chain(flow.START, inner.node("a", func(context.Context, trail) error {
		return &errcode.ComponentInvokeError{Component: "x"}
	}, flow.Retry(5), flow.Backoff(1, 1)), flow.END)
	in := inner.compile(t)
	over := make(chan struct{})
	a := outer.node("a", func(ctx context.Context, s trail) error {
		go func() {
			defer close(over)
			_, _ = flow.Nested(in, func(s trail) trail { return s })(ctx, s)
		}()
		return nil
	})
	outer.chain(flow.START, a, flow.END)
	res := must(outer.compile(t).Run(t.Context(), "r", trail{}))(t)
	before := res.Retries()
	<-over
	if after := res.Retries(); after != before {
		t.Errorf("%d retries, later %d", before, after)
	}
}

// nowhere is a sink for what nobody reads.
type nowhere struct{}

func (nowhere) Chunk(stream.Chunk) error { return nil }
func (nowhere) Progress(string) error    { return nil }

// TestLateWritesAreNoEvents: the hook heard of what a node wrote after it had
// returned, even after the run, while the scheduler went on.
func TestLateWritesAreNoEvents(t *testing.T) {
	t.Parallel()
	w, _ := stream.New(nowhere{})
	stop, stopped := make(chan struct{}), make(chan struct{})
	l := newLab("late")
	refs := []flow.Ref{flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		w, ok := stream.FromContext(ctx)
		if !ok {
			return errBoom
		}
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					_ = w.Text("late")
				}
			}
		}()
		return w.Text("in time")
	})}
	for _, id := range []string{"b", "c", "d", "e", "f"} {
		refs = append(refs, l.node(id, nil))
	}
	l.chain(append(refs, flow.END)...)
	var over atomic.Bool
	wrote := map[bool]int{}
	left := false
	_, err := l.compile(t).Run(stream.NewContext(t.Context(), w), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		left = left || e.Kind == flow.NodeEnded && e.Node == "b"
		if e.Kind == flow.NodeWrote {
			wrote[left || over.Load()]++
		}
	}))
	over.Store(true)
	close(stop)
	<-stopped
	if err != nil || wrote[false] == 0 || wrote[true] != 0 {
		t.Errorf("%v: events %v", err, wrote)
	}
}

// TestGoexitIsSaved: the work of a frontier was lost when an apply or a route
// ended the goroutine, and a part of it was in the state.
func TestGoexitIsSaved(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"apply", "route"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			bad := true
			exit := func(here string) {
				if bad && here == where {
					runtime.Goexit()
				}
			}
			l := newLab("out")
			z, a := l.node("z", nil), l.node("a", nil)
			b := flow.Node(l.Graph, "b", "k", func(context.Context, trail) (string, error) { return "b", nil },
				func(s *trail, v string) { exit("apply"); follow(s, v) })
			j := l.node("j", nil)
			l.Edge(flow.START, z)
			l.Edge(z, a, b)
			l.Join(j, a, b)
			l.Route(j, func(trail) flow.Ref { exit("route"); return flow.END }, flow.END)
			c, store := l.compile(t), flow.WithStore(flow.NewMemory())
			res, err := c.Run(t.Context(), "r", trail{}, store, flow.Isolated())
			want := map[string][]string{"apply": {"z"}, "route": {"z", "a", "b", "j"}}[where]
			if e := nodeError(t, err); e.Node != map[string]string{"apply": "b", "route": "j"}[where] {
				t.Errorf("failed in %s", e.Node)
			}
			if diff := cmp.Diff(want, res.Completed()) + cmp.Diff(want, res.State.Path); diff != "" {
				t.Errorf("completed, state: %s", diff)
			}
			bad = false
			res = must(c.Resume(t.Context(), "r", store))(t)
			if diff := cmp.Diff([]string{"z", "a", "b", "j"}, res.State.Path); diff != "" {
				t.Error(diff)
			}
			if l.ran("z") != 1 || l.ran("a") != 1 || l.ran("j") != 1 {
				t.Errorf("runs: %v", l.runs)
			}
		})
	}
}
