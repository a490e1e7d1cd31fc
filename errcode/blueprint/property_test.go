package blueprint_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

var names = rapid.SampledFrom([]string{
	"violations", "application_error", "retry_max_attempts", "blueprint_code", "timeout_ms",
	"details", "errorCode", "value", "a", "б", "",
})

func jsonValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Int64().AsAny(), rapid.IntRange(-3, 3).AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(jsonValue(depth-1), 0, 3).AsAny(),
		rapid.MapOfN(names, jsonValue(depth-1), 0, 3).AsAny())...)
}

// drawError makes an error with any code and any extras.
func drawError(t *rapid.T) *errcode.Error {
	code := rapid.SampledFrom(errcode.Codes()).Draw(t, "code")
	reason := rapid.SampledFrom([]string{
		"x", "validation_error", "auth_required", "permission_denied", "skill_not_found",
		"execution_timeout", "endpoint_unreachable", "version_incompatible",
	}).Draw(t, "reason")
	text := rapid.StringN(0, 20, 40)
	extras := map[string]func() errcode.Option{
		"message":   func() errcode.Option { return errcode.Message(text.Draw(t, "text")) },
		"retriable": func() errcode.Option { return errcode.Retriable(rapid.Bool().Draw(t, "yes")) },
		"after": func() errcode.Option {
			return errcode.RetryAfter(time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "ns")))
		},
		"attempts": func() errcode.Option { return blueprint.MaxAttempts(rapid.IntRange(-1, 1<<40).Draw(t, "n")) },
		"retried":  func() errcode.Option { return errcode.Retried(rapid.IntRange(0, 9).Draw(t, "n")) },
		"source":   func() errcode.Option { return errcode.Source("mcp:MCP-001/check") },
		"domain":   func() errcode.Option { return errcode.Domain("subject-management") },
		"own code": func() errcode.Option { return errcode.DomainCode("DOC_005") },
		"node":     func() errcode.Option { return errcode.AtNode(text.Draw(t, "id"), text.Draw(t, "kind")) },
		"flow": func() errcode.Option {
			return errcode.InFlow("intake", rapid.SliceOfN(text, 0, 3).Draw(t, "done")...)
		},
		"id": func() errcode.Option { return errcode.CorrelationID("0198-abc") },
		"violations": func() errcode.Option {
			return errcode.Violations(errcode.Violation{
				Field: text.Draw(t, "field"), Expected: text.Draw(t, "expected"),
				Actual: jsonValue(2).Draw(t, "actual"), Message: text.Draw(t, "message"),
			}, errcode.Violation{})
		},
		"timeout": func() errcode.Option { return blueprint.Timeout(time.Minute, time.Hour) },
		"details": func() errcode.Option {
			return errcode.Details(rapid.MapOfN(names, jsonValue(3), 0, 5).Draw(t, "details"))
		},
		"guardrail": func() errcode.Option {
			if code != errcode.GuardrailBlocked {
				return nil
			}
			return errcode.Guardrail("PII", rapid.MapOfN(names, jsonValue(2), 0, 3).Draw(t, "guardrail"))
		},
	}
	e := errcode.New(code, reason)
	for _, name := range sortedKeys(extras) {
		if rapid.Bool().Draw(t, name) {
			e = e.With(extras[name]())
		}
	}
	return e
}

func TestPropertyRoundTripLosesNothing(t *testing.T) {
	t.Parallel()
	asIs := errcode.Builder{Redact: func(s string) string { return s }}
	rapid.Check(t, func(t *rapid.T) {
		sent, err := errcode.Builder{}.Data(drawError(t))
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(blueprint.FromData(sent))
		if err != nil {
			t.Fatal(err)
		}
		env, err := blueprint.Parse(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if !env.Error.Code.Valid() || env.Status() < 400 || env.Status() > 504 {
			t.Fatalf("code %s, status %d", env.Error.Code, env.Status())
		}
		got, err := asIs.Data(env.Err())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Fatalf("lost on the way (-sent +received):\n%s\n%s", diff, body)
		}
		if again := blueprint.FromData(got); !cmp.Equal(env, again) {
			t.Fatalf("the second envelope differs:\n%s", cmp.Diff(env, again))
		}
	})
}

// TestPropertyTripOverHTTPLosesNothing: neither the status nor the header changes what the envelope says.
func TestPropertyTripOverHTTPLosesNothing(t *testing.T) {
	t.Parallel()
	asIs := errcode.Builder{Redact: func(s string) string { return s }}
	rapid.Check(t, func(t *rapid.T) {
		e := drawError(t).With(errcode.CorrelationID("0198-abc"))
		sent, err := errcode.Builder{}.Data(e)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/skills", http.NoBody)
		blueprint.Handler(func(http.ResponseWriter, *http.Request) error { return e }).ServeHTTP(w, r)
		resp := w.Result()
		got, err := asIs.Data(errcode.Default().Convert(blueprint.FromResponse(resp)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Fatalf("lost on the way (-sent +received):\n%s\nstatus %d, header %v", diff, resp.StatusCode, resp.Header)
		}
	})
}
