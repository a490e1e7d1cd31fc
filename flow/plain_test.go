package flow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/flow"
)

// ways are the ways in which a run may go through the engine: without a store
// and a hook it takes a shorter one.
var ways = map[string]func() []flow.RunOption{
	"plain":    func() []flow.RunOption { return nil },
	"isolated": func() []flow.RunOption { return []flow.RunOption{flow.Isolated()} },
	"hooked":   func() []flow.RunOption { return []flow.RunOption{flow.OnEvent(func(context.Context, flow.Event) {})} },
	"stored":   func() []flow.RunOption { return []flow.RunOption{flow.WithStore(flow.NewMemory())} },
}

func onEveryPath(t *testing.T, check func(t *testing.T, opts []flow.RunOption)) {
	t.Helper()
	for name, opts := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, opts())
		})
	}
}

// TestWaitingJoinRunsAfterALoneBranch: without a store a join was lost that
// waited for a branch of plain nodes which ended elsewhere.
func TestWaitingJoinRunsAfterALoneBranch(t *testing.T) {
	t.Parallel()
	onEveryPath(t, func(t *testing.T, opts []flow.RunOption) {
		t.Helper()
		l := newLab("f")
		a, b, b2, y, j := l.node("a", nil), l.node("b", nil), l.node("b2", nil), l.node("y", nil), l.node("j", nil)
		l.Edge(flow.START, a, b)
		l.Edge(b, b2)
		l.Route(b2, func(trail) flow.Ref { return flow.END }, y, flow.END)
		l.Join(j, a, y)
		l.Edge(j, flow.END)
		res := must(l.compile(t).Run(t.Context(), "r", trail{}, opts...))(t)
		if diff := cmp.Diff([]string{"a", "b", "b2", "j"}, res.State.Path); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestContinueOnErrorOfSTARTWithOneEdge: without a store it was ignored.
func TestContinueOnErrorOfSTARTWithOneEdge(t *testing.T) {
	t.Parallel()
	onEveryPath(t, func(t *testing.T, opts []flow.RunOption) {
		t.Helper()
		l := newLab("f")
		a, a2, b, c := l.node("a", nil), l.node("a2", nil), l.node("b", nil), l.node("c", fails)
		l.ContinueOnError(flow.START)
		l.chain(flow.START, a, a2)
		l.Edge(a2, b, c)
		l.Edge(b, flow.END)
		l.Edge(c, flow.END)
		res := must(l.compile(t).Run(t.Context(), "r", trail{}, opts...))(t)
		if len(res.Failures()) != 1 {
			t.Errorf("tolerated %v", res.Failures())
		}
	})
}

// TestRouteIsAskedOnce: without a store a route that panicked, or answered
// wrongly, was asked again, and its second answer counted.
func TestRouteIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func() flow.Ref{
		"panics":  func() flow.Ref { panic("route") },
		"unknown": func() flow.Ref { return flow.Ref{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEveryPath(t, func(t *testing.T, opts []flow.RunOption) {
				t.Helper()
				l, calls := newLab("f"), 0
				a := l.node("a", nil)
				l.Edge(flow.START, a)
				l.Route(a, func(trail) flow.Ref {
					if calls++; calls == 1 {
						return bad()
					}
					return flow.END
				}, flow.END)
				_, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...)
				if ne := nodeError(t, err); ne.Node != "a" || calls != 1 || !cmp.Equal(ne.Completed, []string{"a"}) {
					t.Errorf("%d calls, %v, completed %q", calls, err, ne.Completed)
				}
			})
		})
	}
}

// sketch is a random graph of any shape with at most one node that fails, so
// that what becomes of a run does not depend on which failure is first.
type sketch struct {
	targets  [][]int // by node; 0 is START, len is END
	route    []bool
	join     []bool
	tolerant []int
	visits   []int
	bad      int
	how      string
}

func drawSketch(t *rapid.T) sketch {
	n := rapid.IntRange(2, 8).Draw(t, "nodes")
	s := sketch{route: make([]bool, n+1), join: make([]bool, n+2), tolerant: make([]int, n+1), visits: make([]int, n+1)}
	for i := range n + 1 {
		ahead := rapid.IntRange(i+1, min(i+4, n+1))
		target := ahead
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "back") == 0 {
			target = rapid.IntRange(1, n+1)
		}
		s.targets = append(s.targets, rapid.SliceOfNDistinct(target, 1, 3, rapid.ID).Draw(t, fmt.Sprint("from", i)))
		s.route[i] = i > 0 && rapid.Bool().Draw(t, "route")
		s.join[i] = i > 0 && rapid.Bool().Draw(t, "join")
		s.tolerant[i] = rapid.IntRange(0, 3).Draw(t, "tolerant")
		s.visits[i] = rapid.IntRange(0, 4).Draw(t, "visits")
	}
	s.bad = rapid.IntRange(0, n).Draw(t, "bad")
	s.how = rapid.SampledFrom([]string{"fails", "panics", "half", "apply"}).Draw(t, "how")
	return s
}

