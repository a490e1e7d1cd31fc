package blueprint_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

// The two envelopes that the chapter shows (BLUEPRINT 9.4).
const (
	seedValidation = `{
  "error": {
    "code": "VALIDATION_ERROR",
    "message": "Skill descriptor validation failed",
    "details": {
      "violations": [
        { "field": "/capability_type", "expected": "one of: plugin, api, knowledge, task", "actual": "unknown_type", "message": "Invalid enum value" },
        { "field": "/endpoint/url", "expected": "string (URI format)", "actual": null, "message": "Required field is missing" }
      ]
    }
  }
}`
	seedTimeout = `{
  "error": {
    "code": "EXECUTION_TIMEOUT",
    "message": "Skill execution exceeded the configured timeout of 30000ms",
    "details": { "timeout_ms": 30000, "elapsed_ms": 30001 },
    "retry": { "suggested_delay_ms": 5000, "max_attempts": 3 }
  }
}`
)

// sameJSON compares two JSON texts.
func sameJSON(t *testing.T, got, want []byte) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("JSON differs (-want +got):\n%s", diff)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typed(t *testing.T, err error) *errcode.Error {
	t.Helper()
	var e *errcode.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *errcode.Error", err)
	}
	return e
}

// envelope is that of an error, with what the default builder makes public.
func envelope(t *testing.T, err error) blueprint.Envelope {
	t.Helper()
	env, problem := blueprint.FromError(t.Context(), err, errcode.Builder{})
	if problem != nil {
		t.Fatal(problem)
	}
	return env
}

func response(status int, header http.Header, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: header, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
