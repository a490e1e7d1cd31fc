package flow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

func TestChainRuns(t *testing.T) {
	t.Parallel()
	res, err := chain(t, 10).Run(t.Context(), "task/chain", counter{})
	if err != nil || res.State.N != 10 {
		t.Fatalf("got %+v, %v", res.State, err)
	}
	want := []string{"n000", "n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008", "n009"}
	if diff := cmp.Diff(want, res.Completed()); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
}

func TestFailureKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	g := flow.New[counter]("loan")
	a := flow.Node(g, "a", "business", flowNode, keep)
	b := flow.Node(g, "b", "llm", func(context.Context, counter) (string, error) { return "half", boom }, func(*counter, string) {})
	g.Edge(flow.START, a)
	g.Edge(a, b)
	g.Edge(b, flow.END)
	res, err := compile(t, g).Run(t.Context(), "run", counter{})
	var ne *flow.NodeError
	if !errors.As(err, &ne) || !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	if ne.Node != "b" || ne.Kind != "llm" || ne.Value != "half" || ne.Step != 2 || ne.Visit != 1 || ne.Attempt != 1 {
		t.Errorf("got %+v", ne)
	}
	if diff := cmp.Diff([]flow.Output{{Node: "a", Kind: "business", Visit: 1, Value: 1}}, ne.Outputs); diff != "" {
		t.Error(diff)
	}
	if res.State.N != 1 {
		t.Errorf("state: %+v", res.State)
	}
}

// TestOwnErrorOfAStoppedNode: a node whose run is stopped is still heard, with
// and without a hook.
func TestOwnErrorOfAStoppedNode(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, opts := range map[string][]flow.RunOption{
		"plain": nil,
		"hook":  {flow.OnEvent(func(context.Context, flow.Event) {})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g := flow.New[counter]("stopped")
			a := flow.Node(g, "a", "business", func(context.Context, counter) (int, error) {
				cancel()
				return 7, boom
			}, keep)
			g.Edge(flow.START, a)
			g.Edge(a, flow.END)
			_, err := compile(t, g).Run(ctx, "run", counter{}, opts...)
			ne := nodeError(t, err)
			if !errors.Is(err, boom) || !errors.Is(err, context.Canceled) || ne.Value != 7 || ne.Attempt != 1 {
				t.Errorf("got %+v", ne)
			}
		})
	}
}
