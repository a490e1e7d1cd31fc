package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// shell is a lab with the node "in" that runs the flow of another lab between
// "before" and "after".
func shell(t *testing.T, inner *lab) *lab {
	t.Helper()
	outer := newLab("outer")
	before := outer.node("before", nil)
	in := flow.Node(outer.Graph, "in", "flow", flow.Nested(inner.compile(t), func(s trail) trail {
		return trail{Path: append(s.Path, "(")}
	}), func(s *trail, v trail) { s.Path = append(v.Path, ")") })
	outer.chain(flow.START, before, in, outer.node("after", nil), flow.END)
	return outer
}

func TestNestedFlow(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{
		"plain":    nil,
		"stored":   {flow.WithStore(flow.NewMemory())},
		"coded":    {flow.WithStore(flow.NewMemory()), flow.WithCodec(gobCodec{})},
		"isolated": {flow.Isolated()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newLab("inner")
			var key string
			inner.chain(flow.START, inner.node("a", nil), inner.node("b", func(ctx context.Context, _ trail) error {
				key = flow.IdempotencyKey(ctx)
				return nil
			}), flow.END)
			res := must(shell(t, inner).compile(t).Run(t.Context(), "task/outer", trail{}, opts...))(t)
			if diff := cmp.Diff([]string{"before", "(", "a", "b", ")", "after"}, res.State.Path); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"before", "in", "after"}, res.Completed()); diff != "" {
				t.Error(diff)
			}
			if key != "task/outer/in/1/b/1" {
				t.Errorf("the inner node's key: %q", key)
			}
		})
	}
}

func TestNestedFlowAsks(t *testing.T) {
	t.Parallel()
	for _, codec := range []flow.RunOption{{}, flow.WithCodec(gobCodec{})} {
		inner := newLab("inner")
		ask := func(key string) func(context.Context, trail) error {
			return func(ctx context.Context, _ trail) error {
				v, err := hitl.Ask[string](ctx, key, key+"?")
				if err == nil && v != "to "+key {
					return fmt.Errorf("got %q", v)
				}
				return err
			}
		}
		first, x, y, z := inner.node("first", nil), inner.node("x", ask("x")), inner.node("y", ask("y")), inner.node("z", ask("z"))
		inner.Edge(flow.START, first)
		inner.Edge(first, x, y)
		inner.Join(z, x, y)
		inner.Edge(z, flow.END)
		outer := shell(t, inner)
		store := flow.NewMemory()
		c := outer.compile(t, flow.WithStore(store), codec)
		res := must(c.Run(t.Context(), "r", trail{}))(t)
		var ids []string
		for _, a := range res.Asks() {
			ids = append(ids, a.ID())
		}
		if diff := cmp.Diff([]string{"r/in/1/x/1/x", "r/in/1/y/1/y"}, ids); diff != "" {
			t.Fatal(diff)
		}
		res = must(c.Resume(t.Context(), "r", flow.Answer(ids[1], "to y")))(t)
		if !res.Paused() || len(res.Asks()) != 1 || inner.ran("y") != 1 {
			t.Fatalf("after one of two answers: %v", res.Asks())
		}
		res = must(c.Resume(t.Context(), "r", flow.Answer(ids[0], "to x")))(t)
		if !res.Paused() || res.Asks()[0].ID() != "r/in/1/z/1/z" {
			t.Fatalf("got %v", res.Asks())
		}
		res = must(c.Resume(t.Context(), "r", flow.Answer("r/in/1/z/1/z", "to z")))(t)
		if diff := cmp.Diff([]string{"before", "(", "first", "x", "y", "z", ")", "after"}, res.State.Path); diff != "" {
			t.Error(diff)
		}
		if inner.ran("first") != 1 || inner.ran("x") != 2 || inner.ran("y") != 2 || inner.ran("z") != 2 || outer.ran("before") != 1 {
			t.Errorf("runs: %v, %v", inner.runs, outer.runs)
		}
		cps := store.History("r")
		if last := string(cps[len(cps)-1].Data); strings.Contains(last, "effects") || strings.Contains(last, "to x") {
			t.Errorf("the inner run was not forgotten: %s", last)
		}
	}
}

