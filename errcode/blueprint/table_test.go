package blueprint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestRowsFromBlueprint reads each row of the chapter's table.
func TestRowsFromBlueprint(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code      blueprint.Code
		statuses  []int
		ours      errcode.Code
		reason    string
		retriable bool
		never     bool
	}{
		{blueprint.ValidationError, []int{400}, errcode.InvalidInput, "validation_error", false, true},
		{blueprint.AuthRequired, []int{401}, errcode.AuthRequired, "auth_required", false, true},
		{blueprint.PermissionDenied, []int{403}, errcode.AuthRequired, "permission_denied", false, true},
		{blueprint.SkillNotFound, []int{404}, errcode.NotFound, "skill_not_found", false, false},
		{blueprint.ExecutionTimeout, []int{408, 504}, errcode.UpstreamTimeout, "execution_timeout", true, false},
		{blueprint.EndpointUnreachable, []int{502, 503}, errcode.UpstreamUnavailable, "endpoint_unreachable", true, false},
		{blueprint.VersionIncompatible, []int{422}, errcode.InvalidInput, "version_incompatible", false, true},
	}
	var all []blueprint.Code
	for _, tc := range cases {
		all = append(all, tc.code)
		if !tc.code.Valid() || tc.code.Never() != tc.never {
			t.Errorf("%s: valid %t, never %t", tc.code, tc.code.Valid(), tc.code.Never())
		}
		for _, status := range tc.statuses {
			body := fmt.Sprintf(`{"error":{"code":%q,"message":"text","details":{},"retry":{"suggested_delay_ms":0,"max_attempts":0}}}`, tc.code)
			e := typed(t, blueprint.FromResponse(response(status, nil, body)))
			if e.Code() != tc.ours || e.Reason() != tc.reason || e.Retriable() != tc.retriable || e.Message() != "text" {
				t.Errorf("%s with %d: got %v, retriable %t", tc.code, status, e, e.Retriable())
			}
			if len(e.Details()) > 0 {
				t.Errorf("%s: details %v", tc.code, e.Details())
			}
			if _, known := e.RetryAfter(); known {
				t.Errorf("%s: a delay that nobody suggested", tc.code)
			}
		}
	}
	if diff := cmp.Diff(all, blueprint.Codes()); diff != "" {
		t.Error(diff)
	}
}

