package flowtest

import (
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
)

// TestStoresThatForgetAreFound: what is in memory does not outlive the store.
func TestStoresThatForgetAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range durableChecks {
		kept := flow.NewMemory()
		if err := c.fn(t.Context(), func() (*probe, error) { return &probe{Store: kept}, nil }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		err := c.fn(t.Context(), func() (*probe, error) { return &probe{Store: flow.NewMemory()}, nil })
		if err == nil || !strings.Contains(err.Error(), "opened 2 times") {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
