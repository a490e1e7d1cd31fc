package flow_test

import (
	"testing"

	"github.com/a2aexec/a2aexec/flow"
)

// TestAllocations: a run costs a handful of allocations, its nodes none, nor
// their checkpoints where the store keeps the last.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	saved := []flow.RunOption{flow.WithStore(flow.NewMemory()), flow.DeleteOnSuccess()}
	for name, c := range map[string]struct {
		nodes  int
		budget float64
		opts   []flow.RunOption
	}{
		"10":         {10, 3, nil},
		"100":        {100, 4, nil},
		"10, saved":  {10, 6, saved},
		"100, saved": {100, 10, saved},
	} {
		chain, ctx := chain(t, c.nodes, c.opts...), t.Context()
		got := testing.AllocsPerRun(100, func() {
			if _, err := chain.Run(ctx, "run", counter{}); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.budget {
			t.Errorf("chain of %s: %v allocations, want at most %v", name, got, c.budget)
		}
	}
}