// TestRowsToBlueprint writes each code of package errcode.
func TestRowsToBlueprint(t *testing.T) {
	t.Parallel()
	delay := errcode.RetryAfter(1500 * time.Millisecond)
	cases := []struct {
		name   string
		err    *errcode.Error
		status int
		want   string
	}{
		{
			"INVALID_INPUT", errcode.New(errcode.InvalidInput, "validation_error", errcode.Message("m")), 400,
			`{"error":{"code":"VALIDATION_ERROR","message":"m","details":{}}}`,
		},
		{
			"INVALID_INPUT, another reason", errcode.New(errcode.InvalidInput, "too_long", errcode.Message("m")), 400,
			`{"error":{"code":"VALIDATION_ERROR","message":"m","details":{"application_error":{"errorReason":"too_long"}}}}`,
		},
		{
			"INVALID_INPUT, version", errcode.New(errcode.InvalidInput, "version_incompatible", errcode.Message("m")), 422,
			`{"error":{"code":"VERSION_INCOMPATIBLE","message":"m","details":{}}}`,
		},
		{
			"AUTH_REQUIRED", errcode.New(errcode.AuthRequired, "auth_required", errcode.Message("m")), 401,
			`{"error":{"code":"AUTH_REQUIRED","message":"m","details":{}}}`,
		},
		{
			"AUTH_REQUIRED, permission", errcode.New(errcode.AuthRequired, "permission_denied", errcode.Message("m")), 403,
			`{"error":{"code":"PERMISSION_DENIED","message":"m","details":{}}}`,
		},
		{
			"AUTH_REQUIRED made retriable", errcode.New(errcode.AuthRequired, "auth_required", errcode.Message("m"), errcode.Retriable(true), delay), 401,
			`{"error":{"code":"AUTH_REQUIRED","message":"m","details":{"application_error":{"retriable":true,"retryAfterMs":1500}}}}`,
		},
		{
			"NOT_FOUND", errcode.New(errcode.NotFound, "skill_not_found", errcode.Message("m")), 404,
			`{"error":{"code":"SKILL_NOT_FOUND","message":"m","details":{}}}`,
		},
		{
			"UPSTREAM_TIMEOUT", errcode.New(errcode.UpstreamTimeout, "execution_timeout", errcode.Message("m"), delay), 504,
			`{"error":{"code":"EXECUTION_TIMEOUT","message":"m","details":{},"retry":{"suggested_delay_ms":1500,"max_attempts":0}}}`,
		},
		{
			"UPSTREAM_TIMEOUT made final", errcode.New(errcode.UpstreamTimeout, "execution_timeout", errcode.Message("m"), errcode.Retriable(false)), 504,
			`{"error":{"code":"EXECUTION_TIMEOUT","message":"m","details":{"application_error":{"retriable":false}},"retry":{"suggested_delay_ms":0,"max_attempts":0}}}`,
		},
		{
			"UPSTREAM_UNAVAILABLE", errcode.New(errcode.UpstreamUnavailable, "endpoint_unreachable", errcode.Message("m")), 502,
			`{"error":{"code":"ENDPOINT_UNREACHABLE","message":"m","details":{}}}`,
		},
		{
			"UPSTREAM_UNAVAILABLE with advice", errcode.New(errcode.UpstreamUnavailable, "endpoint_unreachable", errcode.Message("m"), delay, blueprint.MaxAttempts(4)), 503,
			`{"error":{"code":"ENDPOINT_UNREACHABLE","message":"m","details":{},"retry":{"suggested_delay_ms":1500,"max_attempts":4}}}`,
		},
		{
			"UPSTREAM_UNAVAILABLE, at once", errcode.New(errcode.UpstreamUnavailable, "endpoint_unreachable", errcode.Message("m"), errcode.RetryAfter(0)), 502,
			`{"error":{"code":"ENDPOINT_UNREACHABLE","message":"m","details":{"application_error":{"retryAfterMs":0}}}}`,
		},
		{
			"RATE_LIMITED", errcode.New(errcode.RateLimited, "quota", errcode.Message("m")), 503,
			`{"error":{"code":"ENDPOINT_UNREACHABLE","message":"m","details":{"application_error":{"errorCode":"RATE_LIMITED","errorReason":"quota"}}}}`,
		},
		{
			"GUARDRAIL_BLOCKED", errcode.New(errcode.GuardrailBlocked, "pii", errcode.Message("m"), errcode.Guardrail("Personal Data", nil)), 403,
			`{"error":{"code":"PERMISSION_DENIED","message":"m","details":{"application_error":{"errorCode":"GUARDRAIL_BLOCKED","errorReason":"pii",
				"errorSource":"guardrail:personal-data","guardrail":{"violationCategory":"Personal Data"}}}}}`,
		},
		{
			"INTERNAL_ERROR", errcode.New(errcode.Internal, "boom", errcode.Message("m")), 502,
			`{"error":{"code":"ENDPOINT_UNREACHABLE","message":"m","details":{"application_error":{"errorCode":"INTERNAL_ERROR","errorReason":"boom","retriable":false}},
				"retry":{"suggested_delay_ms":0,"max_attempts":0}}}`,
		},
		{
			"collisions", errcode.New(errcode.NotFound, "skill_not_found", errcode.Message("m"),
				errcode.Details(map[string]any{"application_error": 1, "violations": []any{}, "other": nil})), 404,
			`{"error":{"code":"SKILL_NOT_FOUND","message":"m","details":{"other":null,"application_error":{"details":{"application_error":1,"violations":[]}}}}}`,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := envelope(t, tc.err)
			sameJSON(t, marshal(t, env), []byte(tc.want))
			if env.Status() != tc.status {
				t.Errorf("status %d, want %d", env.Status(), tc.status)
			}
		})
	}
}