func TestNestedFlowFailsAndIsResumed(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	broken := true
	inner.chain(flow.START, inner.node("a", nil), inner.node("b", func(context.Context, trail) error {
		if broken {
			return &errcode.ComponentInvokeError{Component: "rag", Err: errBoom}
		}
		return nil
	}, flow.Retry(3), flow.Backoff(0, 0)), flow.END)
	outer := shell(t, inner)
	c := outer.compile(t, flow.WithStore(flow.NewMemory()))
	_, err := c.Run(t.Context(), "r", trail{})
	ne := nodeError(t, err)
	if ne.Node != "in" || !cmp.Equal(ne.Completed, []string{"before"}) || ne.Retries != 2 || ne.Visit != 1 {
		t.Errorf("outer: %+v", ne)
	}
	if diff := cmp.Diff(trail{Path: []string{"before", "(", "a"}}, ne.Value); diff != "" {
		t.Errorf("the inner state so far: %s", diff)
	}
	in := ne.Inner()
	if in == nil || in.Inner() != nil {
		t.Fatalf("inner failure: %v", in)
	}
	if in.Node != "b" || in.Run != "r/in/1" || in.Flow != "inner" || !cmp.Equal(in.Completed, []string{"a"}) || in.Attempt != 3 {
		t.Errorf("inner: %+v", in)
	}
	e := errcode.Default().Convert(err)
	if e.Code() != errcode.UpstreamUnavailable || e.Reason() != "component_invoke_error" {
		t.Errorf("class: %v", e)
	}
	if !strings.Contains(err.Error(), "run node in: run node b: ") {
		t.Errorf("text: %s", err)
	}
	_, err = c.Resume(t.Context(), "r")
	if ne := nodeError(t, err); ne.Retries != 4 {
		t.Errorf("retries after both: %d", ne.Retries)
	}
	broken = false
	res := must(c.Resume(t.Context(), "r"))(t)
	if inner.ran("a") != 1 || outer.ran("before") != 1 || res.Retries() != 4 {
		t.Errorf("a ran %d times, before %d, %d retries", inner.ran("a"), outer.ran("before"), res.Retries())
	}
}

// TestNestedFlowIsNotRunAgain: the process dies after the inner run has ended
// and before the outer node's output is saved.
func TestNestedFlowIsNotRunAgain(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	inner.chain(flow.START, inner.node("a", nil), inner.node("b", nil), flow.END)
	c := shell(t, inner).compile(t)
	store := flow.NewMemory()
	want := must(c.Run(t.Context(), "r", trail{}, flow.WithStore(store), flow.KeepLast(0)))(t).State
	for _, cp := range store.History("r") {
		a, b := inner.ran("a"), inner.ran("b")
		res, err := c.Resume(t.Context(), "r", flow.WithStore(&seeded{last: cp}))
		if errors.Is(err, flow.ErrFinished) {
			continue
		}
		if err != nil || !cmp.Equal(want, res.State) {
			t.Fatalf("from checkpoint %d: %v, %v", cp.Seq, res.State, err)
		}
		for id, ran := range map[string]int{"a": inner.ran("a") - a, "b": inner.ran("b") - b} {
			done := strings.Contains(string(cp.Data), fmt.Sprintf(`{"node":%q,"out":%q}`, id, id)) || strings.Contains(string(cp.Data), `{"node":"in","out"`)
			if done && ran != 0 || !done && ran != 1 {
				t.Errorf("from checkpoint %d: %s ran %d times: %s", cp.Seq, id, ran, cp.Data)
			}
		}
	}
}

