package runscope_test

import (
	"testing"

	"github.com/a2aexec/a2aexec/internal/runscope"
)

type name string

func TestScopesDoNotShare(t *testing.T) {
	t.Parallel()
	create := func() *int { return new(int) }
	one, two := runscope.New(t.Context()), runscope.New(t.Context())
	*runscope.Value(one, name("n"), create) = 1
	for what, got := range map[string]struct{ got, want int }{
		"the same scope":  {*runscope.Value(one, name("n"), create), 1},
		"another key":     {*runscope.Value(one, name("m"), create), 0},
		"another type":    {*runscope.Value(one, "n", create), 0},
		"another scope":   {*runscope.Value(two, name("n"), create), 0},
		"without a scope": {*runscope.Value(t.Context(), name("n"), create), 0},
	} {
		if got.got != got.want {
			t.Errorf("%s: got %d, want %d", what, got.got, got.want)
		}
	}
	if runscope.In(t.Context()) || !runscope.In(one) {
		t.Error("In: wrong")
	}
}
