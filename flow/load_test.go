package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	g := flow.New[[]string]("f")
	add := func(s *[]string, v string) { *s = append(slices.Clip(*s), v) }
	ran := 0
	a := flow.Node(g, "a", "test", func(context.Context, []string) (string, error) { ran++; return "a", nil }, add)
	b := flow.Node(g, "b", "test", func(ctx context.Context, _ []string) (string, error) {
		return hitl.Ask[string](ctx, "q", "Which?")
	}, add)
	g.Edge(flow.START, a)
	g.Edge(a, b)
	g.Edge(b, flow.END)
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	store := flow.WithStore(flow.NewMemory())
	if _, err := c.Load(t.Context(), "r", store); !errors.Is(err, flow.ErrUnknownRun) {
		t.Errorf("an unknown run: got %v", err)
	}
	if _, err := c.Load(t.Context(), "r"); err == nil {
		t.Error("without a store: no error")
	}
	if _, err := c.Run(t.Context(), "r", nil, store); err != nil {
		t.Fatal(err)
	}
	paused, err := c.Load(t.Context(), "r", store)
	if err != nil || !paused.Paused() || len(paused.Asks()) != 1 || !slices.Equal(paused.State, []string{"a"}) {
		t.Fatalf("a paused run: got %v with the questions %v, %v", paused.State, paused.Asks(), err)
	}
	if _, err := c.Resume(t.Context(), "r", store, flow.Answer(paused.Asks()[0].ID(), "x")); err != nil {
		t.Fatal(err)
	}
	done, err := c.Load(t.Context(), "r", store)
	if err != nil || done.Paused() || !slices.Equal(done.State, []string{"a", "x"}) || !slices.Equal(done.Completed(), []string{"a", "b"}) || len(done.Outputs()) != 2 {
		t.Errorf("a finished run: got %v, completed %v, %v", done.State, done.Completed(), err)
	}
	if ran != 1 {
		t.Errorf("the node ran %d times", ran)
	}
}
