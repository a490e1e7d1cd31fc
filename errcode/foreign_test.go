package errcode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// foreign is what is read out of another vendor's failed task.
type foreign struct {
	Code      errcode.Code
	Reason    string
	Message   string
	Retriable bool
	After     time.Duration
	Details   map[string]any
}

func read(e *errcode.Error) foreign {
	f := foreign{Code: e.Code(), Reason: e.Reason(), Message: e.Message(), Retriable: e.Retriable(), Details: e.Details()}
	f.After, _ = e.RetryAfter()
	return f
}

func TestFromTaskOfAnotherVendor(t *testing.T) {
	t.Parallel()
	const remote = "remote_task_failed"
	kept := func(code any) map[string]any { return map[string]any{"errorCode": code} }
	tests := []struct {
		name string
		task string // the message and the metadata of the task, as JSON
		want foreign
	}{
		{"a snake_case code", `{"parts":[{"data":{"error_code":"RATE_LIMITED","error_message":"slow","retry_after_ms":250}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: "slow", Retriable: true, After: 250 * time.Millisecond,
		}},
		{"a code in lower case", `{"parts":[{"text":"t"},{"data":{"code":"rate-limited","retry_after":3,"reason":"quota"}}]}`, foreign{
			Code: errcode.RateLimited, Reason: "quota", Message: "t", Retriable: true, After: 3 * time.Second, Details: kept("rate-limited"),
		}},
		{"an envelope", `{"parts":[{"data":{"error":{"code":"NOT_FOUND","message":"gone"}}}]}`, foreign{
			Code: errcode.NotFound, Reason: remote, Message: "gone",
		}},
		{"an HTTP status", `{"parts":[{"data":{"error":{"code":503,"message":"down","retryable":false}}}]}`, foreign{
			Code: errcode.UpstreamUnavailable, Reason: remote, Message: "down", Details: kept(503.0),
		}},
		{"a JSON-RPC code", `{"parts":[{"data":{"error":{"code":-32602,"message":"bad"}}}]}`, foreign{
			Code: errcode.InvalidInput, Reason: remote, Message: "bad", Details: kept(-32602.0),
		}},
		{"a gRPC name", `{"parts":[{"data":{"code":8,"status":"RESOURCE_EXHAUSTED"}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: errcode.RateLimited.Text(), Retriable: true, Details: kept("RESOURCE_EXHAUSTED"),
		}},
		{"a suggested delay", `{"parts":[{"data":{"error":{"code":"RATE_LIMITED","retry":{"suggested_delay_ms":40}}}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: errcode.RateLimited.Text(), Retriable: true, After: 40 * time.Millisecond,
		}},
		{"metadata of the message", `{"parts":[{"text":"t"}],"metadata":{"error_code":"UPSTREAM_TIMEOUT"}}`, foreign{
			Code: errcode.UpstreamTimeout, Reason: remote, Message: "t", Retriable: true,
		}},
		{"metadata of a part", `{"parts":[{"text":"t","metadata":{"errorCode":"AUTH_REQUIRED"}}]}`, foreign{
			Code: errcode.AuthRequired, Reason: remote, Message: "t",
		}},
		{"metadata with an unknown code", `{"parts":[{"text":"t"}],"metadata":{"error_code":"E17"}}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "t", Details: kept("E17"),
		}},
		{"wrong types", `{"parts":[{"text":"t"},{"data":{"errorCode":true,"errorMessage":7,"retriable":"yes","retryAfterMs":-1}}]}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "t",
		}},
		{"a known code with wrong types", `{"parts":[{"text":"t"},{"data":{"errorCode":"NOT_FOUND","errorMessage":7,"errorReason":[],"retryAfterMs":"x"}}]}`, foreign{
			Code: errcode.NotFound, Reason: remote, Message: "t",
		}},
		{"an error that is a text", `{"parts":[{"data":{"error":"it broke","code":500}}]}`, foreign{
			Code: errcode.UpstreamUnavailable, Reason: remote, Message: "it broke", Retriable: true, Details: kept(500.0),
		}},
		{"data without a code", `{"parts":[{"text":"t"},{"data":{"error":"it broke","status":"failed","code":0}}]}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "t",
		}},
		{"a known code behind one that means nothing", `{"parts":[{"data":{"code":"E17","message":"m"}},{"data":{"error_code":"RATE_LIMITED"}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: "m", Retriable: true,
		}},
		{"a known code in the metadata behind one that means nothing", `{"parts":[{"text":"t"},{"data":{"code":"E17"}}],"metadata":{"error_code":"NOT_FOUND"}}`, foreign{
			Code: errcode.NotFound, Reason: remote, Message: "t",
		}},
		{"numbers that are texts", `{"parts":[{"data":{"code":"429","message":"m","retry_after":"30","retryable":"True"}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: "m", Retriable: true, After: 30 * time.Second, Details: kept("429"),
		}},
		{"a JSON-RPC code that is a text", `{"parts":[{"data":{"code":"-32602"}}]}`, foreign{
			Code: errcode.InvalidInput, Reason: remote, Message: errcode.InvalidInput.Text(), Details: kept("-32602"),
		}},
		{"milliseconds that are a text", `{"parts":[{"data":{"code":"RATE_LIMITED","retry":{"suggested_delay_ms":"0.5"}}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: errcode.RateLimited.Text(), Retriable: true, After: time.Millisecond,
		}},
		{"http_status", `{"parts":[{"data":{"http_status":503,"message":"m"}}]}`, foreign{
			Code: errcode.UpstreamUnavailable, Reason: remote, Message: "m", Retriable: true, Details: kept(503.0),
		}},
		{"httpStatusCode beside a code that means nothing", `{"parts":[{"data":{"code":"E17","httpStatusCode":"404 Not Found"}}]}`, foreign{
			Code: errcode.NotFound, Reason: remote, Message: errcode.NotFound.Text(), Details: kept("404 Not Found"),
		}},
		{"a delay too large to count", `{"parts":[{"data":{"code":"RATE_LIMITED","retry_after_ms":99999999999999999999}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: errcode.RateLimited.Text(), Retriable: true, After: longest,
		}},
		{"a delay beyond the exact integers", `{"parts":[{"data":{"code":"RATE_LIMITED","retry_after_ms":9007199254740993}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: errcode.RateLimited.Text(), Retriable: true, After: longest,
		}},
		{"what stands around the code", `{"parts":[{"data":{"message":"m","retry_after":2,"retriable":false,"error":{"code":"RATE_LIMITED"}}}]}`, foreign{
			Code: errcode.RateLimited, Reason: remote, Message: "m", After: 2 * time.Second,
		}},
		{"a message without a code", `{"parts":[{"data":{"message":"it broke"}}]}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "it broke",
		}},
		{"a message in an error without a code", `{"parts":[{"text":" "},{"data":{"error":{"message":"it broke"}}}]}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "it broke",
		}},
		{"an empty code", `{"parts":[{"text":"t"},{"data":{"errorCode":"","error_code":" "}}]}`, foreign{
			Code: errcode.Internal, Reason: remote, Message: "t",
		}},
		{"the schema with a code in lower case", `{"parts":[{"data":{"errorCode":"rate_limited","errorReason":"quota","retryAfterMs":"250"},"metadata":{"schema":"application-error/v1"}}]}`, foreign{
			Code: errcode.RateLimited, Reason: "quota", Message: errcode.RateLimited.Text(), Retriable: true, After: 250 * time.Millisecond, Details: kept("rate_limited"),
		}},
		{"the schema on an empty object", `{"parts":[{"data":{},"metadata":{"schema":"application-error/v1"}}],"metadata":{"error_code":"NOT_FOUND"}}`, foreign{
			Code: errcode.NotFound, Reason: remote, Message: errcode.NotFound.Text(),
		}},
		{"the schema without a code", `{"parts":[{"text":"t"},{"data":{"errorCode":"","errorReason":"quota","errorMessage":"m","details":{"a":1}},"metadata":{"schema":"application-error/v1"}}]}`, foreign{
			Code: errcode.Internal, Reason: "quota", Message: "m", Details: map[string]any{"a": 1.0},
		}},
		{"text only", `{"parts":[{"text":"t"}]}`, foreign{Code: errcode.Internal, Reason: remote, Message: "t"}},
		{"no array for data", `{"parts":[{"data":[{"code":404}]},{"text":"t"}]}`, foreign{Code: errcode.Internal, Reason: remote, Message: "t"}},
		{"nothing", `{"parts":[]}`, foreign{Code: errcode.Internal, Reason: remote, Message: errcode.Internal.Text()}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := new(a2a.Message)
			if err := json.Unmarshal([]byte(tc.task), m); err != nil {
				t.Fatal(err)
			}
			task := failedTask()
			task.Status.Message = m
			e, ok := errcode.FromTask(task)
			if !ok {
				t.Fatal("a failed task gave no error")
			}
			if diff := cmp.Diff(tc.want, read(e)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			mustData(t, e)
			update := a2a.NewStatusUpdateEvent(task, a2a.TaskStateFailed, m)
			if e, ok := errcode.FromEvent(update); !ok || e.Code() != tc.want.Code {
				t.Errorf("the update gives %v", e)
			}
		})
	}
}

func TestFromTaskReadsTheMetadataOfTheTask(t *testing.T) {
	t.Parallel()
	task := failedTask(a2a.NewTextPart("t"))
	task.Metadata = map[string]any{"error": map[string]any{"code": "NOT_FOUND"}}
	if e, _ := errcode.FromTask(task); e.Code() != errcode.NotFound || e.Message() != "t" {
		t.Errorf("got %v", e)
	}
	update := a2a.NewStatusUpdateEvent(task, a2a.TaskStateFailed, task.Status.Message)
	update.Metadata = map[string]any{"error_code": "RATE_LIMITED"}
	if e, _ := errcode.FromEvent(update); e.Code() != errcode.RateLimited {
		t.Errorf("got %v", e)
	}
	task.Metadata = map[string]any{"code": func() {}, "error": make(chan int)}
	if e, _ := errcode.FromTask(task); e.Code() != errcode.Internal {
		t.Errorf("got %v", e)
	}
}

// A message with some code in it is no failure unless the task says so.
func TestFromMessageWantsOurData(t *testing.T) {
	t.Parallel()
	m := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewDataPart(map[string]any{"code": "NOT_FOUND"}))
	if e, ok := errcode.FromMessage(m); ok {
		t.Errorf("got %v", e)
	}
}

// A message that names the schema is a failure, whatever its data lack.
func TestFromMessageWithFaultyData(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data map[string]any
		code errcode.Code
	}{
		"nothing":                {map[string]any{}, errcode.Internal},
		"a code in lower case":   {map[string]any{"errorCode": "not_found"}, errcode.NotFound},
		"another vendor's names": {map[string]any{"error_code": "NOT_FOUND"}, errcode.NotFound},
	} {
		part := a2a.NewDataPart(tc.data)
		part.Metadata = map[string]any{"schema": errcode.Schema}
		e, ok := errcode.FromMessage(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("t"), part))
		if !ok || e.Code() != tc.code || e.Message() != "t" {
			t.Errorf("%s: got %v, %t", name, e, ok)
		}
		mustData(t, e)
	}
}

// A deeply nested or very wide object must not cost more than it is long.
func TestFromTaskOfHostileShape(t *testing.T) {
	t.Parallel()
	deep := map[string]any{"code": "NOT_FOUND"}
	for range 1000 {
		deep = map[string]any{"error": deep, "errordata": map[string]any{"error": "x"}}
	}
	wide := map[string]any{}
	for i := range 20_000 {
		wide[fmt.Sprint("k", i)] = map[string]any{"error": "x"}
	}
	cyclic := map[string]any{}
	cyclic["error"] = cyclic
	for _, data := range []map[string]any{deep, wide, cyclic} {
		if e, ok := errcode.FromTask(failedTask(a2a.NewTextPart("t"), a2a.NewDataPart(data))); !ok || e.Code() != errcode.Internal {
			t.Errorf("got %v, %t", e, ok)
		}
	}
}

func TestFromClientFindsNestedData(t *testing.T) {
	t.Parallel()
	data := map[string]any{"errorCode": "RATE_LIMITED", "errorReason": "quota", "retryAfterMs": 250}
	for name, err := range map[string]error{
		"under a key": a2a.NewError(a2a.ErrServerError, "slow down").WithDetails(map[string]any{"a": 1, "data": data}),
		"in a struct": a2a.NewError(a2a.ErrServerError, "slow down").WithTypedDetails(errordetails.NewFromStruct(map[string]any{"data": data})),
	} {
		if e := errcode.FromClient(fmt.Errorf("send: %w", err)); e.Code() != errcode.RateLimited || e.Reason() != "quota" {
			t.Errorf("%s: got %v", name, e)
		}
	}
	if e := errcode.FromClient(errors.New("x")); e.Code() != errcode.Internal {
		t.Errorf("got %v", e)
	}
}

func FuzzForeignData(f *testing.F) {
	f.Add([]byte(`{"error":{"code":503,"message":"m","retry":{"suggested_delay_ms":1e300}}}`))
	f.Add([]byte(`{"error_code":"E17","retry_after":-1,"retriable":"x"}`))
	f.Add([]byte(`{"http_status":"429","retry_after":"1e999","error":{"message":"m"}}`))
	f.Add([]byte(`{"status":"RESOURCE_EXHAUSTED","error":{"error":{"error":{}}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v any
		if json.Unmarshal(b, &v) != nil {
			return
		}
		task := failedTask(a2a.NewTextPart("t"), a2a.NewDataPart(v))
		if m, ok := v.(map[string]any); ok {
			task.Metadata = m
		}
		e, ok := errcode.FromTask(task)
		if !ok || !e.Code().Valid() || e.Reason() == "" || e.Message() == "" {
			t.Fatalf("got %#v", e)
		}
		if d, _ := e.RetryAfter(); d < 0 {
			t.Errorf("a delay of %v", d)
		}
		if _, err := (errcode.Builder{}).Data(e); err != nil {
			t.Errorf("cannot be sent on: %v", err)
		}
	})
}

// What other vendors write, and what was not understood.
func TestSpellingsOfOtherVendors(t *testing.T) {
	t.Parallel()
	const year = "Wed, 21 Oct 2199 07:28:00 GMT"
	tests := []struct {
		name, data string
		code       errcode.Code
		after      time.Duration
	}{
		{"gRPC in Go's spelling", `{"code":"DeadlineExceeded"}`, errcode.UpstreamTimeout, 0},
		{"camel case", `{"code":"rateLimited"}`, errcode.RateLimited, 0},
		{"one of ours in camel case", `{"code":"AuthRequired"}`, errcode.AuthRequired, 0},
		{"the type of a language model's API", `{"error":{"type":"rate_limit_error","message":"slow"}}`, errcode.RateLimited, 0},
		{"a duration", `{"error_code":"NOT_FOUND","retry_after":"1m30s"}`, errcode.NotFound, 90 * time.Second},
		{"seconds with their unit", `{"error_code":"RATE_LIMITED","retry_after":"30s"}`, errcode.RateLimited, 30 * time.Second},
		{"a date", `{"code":"RATE_LIMITED","retry_after":"` + year + `"}`, errcode.RateLimited, -1},
		{
			"RetryInfo", `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[
			{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`,
			errcode.RateLimited, 34500 * time.Millisecond,
		},
		{"a code in an array", `{"errorCode":["RATE_LIMITED"],"message":"m"}`, errcode.RateLimited, 0},
		{"an array of errors", `{"errors":[{"code":"E17"},{"errorCode":"NOT_FOUND","errorMessage":"m"}]}`, errcode.NotFound, 0},
		{"an array of error data", `[{"x":1},{"errorCode":"NOT_FOUND","errorMessage":"m"}]`, errcode.NotFound, 0},
		{"an array of anything else", `[{"status":404}]`, errcode.Internal, 0},
		{"arrays in arrays", `{"code":[["RATE_LIMITED"]],"error":[[{"error":[]}]]}`, errcode.Internal, 0},
		{"JSON-RPC with data", `{"jsonrpc":"2.0","error":{"code":-32603,"message":"m","data":{"errorCode":"RATE_LIMITED","errorReason":"quota"}}}`, errcode.RateLimited, 0},
		{"JSON-RPC with other data", `{"error":{"code":-32001,"message":"m","data":{"status":503}}}`, errcode.NotFound, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var data any
			if err := json.Unmarshal([]byte(tc.data), &data); err != nil {
				t.Fatal(err)
			}
			e, ok := errcode.FromTask(failedTask(a2a.NewTextPart("t"), a2a.NewDataPart(data)))
			if !ok || e.Code() != tc.code {
				t.Fatalf("%v", e)
			}
			after, known := e.RetryAfter()
			if known != (tc.after != 0) || tc.after > 0 && after != tc.after || tc.after < 0 && after < 24*time.Hour {
				t.Errorf("after %v, %t", after, known)
			}
		})
	}
}

// The text of another vendor may tell about its inside just as our own errors do.
func TestHideInternalHidesForeignText(t *testing.T) {
	t.Parallel()
	b := errcode.Builder{HideInternal: true}
	const secret = "pq: relation payroll does not exist at 10.0.0.5"
	for name, parts := range map[string][]*a2a.Part{
		"text":           {a2a.NewTextPart(secret)},
		"foreign object": {a2a.NewDataPart(map[string]any{"code": "E17", "message": secret})},
		"code only":      {a2a.NewTextPart(secret), a2a.NewDataPart(map[string]any{"errorCode": "INTERNAL_ERROR"})},
	} {
		e, _ := errcode.FromTask(failedTask(parts...))
		if e.Message() != secret {
			t.Errorf("%s: the caller reads %q", name, e.Message())
		}
		d, err := b.Data(errcode.Default().Convert(fmt.Errorf("ask the desk: %w", e)))
		if err != nil || d.ErrorMessage != errcode.Internal.Text() {
			t.Errorf("%s: %q, %v", name, d.ErrorMessage, err)
		}
	}
	chosen, _ := errcode.FromTask(failedTask(a2a.NewDataPart(map[string]any{
		"errorCode": "INTERNAL_ERROR", "errorReason": "r", "errorMessage": "Chosen for people.",
	})))
	if d, _ := b.Data(chosen); d.ErrorMessage != "Chosen for people." {
		t.Errorf("an author's message became %q", d.ErrorMessage)
	}
}
