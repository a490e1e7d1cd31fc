package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

func nothing(context.Context, counter) (int, error) { return 0, nil }

func step(g *flow.Graph[counter], id string, opts ...flow.NodeOption) flow.Ref {
	return flow.Node(g, id, "k", nothing, keep, opts...)
}

// TestCompileFindsEveryFault has one graph for each kind of fault, in the order
// of the specification, and one with many.
func TestCompileFindsEveryFault(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		build func(g *flow.Graph[counter])
		want  []string
	}{
		{"duplicate id", func(g *flow.Graph[counter]) {
			a, b := step(g, "a"), step(g, "a")
			g.Edge(flow.START, a)
			g.Edge(a, b)
			g.Edge(b, flow.END)
		}, []string{`node id "a" is used twice`}},
		{"reserved id", func(g *flow.Graph[counter]) {
			a, b := step(g, "START"), step(g, "END")
			g.Edge(flow.START, a)
			g.Edge(a, b)
			g.Edge(b, flow.END)
		}, []string{`node id "START" is reserved`, `node id "END" is reserved`}},
		{"malformed ids and empty kind", func(g *flow.Graph[counter]) {
			a, b := step(g, ""), step(g, "x/y")
			c := flow.Node(g, "c", "", nothing, keep)
			g.Edge(flow.START, a)
			g.Edge(a, b)
			g.Edge(b, c)
			g.Edge(c, flow.END)
		}, []string{
			`node id "" is empty`, `node id "x/y" contains a slash or a character that cannot be printed`,
			`node "c" has no kind`,
		}},
		{"missing functions", func(g *flow.Graph[counter]) {
			a := flow.Node(g, "a", "k", flow.Func[counter, int](nil), (func(*counter, int))(nil))
			b := flow.Node(g, "b", "k", nothing, (func(*counter, int) error)(nil))
			g.Edge(flow.START, a)
			g.Edge(a, b)
			g.Route(b, nil, flow.END)
		}, []string{
			`node "a" has no function`, `node "a" has nothing that applies its output`,
			`node "b" has nothing that applies its output`, `route from "b" has no function`,
		}},
		{"unknown targets", func(g *flow.Graph[counter]) {
			a := step(g, "a")
			other := flow.New[counter]("other")
			foreign := step(other, "foreign")
			g.Edge(flow.START, a)
			g.Edge(a, flow.Ref{}, foreign, flow.START, flow.END)
			g.Edge(flow.END, a)
			g.Edge(foreign, a)
			g.Join(flow.Ref{}, a)
		}, []string{
			`edge from "a" to an unknown target: the zero Ref is not a node of this graph`,
			`edge from "a" to an unknown target: another graph's Ref is not a node of this graph`,
			`edge from "a" to START`, `edge from END`,
			`edge from another graph's Ref, which is not a node of this graph`,
			`join of the zero Ref, which is not a node of this graph`,
			`edge from "a" to an unknown target: the zero Ref is not a node of this graph`,
		}},
		{"no START", func(g *flow.Graph[counter]) {
			a := step(g, "a")
			g.Edge(a, flow.END)
		}, []string{`nothing leads from START`, `node "a" cannot be reached from START`}},
		{"no path to END", func(g *flow.Graph[counter]) {
			a, b := step(g, "a"), step(g, "b")
			g.Edge(flow.START, a)
			g.Route(a, func(counter) flow.Ref { return b }, b, flow.END)
		}, []string{`node "b" has no path to END`}},
		{"unconditional cycle", func(g *flow.Graph[counter]) {
			a, b, c := step(g, "a"), step(g, "b"), step(g, "c")
			g.Edge(flow.START, a)
			g.Edge(a, b)
			g.Edge(b, c)
			g.Edge(c, a, flow.END)
		}, []string{`unconditional cycle: a → b → c → a`}},
		{"undeclared fan-in", func(g *flow.Graph[counter]) {
			f, a, b, j, d := step(g, "f"), step(g, "a"), step(g, "b"), step(g, "j"), step(g, "d")
			g.Edge(flow.START, f)
			g.Edge(f, a, b, d)
			g.Join(j, a, b)
			g.Edge(j, d) // meets the third branch
			g.Edge(d, flow.END)
		}, []string{`branches that begin at "f" meet at "d", which is not a join`}},
		{"undeclared fan-in behind routes", func(g *flow.Graph[counter]) {
			a, b, c := step(g, "a"), step(g, "b"), step(g, "c")
			g.Edge(flow.START, a, b)
			pick := func(counter) flow.Ref { return c }
			g.Route(a, pick, c, flow.END)
			g.Route(b, pick, c, flow.END)
			g.Edge(c, flow.END)
		}, []string{`branches that begin at "START" meet at "c", which is not a join`}},
		{"doubled edges and routes", func(g *flow.Graph[counter]) {
			a, b := step(g, "a"), step(g, "b")
			g.Edge(flow.START, a, a)
			g.Route(a, func(counter) flow.Ref { return b }, b, b)
			g.Route(a, func(counter) flow.Ref { return b }, flow.END)
			g.Edge(b, flow.END)
			g.Edge(a)
			g.Route(b, func(counter) flow.Ref { return b })
			g.Join(b)
		}, []string{
			`"a" has more than one route`, `edge from "a" has no target`, `route from "b" has no target`,
			`join "b" has no input`, `edge from "START" to "a" is there twice`, `route from "a" names "b" twice`,
		}},
		{"bad options", func(g *flow.Graph[counter]) {
			a := step(g, "a", flow.Retry(0), flow.Backoff(2, 1), flow.RetryIf(nil), flow.Timeout(-time.Second),
				flow.MaxVisits(-1), flow.NodeOption{})
			g.Edge(flow.START, a)
			g.Edge(a, flow.END)
		}, []string{
			`node "a": Retry(0): at least one attempt is needed`,
			`node "a": Backoff(2ns, 1ns): the waits must not be negative nor shrink`,
			`node "a": RetryIf(nil): a function is needed`, `node "a": Timeout(-1s): negative`,
			`node "a": MaxVisits(-1): negative`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				g := flow.New[counter]("f")
				tc.build(g)
				_, err := g.Compile()
				var ge *flow.GraphError
				if !errors.As(err, &ge) {
					t.Fatalf("got %v", err)
				}
				if diff := cmp.Diff(tc.want, ge.Faults); diff != "" {
					t.Errorf("faults (-want +got):\n%s", diff)
				}
				if got := err.Error(); got != `compile flow "f": `+strings.Join(tc.want, "; ") {
					t.Errorf("text: %s", got)
				}
			}
		})
	}
}

