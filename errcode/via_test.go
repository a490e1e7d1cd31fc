package errcode_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// TestVia: what passes a failure on is its source; where it was before is kept,
// the innermost place only.
func TestVia(t *testing.T) {
	t.Parallel()
	inner := errcode.New(errcode.RateLimited, "quota", errcode.Source("llm:gpt/x"), errcode.AtNode("n", "llm"),
		errcode.InFlow("f", "a", "b"), errcode.Detail("limit", 3))
	origin := map[string]any{
		"source": "llm:gpt/x", "node": map[string]any{"id": "n", "kind": "llm"},
		"flow": map[string]any{"id": "f", "completedNodes": []any{"a", "b"}},
	}
	once := inner.With(errcode.Via("http:c/back"))
	twice := once.With(errcode.Via("http:b/middle"))
	for _, tc := range []struct {
		name    string
		got     *errcode.Error
		source  string
		details map[string]any
	}{
		{"once", once, "http:c/back", map[string]any{"limit": 3.0, "origin": origin}},
		{"twice", twice, "http:b/middle", map[string]any{"limit": 3.0, "origin": origin}},
		{"the same again", errcode.New(errcode.Internal, "x").With(errcode.Via("http:c"), errcode.Via("http:c")), "http:c", nil},
		{"from nowhere", errcode.New(errcode.Internal, "x").With(errcode.Via("http:c")), "http:c", nil},
	} {
		if tc.got.Source() != tc.source {
			t.Errorf("%s: source %q", tc.name, tc.got.Source())
		}
		if diff := cmp.Diff(tc.details, tc.got.Details()); diff != "" {
			t.Errorf("%s: details (-want +got):\n%s", tc.name, diff)
		}
		if _, ok := tc.got.Node(); ok {
			t.Errorf("%s: the node of another's flow stays", tc.name)
		}
		if _, ok := tc.got.Flow(); ok {
			t.Errorf("%s: another's flow stays", tc.name)
		}
	}
	if _, ok := inner.Node(); !ok || inner.Source() != "llm:gpt/x" {
		t.Error("the error itself was changed")
	}
}
