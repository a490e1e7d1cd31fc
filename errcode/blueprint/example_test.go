package blueprint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

// A service fails, and its client sees the same error.
func ExampleHandler() {
	skill := blueprint.Handler(func(http.ResponseWriter, *http.Request) error {
		return errcode.New(errcode.RateLimited, "daily_quota",
			errcode.Message("The daily quota is used up."), errcode.RetryAfter(90*time.Second))
	})
	rec := httptest.NewRecorder()
	skill.ServeHTTP(rec, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/skills/7", nil))
	resp := rec.Result()
	fmt.Println(resp.StatusCode, resp.Header.Get("Retry-After"))

	err := blueprint.FromResponse(resp)
	fmt.Println(errcode.Is(err, errcode.RateLimited), err)
	// Output:
	// 503 90
	// true RATE_LIMITED daily_quota: The daily quota is used up.
}

func ExampleFromError() {
	timeout := errcode.New(errcode.UpstreamTimeout, "execution_timeout",
		errcode.Message("Skill execution exceeded the configured timeout of 30000ms"),
		blueprint.Timeout(30*time.Second, 30001*time.Millisecond),
		errcode.RetryAfter(5*time.Second), blueprint.MaxAttempts(3))
	env, _ := blueprint.FromError(context.Background(), timeout, errcode.Builder{})
	body, _ := json.Marshal(env)
	fmt.Println(env.Status())
	fmt.Println(string(body))
	// Output:
	// 504
	// {"error":{"code":"EXECUTION_TIMEOUT","message":"Skill execution exceeded the configured timeout of 30000ms","details":{"elapsed_ms":30001,"timeout_ms":30000},"retry":{"suggested_delay_ms":5000,"max_attempts":3}}}
}

func ExampleParse() {
	env, err := blueprint.Parse([]byte(`{"error": {"code": "PERMISSION_DENIED", "message": "Not yours."}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := env.Err()
	fmt.Println(e.Code(), e.Reason(), e.Retriable())
	// Output:
	// AUTH_REQUIRED permission_denied false
}

func ExampleFromResponse() {
	resp := httptest.NewRecorder().Result()
	resp.StatusCode = http.StatusBadGateway // a proxy's answer without an envelope
	err := blueprint.FromResponse(resp)
	fmt.Println(errcode.CodeOf(err))
	// Output:
	// UPSTREAM_UNAVAILABLE
}

func ExampleWriteError() {
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil)
	blueprint.WriteError(rec, req, context.DeadlineExceeded)
	fmt.Println(rec.Code, rec.Header().Get("Content-Type"))
	// Output:
	// 504 application/json
}

func ExampleValidateDescriptor() {
	err := blueprint.ValidateDescriptor([]byte(`{"capability_type": "unknown_type", "endpoint": {}}`))
	var e *errcode.Error
	if errors.As(err, &e) {
		for _, v := range e.Violations() {
			fmt.Println(v.Field, v.Message, v.Actual)
		}
	}
	// Output:
	// /capability_type Invalid enum value unknown_type
	// /endpoint/url Required field is missing <nil>
}
