package flow_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

// exits ends the goroutine.
func exits() error { runtime.Goexit(); return nil }

// exitStore ends the goroutine that saves for the second time.
type exitStore struct {
	flow.Store
	saves atomic.Int32
}

func (s *exitStore) Save(ctx context.Context, c flow.Checkpoint) error {
	if s.saves.Add(1) == 2 {
		return exits()
	}
	return s.Store.Save(ctx, c)
}

// TestGoexitIsTheNodesFailure: wherever code of the user ends its goroutine, the
// run fails in the node, and the caller goes on.
func TestGoexitIsTheNodesFailure(t *testing.T) {
	t.Parallel()
	where := map[string]func(l *lab) []flow.RunOption{
		"node": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), l.node("b", func(context.Context, trail) error { return exits() }), flow.END)
			return nil
		},
		"node with retries": func(l *lab) []flow.RunOption {
			b := l.node("b", func(context.Context, trail) error { return exits() }, flow.Retry(3))
			l.chain(flow.START, l.node("a", nil), b, flow.END)
			return nil
		},
		"sibling": func(l *lab) []flow.RunOption {
			a, b, c := l.node("a", nil), l.node("b", func(context.Context, trail) error { return exits() }), l.node("c", nil)
			l.Edge(flow.START, a)
			l.Edge(a, b, c)
			l.Edge(b, flow.END)
			l.Edge(c, flow.END)
			return nil
		},
		"apply": func(l *lab) []flow.RunOption {
			b := flow.Node(l.Graph, "b", "k", func(context.Context, trail) (int, error) { return 1, nil }, func(*trail, int) error { return exits() })
			l.chain(flow.START, l.node("a", nil), b, flow.END)
			return nil
		},
		"route": func(l *lab) []flow.RunOption {
			a, b, c := l.node("a", nil), l.node("b", nil), l.node("c", nil)
			l.chain(flow.START, a, b)
			l.Route(b, func(trail) flow.Ref { runtime.Goexit(); return c }, c)
			l.Edge(c, flow.END)
			return nil
		},
		"hook": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), l.node("b", nil), flow.END)
			return []flow.RunOption{flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Node == "b" {
					runtime.Goexit()
				}
			})}
		},
		"nested": func(l *lab) []flow.RunOption {
			inner := newLab("inner")
			inner.chain(flow.START, inner.node("x", func(context.Context, trail) error { return exits() }), flow.END)
			c, err := inner.Compile()
			if err != nil {
				panic(err)
			}
			b := flow.Node(l.Graph, "b", "flow", flow.Nested(c, func(s trail) trail { return s }), func(*trail, trail) {})
			l.chain(flow.START, l.node("a", nil), b, flow.END)
			return nil
		},
		"store": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("b", nil), l.node("c", nil), flow.END)
			return []flow.RunOption{flow.WithStore(&exitStore{Store: flow.NewMemory()})}
		},
	}
	for name, build := range where {
		for _, stored := range []bool{false, true} {
			if stored && name == "store" {
				continue
			}
			t.Run(name+map[bool]string{true: " stored"}[stored], func(t *testing.T) {
				t.Parallel()
				l := newLab("f")
				opts := append(build(l), flow.Isolated())
				if stored {
					opts = append(opts, flow.WithStore(flow.NewMemory()))
				}
				res, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...)
				ne := nodeError(t, err)
				if ne.Node != "b" || ne.Kind == "" || ne.Visit != 1 {
					t.Errorf("got %+v", ne)
				}
				if diff := cmp.Diff(ne.Completed, res.Completed()); diff != "" {
					t.Error(diff)
				}
				if len(ne.Completed) == 0 || name != "store" && ne.Completed[0] != "a" || len(res.State.Path) == 0 {
					t.Errorf("completed %v, state %v", ne.Completed, res.State.Path)
				}
				if name == "nested" && nodeError(t, ne.Err).Node != "x" {
					t.Errorf("inner: %v", ne.Err)
				}
			})
		}
	}
}

// TestGoexitEndsTheVisit: what the node left running can do nothing any more.
func TestGoexitEndsTheVisit(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	over, got := make(chan struct{}), make(chan error)
	l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		go func() {
			<-over
			_, err := flow.Once(ctx, "k", func(context.Context) (int, error) { return 1, nil })
			got <- err
		}()
		return exits()
	}), flow.END)
	_, err := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated()).Run(t.Context(), "r", trail{})
	close(over)
	if late := <-got; nodeError(t, err).Node != "a" || !errors.Is(late, flow.ErrNotInNode) {
		t.Errorf("got %v, later %v", err, late)
	}
}

// TestAnIsolatedRunIsResumed: after a Goexit, too.
func TestAnIsolatedRunIsResumed(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	l.chain(flow.START, l.node("a", nil), l.node("b", func(context.Context, trail) error {
		if broken {
			return exits()
		}
		return nil
	}), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated())
	if _, err := c.Run(t.Context(), "r", trail{}); nodeError(t, err).Node != "b" {
		t.Fatal(err)
	}
	broken = false
	res := must(c.Resume(t.Context(), "r"))(t)
	if diff := cmp.Diff([]string{"a", "b"}, res.State.Path); diff != "" || l.ran("a") != 1 {
		t.Errorf("a ran %d times: %s", l.ran("a"), diff)
	}
	if _, err := c.Resume(t.Context(), "r"); !errors.Is(err, flow.ErrFinished) {
		t.Error(err)
	}
}
