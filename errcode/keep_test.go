package errcode_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// A rule took away whatever else the error had to say.
func TestRuleKeepsTheRest(t *testing.T) {
	t.Parallel()
	invalid := validator.New(validator.WithRequiredStructEnabled()).Struct(struct {
		Mail string `validate:"email"`
	}{"x"})
	remote := &a2a.Error{Err: a2a.ErrInvalidParams, Message: "bad", Details: map[string]any{
		"errorCode": "INVALID_INPUT", "errorReason": "r", "errorMessage": "m", "domainCode": "DOC_1", "domain": "desk",
		"violations": []any{map[string]any{"field": "/a"}}, "details": map[string]any{"a": 1, "b": 2},
	}}
	blocked := &errcode.GuardrailBlockedError{Category: "PII", Fields: map[string]any{"rule": "r7"}}
	build := func(err error, rule errcode.Rule) errcode.Data {
		d, problem := errcode.Builder{}.Data(errcode.NewTable(rule).Convert(fmt.Errorf("call: %w", err)))
		if problem != nil {
			t.Error(problem)
		}
		return d
	}
	d := build(invalid, errcode.OnType[validator.ValidationErrors](errcode.InvalidInput, "bad_order"))
	if d.ErrorReason != "bad_order" || len(d.Violations) != 1 {
		t.Errorf("validator: %+v", d)
	}
	d = build(blocked, errcode.OnType[*errcode.GuardrailBlockedError](errcode.GuardrailBlocked, "policy"))
	if d.ErrorReason != "policy" || d.Guardrail["violationCategory"] != "PII" || d.Guardrail["rule"] != "r7" || d.ErrorSource != "guardrail:pii" {
		t.Errorf("guardrail: %+v", d)
	}
	d = build(blocked, errcode.OnType[*errcode.GuardrailBlockedError](errcode.InvalidInput, "policy", errcode.Source("internal:x")))
	if d.ErrorCode != errcode.InvalidInput || d.Guardrail != nil || d.ErrorSource != "internal:x" {
		t.Errorf("guardrail as another code: %+v", d)
	}
	d = build(remote, errcode.OnType[*a2a.Error](errcode.UpstreamUnavailable, "remote_down", errcode.Detail("b", 3), errcode.Retriable(false)))
	want := errcode.Data{
		ErrorCode: errcode.UpstreamUnavailable, ErrorReason: "remote_down", ErrorMessage: "m", DomainCode: "DOC_1", Domain: "desk",
		Violations: []errcode.Violation{{Field: "/a"}}, Details: map[string]any{"a": 1.0, "b": 3.0},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("carried error (-want +got):\n%s", diff)
	}
	rules := errcode.NewTable(errcode.OnError(io.EOF, errcode.RateLimited, "x", errcode.RetryAfter(time.Second)))
	if row := rules.Rows()[0]; row.RetryAfter != time.Second {
		t.Errorf("the list says %+v", row)
	}
}

// Nobody should read "<nil>".
func TestTypedNilHasAGeneralText(t *testing.T) {
	t.Parallel()
	var none *errcode.Error
	var status *errcode.HTTPStatusError
	for _, err := range []error{none, status} {
		e := errcode.Default().Convert(err)
		if e.Code() != errcode.Internal || e.Message() != errcode.Internal.Text() {
			t.Errorf("%T: %v", err, e)
		}
	}
}
