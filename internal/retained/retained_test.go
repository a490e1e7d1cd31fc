package retained_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/internal/retained"
)

func always(v string) retained.Value { return func() (string, bool) { return v, true } }

func TestKept(t *testing.T) {
	t.Parallel()
	first := retained.New(t.Context(), nil)
	if all := retained.All(first); all != nil {
		t.Errorf("of nothing: %v", all)
	}
	retained.Set(first, "a", always("1"))
	retained.Set(first, "b", always("2"))
	retained.Set(first, "never", func() (string, bool) { return "", false })
	retained.Set(first, "large", always(strings.Repeat("x", retained.MaxBytes+1)))
	all := retained.All(first)
	if diff := cmp.Diff(map[string]any{"a": "1", "b": "2"}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	second := retained.New(t.Context(), map[string]any{retained.Key: all})
	if v, ok := retained.Get(second, "a"); v != "1" || !ok {
		t.Errorf("got %q, %t", v, ok)
	}
	retained.Set(second, "a", always("3"))
	if diff := cmp.Diff(map[string]any{"a": "3", "b": "2"}, retained.All(second)); diff != "" {
		t.Errorf("the second run (-want +got):\n%s", diff)
	}
}

func TestOutsideOfARun(t *testing.T) {
	t.Parallel()
	retained.Set(t.Context(), "a", always("1"))
	if _, ok := retained.Get(context.Background(), "a"); ok || retained.All(t.Context()) != nil {
		t.Error("something was kept")
	}
}