func TestSeedTimeoutBothWays(t *testing.T) {
	t.Parallel()
	e := errcode.New(errcode.UpstreamTimeout, "execution_timeout",
		errcode.Message("Skill execution exceeded the configured timeout of 30000ms"),
		blueprint.Timeout(30*time.Second, 30001*time.Millisecond),
		blueprint.MaxAttempts(3), errcode.RetryAfter(5*time.Second))
	sameJSON(t, marshal(t, envelope(t, e)), []byte(seedTimeout))

	got := typed(t, blueprint.FromResponse(response(408, nil, seedTimeout)))
	if d, ok := got.RetryAfter(); !ok || d != 5*time.Second || !got.Retriable() {
		t.Errorf("retry after %v, %t", d, ok)
	}
	want := map[string]any{"timeout_ms": 30000.0, "elapsed_ms": 30001.0, "retry_max_attempts": 3.0}
	if diff := cmp.Diff(want, got.Details()); diff != "" {
		t.Error(diff)
	}
}

func TestFromErrorSendsPublicTextOnly(t *testing.T) {
	t.Parallel()
	private := errcode.New(errcode.NotFound, "no_row", errcode.Message("No such skill."),
		errcode.Cause(errors.New("SELECT * FROM skills")), errcode.Detail("token", "abc"))
	table := errcode.NewTable(errcode.When("mine", func(err error) bool { return err.Error() == "quota" },
		errcode.RateLimited, "quota"))
	cases := []struct {
		name   string
		err    error
		code   blueprint.Code
		status int
		text   string
	}{
		{"private cause", fmt.Errorf("db: %w", private), blueprint.SkillNotFound, 404, "No such skill."},
		{"secret in the text", errors.New("password=hunter2"), blueprint.EndpointUnreachable, 502, "password=[redacted]"},
		{"user's rule", errors.New("quota"), blueprint.EndpointUnreachable, 503, "quota"},
		{"deadline", context.DeadlineExceeded, blueprint.ExecutionTimeout, 504, "context deadline exceeded"},
		{"question", hitl.InputRequired("Which?"), blueprint.EndpointUnreachable, 502, "The skill asked for more input, which cannot be given here."},
		{"panic", errcode.NewPanicError("secret", nil), blueprint.EndpointUnreachable, 502, "The agent stopped because of an unexpected fault."},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env, problem := blueprint.FromError(errcode.WithTable(t.Context(), table), tc.err, errcode.Builder{})
			if problem != nil || env.Error.Code != tc.code || env.Status() != tc.status || env.Error.Message != tc.text {
				t.Errorf("got %+v, status %d, problem %v", env, env.Status(), problem)
			}
		})
	}
	env, problem := blueprint.FromError(t.Context(), nil, errcode.Builder{})
	if problem == nil || env.Err().Reason() != "error_data_build_failed" {
		t.Errorf("nil error: got %+v, problem %v", env, problem)
	}
}

