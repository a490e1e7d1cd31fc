package errcode_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

func TestErrorTextKeepsTheCausePrivate(t *testing.T) {
	t.Parallel()
	e := errcode.New(errcode.NotFound, "gone", errcode.Message("No such account."), errcode.Cause(errors.New("table users, row 4")))
	if got, want := e.Error(), "NOT_FOUND gone: No such account."; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if got := fmt.Sprintf("%v %+v %s", e, e, fmt.Errorf("x: %w", e)); strings.Contains(got, "row 4") {
		t.Errorf("formatting shows the cause: %s", got)
	}
	if got, want := errcode.New(errcode.NotFound, "gone").Error(), "NOT_FOUND gone: "+errcode.NotFound.Text(); got != want {
		t.Errorf("text without a message = %q, want %q", got, want)
	}
}

func TestErrorIsImmutable(t *testing.T) {
	t.Parallel()
	tags := []any{"a", map[string]any{"k": "v"}}
	details := map[string]any{"tags": tags}
	fields := map[string]any{"rule": "r"}
	violations := []errcode.Violation{{Field: "/a", Actual: tags}}
	completed := []string{"one", "two"}
	e := errcode.New(errcode.GuardrailBlocked, "x", errcode.Details(details), errcode.Guardrail("c", fields),
		errcode.Violations(violations...), errcode.InFlow("f", completed...))
	before := mustData(t, e)

	tags[0], details["more"], fields["rule"], violations[0].Field, completed[0] = "changed", 1, "changed", "/changed", "changed"
	scribble(e.Details())
	scribble(e.Guardrail())
	scribble(e.Violations()[0].Actual)
	flow, _ := e.Flow()
	flow.CompletedNodes[0] = "changed"
	_ = e.With(errcode.Detail("tags", "changed"), errcode.Detail("new", 1), errcode.Guardrail("d", nil),
		errcode.Violations(), errcode.Message("changed"), errcode.Retriable(true), errcode.AtNode("n", ""))
	scribble(mustData(t, e).Details)
	scribble(mustData(t, e).Map())

	if diff := cmp.Diff(before, mustData(t, e)); diff != "" {
		t.Errorf("the error changed (-before +after):\n%s", diff)
	}
}

// scribble overwrites everything in a plain tree.
func scribble(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			scribble(x)
			v[k] = "changed"
		}
	case []any:
		for i, x := range v {
			scribble(x)
			v[i] = "changed"
		}
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	e := errcode.New(errcode.RateLimited, "quota", errcode.Detail("a", 1))
	c := e.With(nil, errcode.Retriable(false), errcode.Detail("b", 2), errcode.Source("llm:gpt"))
	if c.Retriable() || !e.Retriable() || c.Source() != "llm:gpt" || c.Code() != errcode.RateLimited {
		t.Errorf("copy %v, original %v", c.LogValue(), e.LogValue())
	}
	if diff := cmp.Diff(map[string]any{"a": 1.0, "b": 2.0}, c.Details()); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestNilError(t *testing.T) {
	t.Parallel()
	var e *errcode.Error
	_, hasDelay := e.RetryAfter()
	_, hasNode := e.Node()
	_, hasFlow := e.Flow()
	if e.Code() != errcode.Internal || e.Retriable() || hasDelay || hasNode || hasFlow ||
		e.Reason()+e.Source()+e.Domain()+e.DomainCode()+e.CorrelationID() != "" ||
		e.Guardrail() != nil || e.Violations() != nil || e.Details() != nil || e.Retried() != 0 || e.Unwrap() != nil {
		t.Error("a nil error has contents")
	}
	if e.Error() == "" || e.Message() == "" || e.LogValue().String() == "" {
		t.Error("a nil error has no text")
	}
	c := e.With(errcode.Message("x"))
	if c.Message() != "x" || c.Code() != errcode.Internal || c.Reason() != "internal_error" {
		t.Errorf("With on nil = %v", c)
	}
}

func TestGuardrailOption(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts []errcode.Option
		want string
	}{
		{"from the category", []errcode.Option{errcode.Guardrail("Hate Speech", nil)}, "guardrail:hate-speech"},
		{"source before", []errcode.Option{errcode.Source("llm:m"), errcode.Guardrail("x", nil)}, "llm:m"},
		{"source after", []errcode.Option{errcode.Guardrail("x", nil), errcode.Source("llm:m")}, "llm:m"},
		{"category without ASCII", []errcode.Option{errcode.Guardrail("혐오", nil)}, "guardrail:policy"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := errcode.New(errcode.GuardrailBlocked, "x", tc.opts...)
			if e.Source() != tc.want || e.Guardrail()["violationCategory"] == nil {
				t.Errorf("source %q, guardrail %v", e.Source(), e.Guardrail())
			}
			mustData(t, e)
		})
	}
}

