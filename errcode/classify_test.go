package errcode_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// class is the class with the code's own retriable flag.
func class(code errcode.Code, reason string) errcode.Class {
	return errcode.Class{Code: code, Reason: reason, Retriable: code.Retriable()}
}

func sysError(n syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", n)}
}

func get(err error) error { return &url.Error{Op: "Get", URL: "http://bank.example", Err: err} }

func status(code int) error { return &errcode.HTTPStatusError{StatusCode: code} }

func validationErrors(t *testing.T) error {
	t.Helper()
	type order struct {
		Name  string `validate:"required"`
		Items []struct {
			Price int `validate:"gte=1"`
		} `validate:"dive"`
		Password string `validate:"min=8"`
	}
	o := order{Password: "hunter2"}
	o.Items = append(o.Items, struct {
		Price int `validate:"gte=1"`
	}{-3})
	return validator.New().Struct(o)
}

// OpenAI-like type names for reasons.
type (
	Error               struct{}
	HTTPQuotaError      struct{}
	boxError[T any]     struct{ _ T }
	s3APIError          struct{}
	ОшибкаError         struct{}
	timeoutWrapError    struct{ error }
	claimsDeadlineError struct{}
)

func (Error) Error() string                      { return "e" }
func (*HTTPQuotaError) Error() string            { return "e" }
func (boxError[T]) Error() string                { return "e" }
func (s3APIError) Error() string                 { return "e" }
func (ОшибкаError) Error() string                { return "e" }
func (timeoutWrapError) Timeout() bool           { return true }
func (claimsDeadlineError) Error() string        { return "late" }
func (claimsDeadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

func TestClassifyTable(t *testing.T) {
	t.Parallel()
	retryAfter := class(errcode.RateLimited, "http_status_error")
	retryAfter.RetryAfter, retryAfter.HasRetryAfter = 7*time.Second, true
	unavailable7 := class(errcode.UpstreamUnavailable, "http_status_error")
	unavailable7.RetryAfter, unavailable7.HasRetryAfter = 7*time.Second, true
	seven := http.Header{"Retry-After": {"7"}}
	own := errcode.Class{
		Code: errcode.NotFound, Reason: "gone", Retriable: true,
		RetryAfter: time.Second, HasRetryAfter: true, Source: "db:accounts",
	}

	tests := []struct {
		name string
		err  error
		want errcode.Class
	}{
		{"nil", nil, errcode.Class{}},
		{"application error", errcode.New(errcode.NotFound, "gone", errcode.Retriable(true),
			errcode.RetryAfter(time.Second), errcode.Source("db:accounts")), own},
		{
			"application error with an unknown code", errcode.New("TEAPOT", "short_and_stout"),
			class(errcode.Internal, "short_and_stout"),
		},
		{"guardrail", &errcode.GuardrailBlockedError{Category: "x"}, class(errcode.GuardrailBlocked, "guardrail_blocked_error")},
		{"missing API key", &errcode.MissingAPIKeyError{Name: "K"}, class(errcode.AuthRequired, "missing_api_key_error")},
		{"registry unauthorized", &errcode.RegistryUnauthorizedError{}, class(errcode.AuthRequired, "registry_unauthorized_error")},
		{"config", &errcode.ConfigValidationError{}, class(errcode.InvalidInput, "config_validation_error")},
		{"missing field", &errcode.MissingFieldError{}, class(errcode.InvalidInput, "missing_field_error")},
		{"validator", validationErrors(t), class(errcode.InvalidInput, "validation_errors")},
		{"registry not found", &errcode.RegistryNotFoundError{}, class(errcode.NotFound, "registry_not_found_error")},
		{"registry timeout", &errcode.RegistryTimeoutError{}, class(errcode.UpstreamTimeout, "registry_timeout_error")},
		{"deadline", context.DeadlineExceeded, class(errcode.UpstreamTimeout, "deadline_exceeded")},
		{"os deadline", os.ErrDeadlineExceeded, class(errcode.UpstreamTimeout, "deadline_exceeded")},
		{"says that it is a deadline", claimsDeadlineError{}, class(errcode.UpstreamTimeout, "deadline_exceeded")},
		{"deadline under a URL", get(context.DeadlineExceeded), class(errcode.UpstreamTimeout, "deadline_exceeded")},
		{"ETIMEDOUT", sysError(syscall.ETIMEDOUT), class(errcode.UpstreamTimeout, "network_timeout")},
		{"DNS timeout", &net.DNSError{IsTimeout: true}, class(errcode.UpstreamTimeout, "network_timeout")},
		{"Timeout method", timeoutWrapError{errors.New("x")}, class(errcode.UpstreamTimeout, "network_timeout")},
		{"invoke", &errcode.ComponentInvokeError{}, class(errcode.UpstreamUnavailable, "component_invoke_error")},
		{"load", &errcode.ComponentLoadError{Err: errors.New("x")}, class(errcode.UpstreamUnavailable, "component_load_error")},
		{"ECONNREFUSED", get(sysError(syscall.ECONNREFUSED)), class(errcode.UpstreamUnavailable, "connection_refused")},
		{"ECONNRESET", sysError(syscall.ECONNRESET), class(errcode.UpstreamUnavailable, "connection_reset")},
		{"EPIPE", syscall.EPIPE, class(errcode.UpstreamUnavailable, "connection_reset")},
		{"EHOSTUNREACH", sysError(syscall.EHOSTUNREACH), class(errcode.UpstreamUnavailable, "host_unreachable")},
		{"ENETUNREACH", sysError(syscall.ENETUNREACH), class(errcode.UpstreamUnavailable, "host_unreachable")},
		{"DNS", get(&net.OpError{Err: &net.DNSError{IsNotFound: true}}), class(errcode.UpstreamUnavailable, "dns_error")},
		{"other net.OpError", &net.OpError{Err: errors.New("x")}, class(errcode.UpstreamUnavailable, "network_error")},
		{"closed connection", &net.OpError{Err: net.ErrClosed}, class(errcode.UpstreamUnavailable, "connection_closed")},
		{"closed connection, bare", net.ErrClosed, class(errcode.UpstreamUnavailable, "connection_closed")},
		{"other url.Error", get(errors.New("tls")), class(errcode.UpstreamUnavailable, "network_error")},
		{"URL that does not parse", &url.Error{Op: "parse", Err: errors.New("x")}, class(errcode.Internal, "url_error")},
		{"system call without a row", os.NewSyscallError("x", syscall.EINVAL), class(errcode.Internal, "syscall_error")},
		{"unexpected EOF", io.ErrUnexpectedEOF, class(errcode.UpstreamUnavailable, "connection_closed")},
		{"EOF of a connection", get(io.EOF), class(errcode.UpstreamUnavailable, "connection_closed")},
		{"EOF of something else", io.EOF, class(errcode.Internal, "internal_error")},
		{
			"EOF beside a connection", errors.Join(&url.Error{Op: "parse", Err: errors.New("x")}, io.EOF),
			class(errcode.Internal, "url_error"),
		},
		{"HTTP 429", status(429), class(errcode.RateLimited, "http_status_error")},
		{"HTTP 429 with delay", &errcode.HTTPStatusError{StatusCode: 429, Header: seven}, retryAfter},
		{"HTTP 503 with delay", &errcode.HTTPStatusError{StatusCode: 503, Header: seven}, unavailable7},
		{"HTTP 502 with delay", &errcode.HTTPStatusError{StatusCode: 502, Header: seven}, unavailable7},
		{"HTTP 403 ignores delay", &errcode.HTTPStatusError{StatusCode: 403, Header: seven}, class(errcode.AuthRequired, "http_status_error")},
		{"HTTP without a status", &errcode.HTTPStatusError{Err: context.DeadlineExceeded}, class(errcode.UpstreamTimeout, "deadline_exceeded")},
		{"HTTP 200", &errcode.HTTPStatusError{StatusCode: 200, Err: io.ErrUnexpectedEOF}, class(errcode.UpstreamUnavailable, "connection_closed")},
		{"HTTP 200 around an application error", &errcode.HTTPStatusError{StatusCode: 200, Err: errcode.New(errcode.NotFound, "gone")}, class(errcode.NotFound, "gone")},
		{"HTTP without a status or a cause", &errcode.HTTPStatusError{}, class(errcode.Internal, "http_status_error")},
		{"HTTP 401", status(401), class(errcode.AuthRequired, "http_status_error")},
		{"HTTP 403", status(403), class(errcode.AuthRequired, "http_status_error")},
		{"HTTP 404", status(404), class(errcode.NotFound, "http_status_error")},
		{"HTTP 410", status(410), class(errcode.NotFound, "http_status_error")},
		{"HTTP 408", status(408), class(errcode.UpstreamTimeout, "http_status_error")},
		{"HTTP 504", status(504), class(errcode.UpstreamTimeout, "http_status_error")},
		{"HTTP 500", status(500), class(errcode.UpstreamUnavailable, "http_status_error")},
		{"HTTP 400", status(400), class(errcode.Internal, "http_status_error")},
		{"HTTP 422", status(422), class(errcode.Internal, "http_status_error")},
		{"HTTP 0", status(0), class(errcode.Internal, "http_status_error")},
		{"tool loop", &errcode.MaxToolIterationsError{}, class(errcode.UpstreamUnavailable, "max_tool_iterations_exceeded")},
		{"max iteration", &errcode.MaxIterationError{}, class(errcode.Internal, "max_iteration_error")},
		{"merge strategy", &errcode.MergeStrategyError{}, class(errcode.Internal, "merge_strategy_error")},
		{"routing", &errcode.RoutingError{}, class(errcode.Internal, "routing_error")},
		{"A2A protocol", &errcode.A2AProtocolError{}, class(errcode.Internal, "a2a_protocol_error")},
		{"panic", errcode.NewPanicError("secret", nil), class(errcode.Internal, "panic")},
		{"canceled", context.Canceled, class(errcode.Internal, "context_canceled")},
		{"errors.New", errors.New("x"), class(errcode.Internal, "internal_error")},
		{"fmt.Errorf", fmt.Errorf("x: %w", errors.New("y")), class(errcode.Internal, "internal_error")},
		{"named type", fmt.Errorf("x: %w", &HTTPQuotaError{}), class(errcode.Internal, "http_quota_error")},
		{"named type in a join", errors.Join(errors.New("x"), s3APIError{}), class(errcode.Internal, "s3api_error")},
		{"type called Error", Error{}, class(errcode.Internal, "errcode_test_error")},
		{"generic type", boxError[map[string]int]{}, class(errcode.Internal, "box_error")},
		{"type with other letters", fmt.Errorf("%w", ОшибкаError{}), class(errcode.Internal, "errcode_test_error")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, errcode.Default().Classify(tc.err)); diff != "" {
				t.Errorf("class (-want +got):\n%s", diff)
			}
			if tc.err == nil {
				return
			}
			deep := errors.Join(nil, wrapped(tc.err, 20))
			if diff := cmp.Diff(tc.want, errcode.Default().Classify(deep)); diff != "" {
				t.Errorf("class when wrapped 20 times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClassifyOrder(t *testing.T) {
	t.Parallel()
	limited := errcode.New(errcode.RateLimited, "quota")
	invoke := func(err error) error { return &errcode.ComponentInvokeError{Component: "bank", Err: err} }
	load := func(err error) error { return &errcode.ComponentLoadError{Err: err} }
	tests := []struct {
		name   string
		err    error
		reason string
	}{
		{"carrier yields to a status", invoke(status(429)), "http_status_error"},
		{"carrier yields to a timeout", invoke(context.DeadlineExceeded), "deadline_exceeded"},
		{"carrier yields to a refused connection", invoke(get(sysError(syscall.ECONNREFUSED))), "connection_refused"},
		{"carrier yields to an application error", invoke(fmt.Errorf("x: %w", limited)), "quota"},
		{"carrier yields to a cancellation", get(context.Canceled), "context_canceled"},
		{"outermost carrier decides", invoke(load(errors.New("x"))), "component_invoke_error"},
		{"the other way round", load(invoke(get(errors.New("x")))), "component_load_error"},
		{"carrier yields within a join", invoke(errors.Join(errors.New("x"), load(nil), limited)), "quota"},
		{"carrier decides before a sibling", errors.Join(invoke(errors.New("x")), limited), "component_invoke_error"},
		{"carrier in a join in a carrier", errors.Join(invoke(errors.Join(errors.New("x"), load(nil))), limited), "component_invoke_error"},
		{"unknown sibling first", errors.Join(errors.New("x"), limited, context.DeadlineExceeded), "quota"},
		{"outer match hides inner", &errcode.RegistryTimeoutError{Err: limited}, "registry_timeout_error"},
		{"nil entries in a join", joined{nil, nil, limited}, "quota"},
		{"nested joins in order", errors.Join(errors.Join(errors.New("x"), errors.Join(context.Canceled)), limited), "context_canceled"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for range 1000 {
				if got := errcode.Default().Classify(tc.err).Reason; got != tc.reason {
					t.Fatalf("reason = %q, want %q", got, tc.reason)
				}
			}
		})
	}
}

func TestReasonIsNeverEmptyAndASCII(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		ОшибкаError{}, struct{ error }{errors.New("x")}, boxError[ОшибкаError]{}, joined{}, &cyclic{}, (*errcode.Error)(nil),
	} {
		reason := errcode.Default().Classify(err).Reason
		if reason == "" {
			t.Errorf("%T: empty reason", err)
		}
		for _, r := range reason {
			if r > 0x7f {
				t.Errorf("%T: reason %q is not ASCII", err, reason)
			}
		}
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("x: %w", errcode.New(errcode.RateLimited, "quota"))
	for _, code := range errcode.Codes() {
		if got, want := errcode.Is(err, code), code == errcode.RateLimited; got != want {
			t.Errorf("Is(%s) = %v", code, got)
		}
		if errcode.Is(nil, code) {
			t.Errorf("a nil error is %s", code)
		}
	}
	if errcode.Is(nil, "") {
		t.Error("a nil error has a code")
	}
	if got := errcode.CodeOf(nil); got != "" {
		t.Errorf("CodeOf(nil) = %q", got)
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	want := []errcode.Code{
		"INVALID_INPUT", "AUTH_REQUIRED", "NOT_FOUND", "UPSTREAM_UNAVAILABLE",
		"UPSTREAM_TIMEOUT", "RATE_LIMITED", "GUARDRAIL_BLOCKED", "INTERNAL_ERROR",
	}
	got := errcode.Codes()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	got[0] = "CHANGED"
	if errcode.Codes()[0] != errcode.InvalidInput {
		t.Error("Codes shares its slice")
	}
	texts := make(map[string]bool)
	for _, c := range want {
		if !c.Valid() || c.Text() == "" || texts[c.Text()] {
			t.Errorf("%s: not valid or without a text of its own", c)
		}
		texts[c.Text()] = true
	}
	for _, c := range []errcode.Code{"", "internal_error", "OTHER"} {
		if c.Valid() || c.Retriable() || c.Text() == "" {
			t.Errorf("%q passes for a code", c)
		}
	}
}