func TestForeignEnvelopes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, body string
		code       errcode.Code
		reason     string
		retriable  bool
		details    map[string]any
	}{
		{"unknown code", `{"error":{"code":"QUOTA_EXHAUSTED","message":"m"}}`, errcode.Internal, "quota_exhausted", false, map[string]any{"blueprint_code": "QUOTA_EXHAUSTED"}},
		{"unknown code with advice", `{"error":{"code":"ODD","retry":{"suggested_delay_ms":10,"max_attempts":0}}}`, errcode.Internal, "odd", true, map[string]any{"blueprint_code": "ODD"}},
		{"code beyond ASCII", `{"error":{"code":"ОШИБКА"}}`, errcode.Internal, "unknown_blueprint_code", false, map[string]any{"blueprint_code": "ОШИБКА"}},
		{"a code of errcode", `{"error":{"code":"RATE_LIMITED"}}`, errcode.RateLimited, "rate_limited", true, nil},
		{"advice where there is none by default", `{"error":{"code":"SKILL_NOT_FOUND","retry":{"suggested_delay_ms":10,"max_attempts":0}}}`, errcode.NotFound, "skill_not_found", true, nil},
		{"advice against the table", `{"error":{"code":"AUTH_REQUIRED","retry":{"suggested_delay_ms":10,"max_attempts":0}}}`, errcode.AuthRequired, "auth_required", false, nil},
		{"wrong types", `{"error":{"code":"AUTH_REQUIRED","message":7,"details":[1],"retry":"soon"}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"value": []any{1.0}}},
		{"numbers out of range", `{"error":{"code":"EXECUTION_TIMEOUT","retry":{"suggested_delay_ms":-1,"max_attempts":1.5}}}`, errcode.UpstreamTimeout, "execution_timeout", true, map[string]any{"retry_max_attempts": 1.0}},
		{"numbers beyond int64", `{"error":{"code":"EXECUTION_TIMEOUT","retry":{"suggested_delay_ms":1e300,"max_attempts":1e300}}}`, errcode.UpstreamTimeout, "execution_timeout", true, map[string]any{"retry_max_attempts": float64(math.MaxInt32)}},
		{"numbers beyond any float", `{"error":{"code":"EXECUTION_TIMEOUT","details":{"n":1e999},"retry":{"suggested_delay_ms":1e999}}}`, errcode.UpstreamTimeout, "execution_timeout", true, map[string]any{"n": "1e999"}},
		{"a code of errcode with advice that must not be", `{"error":{"code":"GUARDRAIL_BLOCKED","retry":{"max_attempts":3}}}`, errcode.GuardrailBlocked, "guardrail_blocked", false, map[string]any{"retry_max_attempts": 3.0}},
		{"malformed application error", `{"error":{"code":"AUTH_REQUIRED","details":{"application_error":{"retried":"x"}}}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"application_error": map[string]any{"retried": "x"}}},
		{"application error with details of another type", `{"error":{"code":"AUTH_REQUIRED","details":{"application_error":{"details":"x"}}}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"application_error": map[string]any{"details": "x"}}},
		{"application error of another type", `{"error":{"code":"AUTH_REQUIRED","details":{"application_error":"x"}}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"application_error": "x"}},
		{"guardrail data with another code", `{"error":{"code":"AUTH_REQUIRED","details":{"application_error":{"guardrail":{"a":1}}}}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"application_error": map[string]any{"guardrail": map[string]any{"a": 1.0}}}},
		{"violations of another type", `{"error":{"code":"VALIDATION_ERROR","details":{"violations":[1]}}}`, errcode.InvalidInput, "validation_error", false, map[string]any{"violations": []any{1.0}}},
		{"big integer", `{"error":{"code":"AUTH_REQUIRED","details":{"n":9007199254740993}}}`, errcode.AuthRequired, "auth_required", false, map[string]any{"n": int64(9007199254740993)}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env, err := blueprint.Parse([]byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			var again blueprint.Envelope
			if err := json.Unmarshal([]byte(tc.body), &again); err != nil || !cmp.Equal(env, again) {
				t.Errorf("json.Unmarshal gives %+v, %v; Parse %+v", again, err, env)
			}
			e := env.Err()
			if e.Code() != tc.code || e.Reason() != tc.reason || e.Retriable() != tc.retriable {
				t.Errorf("got %v, retriable %t", e, e.Retriable())
			}
			if diff := cmp.Diff(tc.details, e.Details()); diff != "" {
				t.Error(diff)
			}
			if _, err := (errcode.Builder{}).Data(e); err != nil {
				t.Errorf("cannot be sent on: %v", err)
			}
		})
	}
}

// TestRicherViolations: violations of another server may say more than ours.
func TestRicherViolations(t *testing.T) {
	t.Parallel()
	body := `{"error":{"code":"VALIDATION_ERROR","message":"m","details":{"violations":[{"field":"/a","rule":"R1"}]}}}`
	env, err := blueprint.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{"field": "/a", "rule": "R1"}}
	for range 2 { // the second time after another trip
		e := env.Err()
		if diff := cmp.Diff([]errcode.Violation{{Field: "/a"}}, e.Violations()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(any(want), e.Details()["violations"]); diff != "" {
			t.Error(diff)
		}
		env = envelope(t, e)
	}
}