// node adds the i-th node.
func (s sketch) node(g *flow.Graph[trail], i int) flow.Ref {
	var opts []flow.NodeOption
	if s.visits[i] == 1 {
		opts = append(opts, flow.MaxVisits(2))
	}
	id := fmt.Sprint("n", i)
	return flow.Node(g, id, "k", func(context.Context, trail) (string, error) {
		switch {
		case i != s.bad || s.how == "apply":
			return id, nil
		case s.how == "panics":
			panic(id)
		case s.how == "half":
			return "half", errBoom
		}
		return "", errBoom
	}, func(t *trail, v string) error {
		if i == s.bad {
			return errBoom
		}
		follow(t, v)
		return nil
	}, opts...)
}

func (s sketch) compile() (*flow.Compiled[trail], error) {
	g := flow.New[trail]("sketch")
	refs := []flow.Ref{flow.START}
	for i := 1; i < len(s.targets); i++ {
		refs = append(refs, s.node(g, i))
	}
	refs = append(refs, flow.END)
	for i, targets := range s.targets {
		if s.route[i] {
			var to []flow.Ref
			for _, t := range targets {
				to = append(to, refs[t])
			}
			g.Route(refs[i], func(s trail) flow.Ref { return to[len(strings.Join(s.Path, ""))/3%len(to)] }, to...)
			continue
		}
		for _, t := range targets {
			if s.join[t] {
				g.Join(refs[t], refs[i])
			} else {
				g.Edge(refs[i], refs[t])
			}
		}
		if s.tolerant[i] == 0 {
			g.ContinueOnError(refs[i])
		}
	}
	return g.Compile(flow.MaxSteps(30))
}

// cameTo is all that a run tells, as text, but for the attempt: that of a visit
// which was over before a resume is not known.
func cameTo(res flow.Result[trail], err error) string {
	said := fmt.Sprint(res.State.Path, res.Completed(), res.Outputs(), len(res.Failures()))
	var ne *flow.NodeError
	if errors.As(err, &ne) {
		said += fmt.Sprint(ne.Node, ne.Visit, ne.Step, ne.Value, ne.Cancelled, len(ne.Siblings), ne.Completed, ne.Err)
	} else if err != nil {
		said += err.Error()
	}
	return said
}

// TestEveryPathComesToTheSame: with a store or without, with a hook, isolated,
// and resumed from every checkpoint.
func TestEveryPathComesToTheSame(t *testing.T) {
	t.Parallel()
	compiled := 0
	rapid.Check(t, func(t *rapid.T) {
		c, err := drawSketch(t).compile()
		for range 50 { // most are not a flow
			if err == nil {
				break
			}
			c, err = drawSketch(t).compile()
		}
		if err != nil {
			return
		}
		compiled++
		store := flow.NewMemory()
		want := cameTo(c.Run(context.Background(), "r", trail{}, flow.WithStore(store), flow.KeepLast(0)))
		for _, name := range slices.Sorted(maps.Keys(ways)) {
			if diff := cmp.Diff(want, cameTo(c.Run(context.Background(), "r", trail{}, ways[name]()...))); diff != "" {
				t.Errorf("%s (-stored +got):\n%s", name, diff)
			}
		}
		for _, last := range store.History("r") {
			again := flow.NewMemory()
			for _, cp := range store.History("r")[:last.Seq] {
				if err := again.Save(context.Background(), cp); err != nil {
					t.Fatal(err)
				}
			}
			res, err := c.Resume(context.Background(), "r", flow.WithStore(again))
			if errors.Is(err, flow.ErrFinished) {
				continue
			}
			if diff := cmp.Diff(want, cameTo(res, err)); diff != "" {
				t.Errorf("resumed from %d (-stored +got):\n%s", last.Seq, diff)
			}
		}
	})
	if compiled == 0 {
		t.Error("none of the sketches is a flow")
	}
}
