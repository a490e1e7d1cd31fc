package errcode_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2aexec/a2aexec/errcode"
)

func always(error) bool { return true }

func TestRulesComeFirst(t *testing.T) {
	t.Parallel()
	noRows := func(err error) bool { return errors.Is(err, sql.ErrNoRows) }
	table := errcode.NewTable(
		errcode.Rule{},
		errcode.When("nothing", nil, errcode.NotFound, "nil_match"),
		errcode.When("panics", func(error) bool { panic("boom") }, errcode.NotFound, "panicked"),
		errcode.When("no rows", noRows, errcode.NotFound, "record_missing",
			errcode.Message("No such record."), errcode.Source("db:accounts"), errcode.RetryAfter(time.Second)),
		errcode.When("no rows again", noRows, errcode.InvalidInput, "second"),
		errcode.When("deadline", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
			errcode.UpstreamUnavailable, "", errcode.Retriable(false)),
	)
	noRowsErr := fmt.Errorf("load: %w", &errcode.ComponentInvokeError{Err: sql.ErrNoRows})
	tests := []struct {
		name string
		err  error
		want errcode.Class
	}{
		{"first matching rule", noRowsErr, errcode.Class{
			Code: errcode.NotFound, Reason: "record_missing", Source: "db:accounts",
			RetryAfter: time.Second, HasRetryAfter: true,
		}},
		{
			"rule without a reason", get(context.DeadlineExceeded),
			errcode.Class{Code: errcode.UpstreamUnavailable, Reason: "url_error"},
		},
		{
			"rule without a reason or a type", context.DeadlineExceeded,
			errcode.Class{Code: errcode.UpstreamUnavailable, Reason: "deadline_exceeded_error"},
		},
		{"no rule", status(404), class(errcode.NotFound, "http_status_error")},
		{
			"bypassed by an application error",
			errors.Join(errcode.New(errcode.RateLimited, "quota"), sql.ErrNoRows),
			class(errcode.RateLimited, "quota"),
		},
		{
			"not bypassed when another error decides",
			errors.Join(status(404), errcode.New(errcode.RateLimited, "quota"), sql.ErrNoRows),
			errcode.Class{
				Code: errcode.NotFound, Reason: "record_missing", Source: "db:accounts",
				RetryAfter: time.Second, HasRetryAfter: true,
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, table.Classify(tc.err)); diff != "" {
				t.Errorf("class (-want +got):\n%s", diff)
			}
			e := table.Convert(tc.err)
			got := errcode.Class{Code: e.Code(), Reason: e.Reason(), Retriable: e.Retriable(), Source: e.Source()}
			got.RetryAfter, got.HasRetryAfter = e.RetryAfter()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("converted error (-want +got):\n%s", diff)
			}
			if !errors.Is(e, tc.err) {
				t.Error("the cause is not the original error")
			}
		})
	}
	if e := table.Convert(noRowsErr); e.Message() != "No such record." {
		t.Errorf("message = %q, want the rule's", e.Message())
	}
}

func TestRulesAreCopied(t *testing.T) {
	t.Parallel()
	rules := []errcode.Rule{errcode.When("all", always, errcode.NotFound, "x")}
	table := errcode.NewTable(rules...)
	rules[0] = errcode.When("all", always, errcode.RateLimited, "y")
	if got := table.Classify(errors.New("x")).Code; got != errcode.NotFound {
		t.Errorf("code = %s: the table shares its rules with the caller", got)
	}
}

func TestTableInContext(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if errcode.TableFrom(ctx) != errcode.Default() {
		t.Error("no default table")
	}
	table := errcode.NewTable()
	ctx = errcode.WithTable(ctx, table)
	if errcode.TableFrom(ctx) != table {
		t.Error("the table was not found")
	}
	if errcode.TableFrom(errcode.WithTable(ctx, nil)) != errcode.Default() {
		t.Error("a nil table does not stand for the default")
	}
	var none *errcode.Table
	if got := none.Classify(status(404)).Code; got != errcode.NotFound {
		t.Errorf("a nil table gives %s", got)
	}
}

// nodeFailureError is what a flow's error looks like to this package.
type nodeFailureError struct{ err error }

func (nodeFailureError) Error() string                { return "node check failed" }
func (n nodeFailureError) Unwrap() error              { return n.err }
func (nodeFailureError) ErrorNode() (id, kind string) { return "check", "llm" }
func (nodeFailureError) ErrorFlow() (id string, c []string) {
	return "intake", []string{"fetch", "fetch"}
}