func TestNestedFlowIsCancelled(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	in := make(chan struct{})
	inner.chain(flow.START, inner.node("wait", func(ctx context.Context, _ trail) error {
		close(in)
		<-ctx.Done()
		return context.Cause(ctx)
	}), flow.END)
	c := inner.compile(t)
	outer := newLab("outer")
	nested := flow.Node(outer.Graph, "in", "flow", flow.Nested(c, func(s trail) trail { return s }), func(*trail, trail) {})
	bad := outer.node("bad", func(context.Context, trail) error { <-in; return errBoom })
	outer.Edge(flow.START, nested, bad)
	outer.Edge(nested, flow.END)
	outer.Edge(bad, flow.END)
	_, err := outer.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(flow.NewMemory()))
	if ne := nodeError(t, err); ne.Node != "bad" || !cmp.Equal(ne.Cancelled, []string{"in"}) {
		t.Errorf("got %v, cancelled %v", err, ne.Cancelled)
	}
}

func TestNestedFlowTellsTheOuterHook(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	inner.chain(flow.START, inner.node("a", nil), flow.END)
	var got []string
	_, err := shell(t, inner).compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(flow.NewMemory()), flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.NodeStarted {
			got = append(got, e.Run+":"+e.Node)
		}
		if e.Kind == flow.RunSaved && e.Run != "r" {
			t.Errorf("saved: %q", e.Run)
		}
	}))
	if diff := cmp.Diff([]string{"r:before", "r:in", "r/in/1:a", "r:after"}, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
}

func TestNestedTwiceInOneVisit(t *testing.T) {
	t.Parallel()
	if flow.Nested[trail, trail](nil, func(s trail) trail { return s }) != nil || flow.Nested[trail](chain(t, 1), nil) != nil {
		t.Error("a nested flow of nothing")
	}
	inner := newLab("inner")
	var nested flow.Func[trail, trail]
	inner.chain(flow.START, inner.node("a", func(ctx context.Context, _ trail) error {
		return nil
	}), flow.END)
	nested = flow.Nested(inner.compile(t), func(s trail) trail { return s })
	if _, err := nested(t.Context(), trail{}); !errors.Is(err, flow.ErrNotInNode) {
		t.Errorf("outside of a node: %v", err)
	}
	outer := newLab("outer")
	outer.chain(flow.START, outer.node("x", func(ctx context.Context, s trail) error {
		_, err1 := nested(ctx, s)
		again := flow.Nested(inner.compile(t), func(trail) trail {
			if _, err := nested(ctx, s); err == nil {
				t.Error("two at once")
			}
			return s
		})
		_, err2 := again(ctx, s) // one after the other is one run
		return errors.Join(err1, err2)
	}), flow.END)
	must(outer.compile(t).Run(t.Context(), "r", trail{}))(t)
}

func TestNestedStateThatCannotBeStored(t *testing.T) {
	t.Parallel()
	type bad struct{ C chan int }
	g := flow.New[bad]("inner")
	a := flow.Node(g, "a", "k", func(context.Context, bad) (int, error) { return 1, nil }, func(*bad, int) {})
	g.Edge(flow.START, a)
	g.Edge(a, flow.END)
	inner := compile(t, g)
	outer := newLab("outer")
	in := flow.Node(outer.Graph, "in", "flow", flow.Nested(inner, func(trail) bad { return bad{make(chan int)} }),
		func(s *trail, _ bad) { follow(s, "in") }, flow.NoArtifact())
	outer.chain(flow.START, in, flow.END)
	c := outer.compile(t)
	if res, err := c.Run(t.Context(), "r", trail{}); err != nil || len(res.State.Path) != 1 {
		t.Errorf("without a store: %v", err)
	}
	_, err := c.Run(t.Context(), "r", trail{}, flow.WithStore(flow.NewMemory()))
	var se *flow.StoreError
	var unsupported *json.UnsupportedTypeError
	if ne := nodeError(t, err); ne.Node != "in" || !errors.As(err, &se) || !errors.As(err, &unsupported) {
		t.Errorf("got %v", err)
	}
}