func TestCompileAllowsWhatCannotMeet(t *testing.T) {
	t.Parallel()
	cases := map[string]func(g *flow.Graph[counter]){
		"nothing to do": func(g *flow.Graph[counter]) { g.Edge(flow.START, flow.END) },
		"alternatives": func(g *flow.Graph[counter]) {
			a, b, c, d := step(g, "a"), step(g, "b"), step(g, "c"), step(g, "d")
			g.Edge(flow.START, a)
			g.Route(a, func(counter) flow.Ref { return b }, b, c)
			g.Edge(b, d)
			g.Edge(c, d)
			g.Edge(d, flow.END)
		},
		"a loop around a fan-out": func(g *flow.Graph[counter]) {
			f, a, b, j := step(g, "f"), step(g, "a"), step(g, "b"), step(g, "j")
			g.Edge(flow.START, f)
			g.Edge(f, a, b)
			g.Join(j, a, b)
			g.Route(j, func(counter) flow.Ref { return flow.END }, f, flow.END)
		},
		"a loop in a branch": func(g *flow.Graph[counter]) {
			a, b := step(g, "a"), step(g, "b")
			g.Edge(flow.START, a, b)
			g.Route(a, func(counter) flow.Ref { return flow.END }, a, flow.END)
			g.Edge(b, flow.END)
		},
	}
	for name, build := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := flow.New[counter]("f")
			build(g)
			c, err := g.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context(), "r", counter{}, flow.WithStore(flow.NewMemory()), flow.DeleteOnSuccess()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadRunOptions(t *testing.T) {
	t.Parallel()
	bad := []flow.RunOption{
		flow.MaxSteps(0), flow.KeepLast(-1), flow.WithCodec(nil), flow.Answer("", 1), flow.Answer("a", make(chan int)),
		{},
		flow.Answer("b", 1), flow.Answer("b", 2),
	}
	c := chain(t, 1)
	_, err := c.Run(t.Context(), "r", counter{}, bad...)
	for _, want := range []string{"MaxSteps(0)", "KeepLast(-1)", "WithCodec(nil)", "no id", `Answer to "a"`, "two answers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a word of %q", err, want)
		}
	}
	if _, err := c.Run(t.Context(), "", counter{}); err == nil {
		t.Error("an empty run id was taken")
	}
	if _, err := c.Run(t.Context(), "r", counter{}, flow.Answer("a", 1)); !errors.Is(err, flow.ErrUnknownAsk) {
		t.Errorf("an answer to a new run: %v", err)
	}
	if _, err := c.Resume(t.Context(), "r"); err == nil {
		t.Error("resumed without a store")
	}
	g := flow.New[counter]("f")
	g.Edge(flow.START, flow.END)
	if _, err := g.Compile(flow.MaxSteps(-1)); err == nil || !strings.Contains(err.Error(), "MaxSteps(-1)") {
		t.Errorf("compile: %v", err)
	}
}

// diamonds makes a graph of n times four nodes, with a loop around all of them.
func diamonds(n int) *lab {
	l := newLab("diamonds")
	first := l.node("first", nil)
	l.Edge(flow.START, first)
	prev := first
	for i := range n {
		f, a, b, j := l.node(fmt.Sprint("f", i), nil), l.node(fmt.Sprint("a", i), nil), l.node(fmt.Sprint("b", i), nil), l.node(fmt.Sprint("j", i), nil)
		l.Edge(prev, f)
		l.Edge(f, a, b)
		l.Join(j, a, b)
		prev = j
	}
	last := l.node("last", nil)
	l.Edge(prev, last)
	l.Route(last, func(trail) flow.Ref { return flow.END }, first, flow.END)
	return l
}

// TestCompileOfManyJoins: the time grew with more than the square of the nodes;
// 4,000 took two minutes.
func TestCompileOfManyJoins(t *testing.T) {
	t.Parallel()
	took := func(n int) time.Duration {
		least := time.Hour
		for range 3 {
			l := diamonds(n)
			begin := time.Now()
			if _, err := l.Compile(); err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(begin))
		}
		return least
	}
	small, large := time.Hour, time.Hour
	for range 20 { // others may use the machine for most of one
		small, large = min(small, took(50)), min(large, took(400))
		if large <= 8*8*4*small { // cubic would be 512 times as much
			return
		}
	}
	t.Errorf("200 nodes took %v, 1,600 nodes %v", small, large)
}