func TestLogValueTellsEverything(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	e := fullError().With(errcode.Cause(fmt.Errorf("private: %w", errcode.NewPanicError("panic value", []byte("goroutine 7")))))
	log.InfoContext(t.Context(), "failed", "error", errcode.Default().Convert(fmt.Errorf("outer: %w", e)))
	for _, want := range []string{
		"GUARDRAIL_BLOCKED", "pii_in_answer", "personal data", "subject-management", "DOC_005", "0198-abc",
		"check", "business", "intake", "fetch", "parse", "guardrail:personal-data", "score", "/answer/0",
		"documents", "outer: ", "panic value", "goroutine 7", "retry_after", "retried",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, out.String())
		}
	}
}

// longest is what a delay that is too large to count becomes: it must neither be lost nor wrap around.
const longest = math.MaxInt64 / time.Millisecond * time.Millisecond

// TestRetryAfterFields: which header field counts, and that a server's delay is never cut short.
func TestRetryAfterFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"milliseconds", http.Header{"Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{"a fraction of milliseconds", http.Header{"Retry-After-Ms": {"0.5"}}, 500 * time.Microsecond},
		{"of Microsoft", http.Header{"X-Ms-Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{"seconds that round up the milliseconds", http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"1"}}, 250 * time.Millisecond},
		{"seconds that ask for more", http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"60"}}, time.Minute},
		{"milliseconds beyond a duration", http.Header{"Retry-After-Ms": {"10000000000000"}}, longest},
		{"milliseconds beyond any integer", http.Header{"Retry-After-Ms": {"99999999999999999999"}}, longest},
		{"milliseconds that are none", http.Header{"Retry-After-Ms": {"soon"}, "Retry-After": {"60"}}, time.Minute},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := &errcode.HTTPStatusError{StatusCode: 503, Header: tc.header}
			if d, ok := err.RetryAfter(time.Now()); !ok || d != tc.want {
				t.Errorf("got %v, %t, want %v", d, ok, tc.want)
			}
			if c := errcode.Default().Classify(err); c.RetryAfter != tc.want {
				t.Errorf("classified: %v", c.RetryAfter)
			}
		})
	}
}

// TestLongestDelaySurvivesTheTrip: the largest duration was one millisecond shorter on the other side.
func TestLongestDelaySurvivesTheTrip(t *testing.T) {
	t.Parallel()
	sent := mustData(t, errcode.New(errcode.RateLimited, "x", errcode.RetryAfter(math.MaxInt64)))
	if got := mustData(t, sent.Err()); *got.RetryAfterMs != *sent.RetryAfterMs {
		t.Errorf("sent %d, received %d", *sent.RetryAfterMs, *got.RetryAfterMs)
	}
	if d, err := errcode.ParseData(map[string]any{"errorCode": "RATE_LIMITED", "errorReason": "x", "retryAfterMs": 1e30}); err != nil || *d.RetryAfterMs != math.MaxInt64 {
		t.Errorf("a delay that is too large to count: %+v, %v", d.RetryAfterMs, err)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"seconds", "120", 2 * time.Minute, true},
		{"zero", " 0 ", 0, true},
		{"date", "Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second, true},
		{"past date", "Sun, 01 Mar 2026 11:00:00 GMT", 0, true},
		{"negative", "-1", 0, false},
		{"fraction", "1.5", 1500 * time.Millisecond, true},
		{"more than a duration holds", "10000000000", longest, true},
		{"too large", "99999999999999999", longest, true},
		{"beyond any integer", "99999999999999999999999", longest, true},
		{"beyond any float", "1e999", longest, true},
		{"date with a numeric zone", "Sun, 01 Mar 2026 13:00:30 +0100", 30 * time.Second, true},
		{"date in UTC", "Sun, 01 Mar 2026 12:00:30 UTC", 30 * time.Second, true},
		{"RFC 3339", "2026-03-01T12:00:30Z", 30 * time.Second, true},
		{"date in the far future", "Fri, 31 Dec 9999 23:59:59 GMT", longest, true},
		{"infinity", "Inf", 0, false},
		{"not a number", "NaN", 0, false},
		{"hexadecimal", "0x10", 0, false},
		{"words", "soon", 0, false},
		{"empty", "", 0, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, key := range []string{"Retry-After", "retry-after"} {
				e := &errcode.HTTPStatusError{StatusCode: 429, Header: map[string][]string{key: {tc.value}, "RETRY-after": nil}}
				if d, ok := e.RetryAfter(now); d != tc.want || ok != tc.ok {
					t.Errorf("%s: got %v %v, want %v %v", key, d, ok, tc.want, tc.ok)
				}
			}
		})
	}
	var none *errcode.HTTPStatusError
	if _, ok := none.RetryAfter(now); ok {
		t.Error("a nil error has a delay")
	}
}

func TestNamedErrorTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	tests := []struct {
		err     error
		want    string
		unwraps bool
	}{
		{&errcode.GuardrailBlockedError{Category: "c", Err: cause}, "blocked by guardrail: c", true},
		{&errcode.GuardrailBlockedError{}, "blocked by guardrail", false},
		{&errcode.MissingAPIKeyError{Name: "K"}, "missing API key K", false},
		{&errcode.RegistryUnauthorizedError{Registry: "r", Err: cause}, "not authorized at registry r: cause", true},
		{&errcode.RegistryNotFoundError{Registry: "r", Name: "n", Err: cause}, "n not found in registry r: cause", true},
		{&errcode.RegistryTimeoutError{Registry: "r", Err: cause}, "timeout at registry r: cause", true},
		{&errcode.ConfigValidationError{}, "invalid configuration", false},
		{&errcode.ConfigValidationError{Field: "f", Expected: "e", Err: cause}, "invalid f: expected e: cause", true},
		{&errcode.MissingFieldError{Field: "f"}, "missing required field f", false},
		{&errcode.ComponentInvokeError{Component: "c", Err: cause}, "invoke component c: cause", true},
		{&errcode.ComponentLoadError{Component: "c", Err: cause}, "load component c: cause", true},
		{&errcode.HTTPStatusError{StatusCode: 502, Method: "GET", URL: "http://x", Err: cause}, "GET http://x: HTTP 502 Bad Gateway: cause", true},
		{&errcode.MaxToolIterationsError{Limit: 3}, "too many tool iterations (limit 3)", false},
		{&errcode.MaxIterationError{}, "too many iterations", false},
		{&errcode.MergeStrategyError{Key: "k", Err: cause}, "cannot merge k: cause", true},
		{&errcode.RoutingError{Node: "n", Route: "r"}, "no route r from n", false},
		{&errcode.A2AProtocolError{Message: "m", Err: cause}, "m: cause", true},
		{&errcode.A2AProtocolError{}, "A2A protocol error", false},
		{&errcode.ComponentInvokeError{Component: "c", Err: explosiveTextError{}}, "invoke component c", false},
	}
	for _, tc := range tests {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%T: text = %q, want %q", tc.err, got, tc.want)
		}
		if got := errors.Is(tc.err, cause); got != tc.unwraps {
			t.Errorf("%T: unwraps to its cause: %v", tc.err, got)
		}
	}
}

func TestNilNamedErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		(*errcode.GuardrailBlockedError)(nil), (*errcode.MissingAPIKeyError)(nil),
		(*errcode.RegistryUnauthorizedError)(nil), (*errcode.RegistryNotFoundError)(nil),
		(*errcode.RegistryTimeoutError)(nil), (*errcode.ConfigValidationError)(nil),
		(*errcode.MissingFieldError)(nil), (*errcode.ComponentInvokeError)(nil),
		(*errcode.ComponentLoadError)(nil), (*errcode.HTTPStatusError)(nil),
		(*errcode.MaxToolIterationsError)(nil), (*errcode.MaxIterationError)(nil),
		(*errcode.MergeStrategyError)(nil), (*errcode.RoutingError)(nil),
		(*errcode.A2AProtocolError)(nil), (*errcode.PanicError)(nil),
	} {
		if err.Error() == "" || errors.Unwrap(err) != nil {
			t.Errorf("%T: a nil pointer does not behave", err)
		}
		if got := errcode.CodeOf(err); got != errcode.Internal {
			t.Errorf("%T: a nil pointer is %s", err, got)
		}
	}
}

func TestPanicErrorKeepsItsSecret(t *testing.T) {
	t.Parallel()
	stack := []byte("goroutine 1")
	p := errcode.NewPanicError(fmt.Errorf("password=%s", "hunter2"), stack)
	stack[0] = 'X'
	if string(p.Stack()) != "goroutine 1" || p.Value() == nil {
		t.Errorf("value %v, stack %q", p.Value(), p.Stack())
	}
	if strings.Contains(fmt.Sprintf("%v", p), "hunter2") || errors.Unwrap(p) != nil {
		t.Error("the value of a panic is public")
	}
	d := mustData(t, errcode.Default().Convert(fmt.Errorf("node check: %w", p)))
	if d.ErrorReason != "panic" || strings.Contains(d.ErrorMessage, "hunter2") {
		t.Errorf("data = %+v", d)
	}
}
