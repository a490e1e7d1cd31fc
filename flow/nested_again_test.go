package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// each makes a flow whose node runs inner once for each of the names, and puts
// the paths behind each other.
func each(t *testing.T, inner func(i int) *flow.Compiled[trail], names ...string) *lab {
	t.Helper()
	outer := newLab("outer")
	in := flow.Node(outer.Graph, "each", "flow", func(ctx context.Context, s trail) ([]string, error) {
		var all []string
		for i, name := range names {
			got, err := flow.Nested(inner(i), func(trail) trail { return trail{Path: []string{name}} })(ctx, s)
			all = append(all, got.Path...)
			if err != nil {
				return all, err
			}
		}
		return all, nil
	}, func(s *trail, v []string) { s.Path = append(slices.Clip(s.Path), v...) })
	outer.chain(flow.START, in, flow.END)
	return outer
}

// TestNestedAgainIsAnotherRun: with a store the second call in a visit gave the
// result of the first.
func TestNestedAgainIsAnotherRun(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(flow.NewMemory())}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := newLab("one"), newLab("two")
			one.chain(flow.START, one.node("a", nil), flow.END)
			two.chain(flow.START, two.node("b", nil), flow.END)
			flows := []*flow.Compiled[trail]{one.compile(t), two.compile(t), one.compile(t)}
			outer := each(t, func(i int) *flow.Compiled[trail] { return flows[i] }, "x", "y", "z")
			res := must(outer.compile(t).Run(t.Context(), "r", trail{}, opts...))(t)
			if diff := cmp.Diff([]string{"x", "a", "y", "b", "z", "a"}, res.State.Path); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNestedAgainAsks: each of a visit's nested runs has questions of its own,
// and none that is over runs again.
func TestNestedAgainAsks(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	ask := flow.Node(inner.Graph, "ask", "form", func(ctx context.Context, _ trail) (string, error) {
		return hitl.Ask[string](ctx, "q", "Q?")
	}, follow)
	inner.chain(flow.START, inner.node("a", nil), ask, flow.END)
	in := inner.compile(t)
	outer := each(t, func(int) *flow.Compiled[trail] { return in }, "x", "y").compile(t)
	store := flow.WithStore(flow.NewMemory())
	res := must(outer.Run(t.Context(), "r", trail{}, store))(t)
	for _, want := range []string{"r/each/1/ask/1/q", "r/each/1//2/ask/1/q"} {
		if len(res.Asks()) != 1 || res.Asks()[0].ID() != want {
			t.Fatalf("asks %v, want %s", res.Asks(), want)
		}
		res = must(outer.Resume(t.Context(), "r", store, flow.Answer(want, "about "+want[len("r/each/1"):])))(t)
	}
	if diff := cmp.Diff([]string{"x", "a", "about /ask/1/q", "y", "a", "about //2/ask/1/q"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
	if inner.ran("a") != 2 {
		t.Errorf("the inner node ran %d times", inner.ran("a"))
	}
}

// TestNestedInAnotherOrderIsRefused: a node that does not repeat its calls says so,
// not what is in a checkpoint.
func TestNestedInAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	one, two := newLab("one"), newLab("two")
	one.chain(flow.START, one.node("a", nil), flow.END)
	two.chain(flow.START, two.node("b", fails), flow.END)
	flows := []*flow.Compiled[trail]{one.compile(t), two.compile(t)}
	outer := each(t, func(i int) *flow.Compiled[trail] { return flows[i] }, "x", "y").compile(t)
	store := flow.WithStore(flow.NewMemory())
	_, err := outer.Run(t.Context(), "r", trail{}, store)
	if e := nodeError(t, err); e.Inner() == nil || e.Inner().Node != "b" {
		t.Errorf("the inner failure of the second run: %v", e.Inner())
	}
	slices.Reverse(flows)
	_, err = outer.Resume(t.Context(), "r", store)
	if err == nil || !strings.Contains(err.Error(), `nested run 1 of this visit was one of flow "one" before, and now is one of "two"`) {
		t.Errorf("got %v", err)
	}
}

// TestNestedRetriesAreCounted: without a store the retries of the runs that
// were given up were subtracted.
func TestNestedRetriesAreCounted(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(flow.NewMemory())}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner, outer := newLab("inner"), newLab("outer")
			inner.chain(flow.START, inner.node("a", func(context.Context, trail) error {
				if inner.ran("a") < 4 {
					return &errcode.ComponentInvokeError{Component: "x"}
				}
				return nil
			}, flow.Retry(2), flow.Backoff(time.Nanosecond, time.Nanosecond)), flow.END)
			in := flow.Node(outer.Graph, "in", "flow", flow.Nested(inner.compile(t), func(s trail) trail { return s }),
				func(s *trail, v trail) { *s = v }, flow.Retry(3), flow.Backoff(time.Nanosecond, time.Nanosecond))
			outer.chain(flow.START, in, flow.END)
			res := must(outer.compile(t).Run(t.Context(), "r", trail{}, opts...))(t)
			if res.Retries() != 3 { // two within, one around
				t.Errorf("%d retries, want 3", res.Retries())
			}
		})
	}
}
