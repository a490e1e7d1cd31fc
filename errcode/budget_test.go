package errcode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
)

// buildBudget is how many allocations a small data part may take.
const buildBudget = 10

func TestAllocationBudget(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	table := errcode.Default()
	tests := []struct {
		name string
		err  error
		most float64
	}{
		{"own error", wrapped(errcode.New(errcode.NotFound, "x"), 5), 0},
		{"sentinel", wrapped(context.DeadlineExceeded, 5), 0},
		{"unknown", wrapped(errors.New("x"), 5), 0},
		{"named", fmt.Errorf("x: %w", &errcode.ComponentInvokeError{Err: &HTTPQuotaError{}}), 0},
		{"join", errors.Join(errors.New("x"), context.Canceled), 1},
	}
	for _, tc := range tests {
		if got := testing.AllocsPerRun(200, func() { table.Classify(tc.err) }); got > tc.most {
			t.Errorf("%s: %v allocations, budget %v", tc.name, got, tc.most)
		}
	}
	ruled := errcode.NewTable(typedRules()...)
	for _, err := range []error{
		wrapped(&errcode.RegistryNotFoundError{}, 5), wrapped(typeIError{}, 5), wrapped(sentinels[9], 5), wrapped(errors.New("x"), 20),
	} {
		if got := testing.AllocsPerRun(200, func() { ruled.Classify(err) }); got > 0 {
			t.Errorf("%v with ten typed rules: %v allocations, budget 0", err, got)
		}
	}
	small := errcode.New(errcode.NotFound, "account_missing", errcode.Message("No such account."))
	if got := testing.AllocsPerRun(200, func() {
		d, _ := errcode.Builder{}.Data(small)
		_ = d.Map()
	}); got > buildBudget {
		t.Errorf("building the data part: %v allocations, budget %v", got, buildBudget)
	}
	clean := strings.Repeat("nothing to hide, e.g. a basic answer: 42\n", 20)
	if got := testing.AllocsPerRun(200, func() { errcode.Redact(clean) }); got > 0 {
		t.Errorf("redacting clean text: %v allocations, budget 0", got)
	}
}
