package flow_test

import "testing"

// TestAllocations: a run costs a handful of allocations, its nodes none.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for n, budget := range map[int]float64{10: 3, 100: 4} {
		c, ctx := chain(t, n), t.Context()
		got := testing.AllocsPerRun(100, func() {
			if _, err := c.Run(ctx, "run", counter{}); err != nil {
				t.Fatal(err)
			}
		})
		if got > budget {
			t.Errorf("chain of %d: %v allocations, want at most %v", n, got, budget)
		}
	}
}