func TestConvertTakesThePlaceFromAFlow(t *testing.T) {
	t.Parallel()
	limited := errcode.New(errcode.RateLimited, "quota")
	here := errcode.New(errcode.RateLimited, "quota", errcode.AtNode("mine", ""))
	check := errcode.Node{ID: "check", Kind: "llm"}
	tests := []struct {
		name   string
		err    error
		reason string
		node   errcode.Node
		has    bool
	}{
		{"plain cause", nodeFailureError{errors.New("x")}, "internal_error", check, true},
		{"named cause", nodeFailureError{&HTTPQuotaError{}}, "http_quota_error", check, true},
		{"cause with a row", fmt.Errorf("x: %w", nodeFailureError{status(404)}), "http_status_error", check, true},
		{"application error", nodeFailureError{limited}, "quota", check, true},
		{"application error with a node", nodeFailureError{here}, "quota", errcode.Node{ID: "mine"}, true},
		{"above the decider", errors.Join(errors.New("x"), nodeFailureError{limited}), "quota", check, true},
		{"below the decider", &errcode.RegistryTimeoutError{Err: nodeFailureError{nil}}, "registry_timeout_error", errcode.Node{}, false},
		{"beside the decider", errors.Join(nodeFailureError{errors.New("x")}, limited), "quota", errcode.Node{}, false},
		{"nobody decides", errors.Join(nodeFailureError{errors.New("x")}, errors.New("y")), "internal_error", check, true},
		{"below a carrier", &errcode.ComponentInvokeError{Err: nodeFailureError{errors.New("x")}}, "component_invoke_error", check, true},
		{"panicking", explosive{}, "internal_error", errcode.Node{}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := errcode.Default().Convert(tc.err)
			node, has := e.Node()
			if node != tc.node || has != tc.has || e.Reason() != tc.reason {
				t.Errorf("got %v %v %s, want %v %v %s", node, has, e.Reason(), tc.node, tc.has, tc.reason)
			}
			if !has || tc.name == "panicking" {
				return
			}
			flow, _ := e.Flow()
			if diff := cmp.Diff(errcode.Flow{ID: "intake", CompletedNodes: []string{"fetch"}}, flow); diff != "" {
				t.Errorf("flow (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	table := errcode.Default()
	if table.Convert(nil) != nil {
		t.Error("nil became an error")
	}
	own := fullError()
	if table.Convert(own) != own {
		t.Error("an application error is not returned as it is")
	}
	wrappedOwn := fmt.Errorf("private prefix: %w", own)
	e := table.Convert(wrappedOwn)
	if e == own || !errors.Is(e, wrappedOwn) {
		t.Error("the wrapped error is not the cause")
	}
	opts := cmp.Options{cmpopts.IgnoreFields(errcode.Data{}, "CorrelationID")}
	if diff := cmp.Diff(mustData(t, own), mustData(t, e), opts); diff != "" {
		t.Errorf("an application error lost something by being wrapped (-want +got):\n%s", diff)
	}
	if got := errors.Unwrap(own).Error(); got != "private: rule 17 of tenant 4" {
		t.Errorf("the original was edited: its cause is %q", got)
	}
	e = table.Convert(fmt.Errorf("look up: %w", status(404)))
	if e.Message() != "look up: HTTP 404 Not Found" {
		t.Errorf("message = %q", e.Message())
	}
	var target *errcode.HTTPStatusError
	if !errors.As(e, &target) {
		t.Error("errors.As does not reach the original")
	}
	if e := table.Convert(errors.New("")); e.Message() != errcode.Internal.Text() {
		t.Errorf("message of an empty text = %q", e.Message())
	}
}

func TestConvertDerivesData(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want []errcode.Violation
	}{
		{"missing field", &errcode.MissingFieldError{Field: "user.name"}, []errcode.Violation{
			{Field: "/user/name", Expected: "a value", Message: "missing required field"},
		}},
		{"config", &errcode.ConfigValidationError{Field: "/a~1b", Expected: "a URI", Message: "no scheme"}, []errcode.Violation{
			{Field: "/a~1b", Expected: "a URI", Message: "no scheme"},
		}},
		{"validator", fmt.Errorf("x: %w", validationErrors(t)), []errcode.Violation{
			{Field: "/Name", Expected: "required", Actual: ""},
			{Field: "/Items/0/Price", Expected: "gte=1", Actual: -3.0},
			{Field: "/Password", Expected: "min=8", Actual: "hunter2"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := errcode.Default().Convert(tc.err)
			var opts cmp.Options
			if tc.name == "validator" {
				opts = append(opts, cmpopts.IgnoreFields(errcode.Violation{}, "Message"))
			}
			if diff := cmp.Diff(tc.want, e.Violations(), opts); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	if got := mustData(t, errcode.Default().Convert(validationErrors(t))).Violations[2].Actual; got != "[redacted]" {
		t.Errorf("a password crosses the wire as %v", got)
	}
	e := errcode.Default().Convert(&errcode.GuardrailBlockedError{
		Category: "Self Harm", Message: "Blocked.", Fields: map[string]any{"score": 1},
	})
	want := map[string]any{"violationCategory": "Self Harm", "score": 1.0}
	if diff := cmp.Diff(want, e.Guardrail()); diff != "" {
		t.Errorf("guardrail (-want +got):\n%s", diff)
	}
	if e.Source() != "guardrail:self-harm" || e.Message() != "Blocked." {
		t.Errorf("source %q, message %q", e.Source(), e.Message())
	}
}
