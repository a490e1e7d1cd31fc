package tool_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

func TestModelError(t *testing.T) {
	t.Parallel()
	private := errors.New("org-17 has no money")
	for name, c := range map[string]struct {
		model  string
		err    error
		code   errcode.Code
		source string
		after  time.Duration
	}{
		"status":       {"oracle-1", &errcode.HTTPStatusError{StatusCode: http.StatusUnauthorized, Err: private}, errcode.AuthRequired, "llm:oracle-1", 0},
		"unknown":      {"oracle-1", private, errcode.UpstreamUnavailable, "llm:oracle-1", 0},
		"asks to wait": {"oracle-1", errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Minute), errcode.Message("org-17"), errcode.Cause(private)), errcode.RateLimited, "llm:oracle-1", time.Minute},
		"blocked":      {"oracle-1", &errcode.GuardrailBlockedError{Category: "violence", Message: "No."}, errcode.GuardrailBlocked, "guardrail:violence", 0},
		"control":      {" a\x00b\xff ", private, errcode.UpstreamUnavailable, "llm:a_b\uFFFD", 0},
		"no name":      {" ", private, errcode.UpstreamUnavailable, "llm:unnamed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tool.ModelError(t.Context(), c.model, c.err)
			var e *errcode.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			after, _ := e.RetryAfter()
			if e.Code() != c.code || e.Source() != c.source || after != c.after {
				t.Errorf("got %s from %q after %v, want %s from %q after %v", e.Code(), e.Source(), after, c.code, c.source, c.after)
			}
			if strings.Contains(err.Error(), "org-17") {
				t.Errorf("the vendor's text is public: %v", err)
			}
			if !errors.Is(err, c.err) {
				t.Error("the cause is lost")
			}
		})
	}
	if err := tool.ModelError(t.Context(), "oracle-1", nil); err != nil {
		t.Errorf("nil: got %v", err)
	}
}

// TestModelErrorAsksTheTableInTheContext: its rules know the vendor's errors.
func TestModelErrorAsksTheTableInTheContext(t *testing.T) {
	t.Parallel()
	broke := errors.New("out of credit")
	table := errcode.NewTable(errcode.OnError(broke, errcode.RateLimited, "out_of_credit"))
	if err := tool.ModelError(errcode.WithTable(t.Context(), table), "oracle-1", broke); !errcode.Is(err, errcode.RateLimited) {
		t.Errorf("got %v", err)
	}
}

// TestModelErrorOfACancelledCall: whoever cancelled it is told of that, not of a
// failure of the model.
func TestModelErrorOfACancelledCall(t *testing.T) {
	t.Parallel()
	why, failure := errors.New("another call failed"), errors.New("stream closed")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := tool.ModelError(ctx, "oracle-1", failure)
	var e *errcode.Error
	if !errors.Is(err, why) || !errors.Is(err, failure) || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}
