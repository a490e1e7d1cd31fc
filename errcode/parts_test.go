package errcode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/errcode"
)

func failedTask(parts ...*a2a.Part) *a2a.Task {
	return &a2a.Task{ID: "t", ContextID: "c", Status: a2a.TaskStatus{
		State: a2a.TaskStateFailed, Message: a2a.NewMessage(a2a.MessageRoleAgent, parts...),
	}}
}

// overTheWire encodes and decodes v as a client would get it.
func overTheWire[T any](t interface{ Fatal(args ...any) }, v *T) *T {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got := new(T)
	if err := json.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestParts(t *testing.T) {
	t.Parallel()
	d := mustData(t, fullError())
	parts := d.Parts()
	want := []*a2a.Part{
		{Content: a2a.Text("The answer held personal data.")},
		{
			Content: a2a.Data{Value: d.Map()}, MediaType: "application/json",
			Metadata: map[string]any{"schema": "application-error/v1"},
		},
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	text := rapid.String()
	word := rapid.StringMatching(`[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,4}){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom(errcode.Codes()).Draw(t, "code")
		opts := []errcode.Option{
			errcode.Message(text.Draw(t, "message")), errcode.Retriable(rapid.Bool().Draw(t, "retriable")),
			errcode.Domain(word.Draw(t, "domain")), errcode.DomainCode(text.Draw(t, "domainCode")),
			errcode.Source("db:" + word.Draw(t, "source")), errcode.Retried(rapid.IntRange(0, 9).Draw(t, "retried")),
			errcode.CorrelationID(word.Draw(t, "id")), errcode.Detail(text.Draw(t, "key"), text.Draw(t, "value")),
		}
		if rapid.Bool().Draw(t, "delayed") {
			opts = append(opts, errcode.RetryAfter(time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "delay"))))
		}
		if rapid.Bool().Draw(t, "in a flow") {
			opts = append(opts, errcode.AtNode(word.Draw(t, "node"), text.Draw(t, "kind")),
				errcode.InFlow(word.Draw(t, "flow"), rapid.SliceOf(word).Draw(t, "completed")...))
		}
		if code == errcode.GuardrailBlocked {
			opts = append(opts, errcode.Guardrail(text.Draw(t, "category"), nil))
		}
		if code == errcode.InvalidInput {
			opts = append(opts, errcode.Violations(errcode.Violation{Field: "/" + word.Draw(t, "field"), Actual: text.Draw(t, "actual")}))
		}
		e := errcode.New(code, word.Draw(t, "reason"), opts...)
		d, err := errcode.Builder{}.Data(e)
		if err != nil {
			t.Fatal(err)
		}
		task := overTheWire(t, failedTask(d.Parts()...))
		got, ok := errcode.FromTask(task)
		if !ok || !errcode.Is(fmt.Errorf("call: %w", got), code) {
			t.Fatalf("got %v", got)
		}
		back, err := errcode.Builder{}.Data(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, back); diff != "" {
			t.Errorf("data after the round trip (-want +got):\n%s", diff)
		}
		parsed, err := errcode.ParseData(d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, parsed); diff != "" {
			t.Errorf("parsed data (-want +got):\n%s", diff)
		}
	})
}

func TestFromTask(t *testing.T) {
	t.Parallel()
	limited := map[string]any{"errorCode": "RATE_LIMITED", "errorReason": "quota", "errorMessage": "m", "retriable": true}
	schema := func(v any) *a2a.Part {
		p := a2a.NewDataPart(v)
		p.Metadata = map[string]any{"schema": errcode.Schema}
		return p
	}
	remote := errcode.Data{ErrorCode: errcode.Internal, ErrorReason: "remote_task_failed"}
	withText := func(d errcode.Data, text string) errcode.Data {
		d.ErrorMessage = text
		return d
	}
	quota := errcode.Data{ErrorCode: errcode.RateLimited, ErrorReason: "quota", ErrorMessage: "m", Retriable: true}
	tests := []struct {
		name  string
		parts []*a2a.Part
		want  errcode.Data
	}{
		{"schema", []*a2a.Part{a2a.NewTextPart("t"), schema(limited)}, quota},
		{"shape", []*a2a.Part{a2a.NewDataPart(map[string]any{"a": 1}), nil, a2a.NewDataPart(limited)}, quota},
		{
			"schema before shape",
			[]*a2a.Part{a2a.NewDataPart(map[string]any{"errorCode": "NOT_FOUND"}), schema(limited)},
			quota,
		},
		{"schema on a part that holds no object", []*a2a.Part{schema("x"), a2a.NewDataPart(limited)}, quota},
		{"no parts", nil, withText(remote, errcode.Internal.Text())},
		{"text only", []*a2a.Part{a2a.NewTextPart("it broke"), a2a.NewTextPart(" "), a2a.NewTextPart("badly")}, withText(remote, "it broke\nbadly")},
		{"other data", []*a2a.Part{a2a.NewTextPart("t"), a2a.NewDataPart(map[string]any{"a": "E17"})}, withText(remote, "t")},
		{
			"unknown code",
			[]*a2a.Part{a2a.NewTextPart("t"), a2a.NewDataPart(map[string]any{"errorCode": "E17"})},
			errcode.Data{
				ErrorCode: errcode.Internal, ErrorReason: "remote_task_failed", ErrorMessage: "t",
				Details: map[string]any{"errorCode": "E17"},
			},
		},
		{
			"message from the text part",
			[]*a2a.Part{a2a.NewTextPart("t"), a2a.NewDataPart(map[string]any{"errorCode": "NOT_FOUND"})},
			errcode.Data{ErrorCode: errcode.NotFound, ErrorReason: "remote_task_failed", ErrorMessage: "t"},
		},
		{
			"unknown code under the schema",
			[]*a2a.Part{schema(map[string]any{"errorCode": "E17", "errorReason": "r", "errorMessage": "m"})},
			errcode.Data{ErrorCode: errcode.Internal, ErrorReason: "r", ErrorMessage: "m", Details: map[string]any{"errorCode": "E17"}},
		},
		{
			"faulty fields are left out",
			[]*a2a.Part{schema(map[string]any{
				"errorCode": "NOT_FOUND", "errorReason": "r", "errorMessage": "m", "errorSource": "nowhere", "domain": "NO",
				"retried": -1, "retryAfterMs": "soon", "node": 3, "flow": map[string]any{"id": "f", "completedNodes": []any{"a", 1}},
				"violations": []any{"x", map[string]any{"field": "/a", "message": 1}}, "guardrail": map[string]any{"a": 1}, "details": 1,
			})},
			errcode.Data{
				ErrorCode: errcode.NotFound, ErrorReason: "r", ErrorMessage: "m",
				Flow:       &errcode.Flow{ID: "f", CompletedNodes: []string{"a"}},
				Violations: []errcode.Violation{{Field: "/a"}},
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e, ok := errcode.FromTask(failedTask(tc.parts...))
			if !ok {
				t.Fatal("a failed task gave no error")
			}
			if diff := cmp.Diff(tc.want, mustData(t, e)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromTaskInOtherStates(t *testing.T) {
	t.Parallel()
	part := mustData(t, fullError()).Parts()[1]
	for _, state := range []a2a.TaskState{
		a2a.TaskStateUnspecified, a2a.TaskStateAuthRequired, a2a.TaskStateCanceled, a2a.TaskStateCompleted,
		a2a.TaskStateInputRequired, a2a.TaskStateRejected, a2a.TaskStateSubmitted, a2a.TaskStateWorking,
	} {
		task := failedTask(part)
		task.Status.State = state
		if e, ok := errcode.FromTask(task); ok || e != nil {
			t.Errorf("%s: %v", state, e)
		}
	}
	if _, ok := errcode.FromTask(nil); ok {
		t.Error("a nil task failed")
	}
	if e, ok := errcode.FromTask(&a2a.Task{Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}); !ok || e.Reason() != "remote_task_failed" {
		t.Errorf("a failed task without a message gave %v", e)
	}
}

func TestFromEvent(t *testing.T) {
	t.Parallel()
	task := failedTask(mustData(t, fullError()).Parts()...)
	update := a2a.NewStatusUpdateEvent(task, a2a.TaskStateFailed, task.Status.Message)
	tests := []struct {
		name string
		ev   a2a.Event
		want bool
	}{
		{"task", task, true},
		{"status update", update, true},
		{"message", task.Status.Message, true},
		{"stream response", a2a.StreamResponse{Event: update}, true},
		{"pointer to a stream response", &a2a.StreamResponse{Event: task}, true},
		{"working", a2a.NewStatusUpdateEvent(task, a2a.TaskStateWorking, task.Status.Message), false},
		{"artifact", a2a.NewArtifactEvent(task), false},
		{"plain message", a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("x")), false},
		{"nil", nil, false},
		{"nil task", (*a2a.Task)(nil), false},
		{"nil update", (*a2a.TaskStatusUpdateEvent)(nil), false},
		{"nil message", (*a2a.Message)(nil), false},
		{"nil response", (*a2a.StreamResponse)(nil), false},
		{"empty response", a2a.StreamResponse{}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e, ok := errcode.FromEvent(tc.ev)
			if ok != tc.want || ok != (e != nil) || ok && e.Code() != errcode.GuardrailBlocked {
				t.Errorf("got %v, %v", e, ok)
			}
		})
	}
}

func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want errcode.Class
	}{
		{a2a.ErrParseError, class(errcode.InvalidInput, "parse_error")},
		{a2a.ErrInvalidRequest, class(errcode.InvalidInput, "invalid_request")},
		{a2a.ErrMethodNotFound, class(errcode.InvalidInput, "method_not_found")},
		{a2a.ErrInvalidParams, class(errcode.InvalidInput, "invalid_params")},
		{a2a.ErrInternalError, class(errcode.Internal, "internal_error")},
		{a2a.ErrServerError, class(errcode.Internal, "server_error")},
		{a2a.ErrTaskNotFound, class(errcode.NotFound, "task_not_found")},
		{a2a.ErrTaskNotCancelable, class(errcode.InvalidInput, "task_not_cancelable")},
		{a2a.ErrPushNotificationNotSupported, class(errcode.InvalidInput, "push_notification_not_supported")},
		{a2a.ErrUnsupportedOperation, class(errcode.InvalidInput, "unsupported_operation")},
		{a2a.ErrUnsupportedContentType, class(errcode.InvalidInput, "content_type_not_supported")},
		{a2a.ErrInvalidAgentResponse, class(errcode.Internal, "invalid_agent_response")},
		{a2a.ErrExtendedCardNotConfigured, class(errcode.NotFound, "extended_agent_card_not_configured")},
		{a2a.ErrExtensionSupportRequired, class(errcode.InvalidInput, "extension_support_required")},
		{a2a.ErrVersionNotSupported, class(errcode.InvalidInput, "version_not_supported")},
		{a2a.ErrUnauthenticated, class(errcode.AuthRequired, "unauthenticated")},
		{a2a.ErrUnauthorized, class(errcode.AuthRequired, "unauthorized")},
		{a2a.NewError(a2a.ErrTaskNotFound, "no such task"), class(errcode.NotFound, "task_not_found")},
		{a2a.NewError(errors.New("x"), "m"), class(errcode.UpstreamUnavailable, "a2a_error")},
		{a2a.NewError(nil, "m"), class(errcode.UpstreamUnavailable, "a2a_error")},
		{a2a.NewError(status(429), "m"), class(errcode.RateLimited, "http_status_error")},
		{&errcode.ComponentInvokeError{Err: a2a.ErrTaskNotFound}, class(errcode.NotFound, "task_not_found")},
		{(*a2a.Error)(nil), class(errcode.Internal, "a2a_error")},
	}
	for _, tc := range tests {
		t.Run(fmt.Sprintf("%T %s", tc.err, tc.want.Reason), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, errcode.Default().Classify(tc.err)); diff != "" {
				t.Errorf("class (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromClient(t *testing.T) {
	t.Parallel()
	if errcode.FromClient(nil) != nil {
		t.Error("nil became an error")
	}
	data := map[string]any{"errorCode": "RATE_LIMITED", "errorReason": "quota", "retryAfterMs": 250, "retriable": true}
	want := errcode.Data{ErrorCode: errcode.RateLimited, ErrorReason: "quota", ErrorMessage: "slow down", Retriable: true}
	inDetails := a2a.NewError(a2a.ErrServerError, "slow down").WithDetails(data)
	typed := a2a.NewError(a2a.ErrServerError, "slow down").WithTypedDetails(nil,
		errordetails.NewErrorInfo("X", "d", nil), errordetails.NewFromStruct(data))
	for name, err := range map[string]error{"details": inDetails, "typed details": typed} {
		err := fmt.Errorf("send: %w", err)
		e := errcode.FromClient(err)
		got := mustData(t, e)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(errcode.Data{}, "RetryAfterMs")); diff != "" || *got.RetryAfterMs != 250 {
			t.Errorf("%s: data (-want +got):\n%s", name, diff)
		}
		if !errors.Is(e, a2a.ErrServerError) || !errors.Is(e, err) {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	e := errcode.FromClient(a2a.NewError(a2a.ErrTaskNotFound, "no such task"))
	if e.Code() != errcode.NotFound || e.Message() != "no such task" {
		t.Errorf("got %v", e)
	}
	ruled := errcode.NewTable(errcode.When("all", always, errcode.NotFound, "x"))
	if got := ruled.Classify(inDetails).Code; got != errcode.NotFound {
		t.Errorf("carried data bypass user rules: %s", got)
	}
}

func TestParseDataReportsEveryFault(t *testing.T) {
	t.Parallel()
	_, err := errcode.ParseData(map[string]any{
		"errorCode": "NOT_FOUND", "errorReason": 1, "retriable": "yes", "retried": 1.5, "node": map[string]any{"id": true},
		"flow": map[string]any{"completedNodes": []any{1}}, "violations": []any{map[string]any{"field": 1}}, "details": []any{},
	})
	for _, want := range []string{
		"errorReason: expected a string, got the number 1", "retriable: expected a boolean, got a string",
		"retried: expected an integer not below 0, got the number 1.5", "node.id: expected a string, got a boolean",
		"flow.completedNodes[0]: expected a string", "violations[0].field: expected a string", "details: expected an object, got an array",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the report lacks %q:\n%v", want, err)
		}
	}
	tests := []struct{ name, json, want string }{
		{"no object", `[]`, "expected an object"},
		{"null", `null`, "expected an object"},
		{"no code", `{"errorReason":"r"}`, "errorCode: expected a value"},
		{"unknown code", `{"errorCode":"E17","errorReason":"r"}`, "errorCode: expected one of INVALID_INPUT, "},
		{"no reason", `{"errorCode":"NOT_FOUND"}`, "errorReason: expected a value"},
		{"reason", `{"errorCode":"NOT_FOUND","errorReason":"ü"}`, "errorReason: expected ASCII"},
		{"source", `{"errorCode":"NOT_FOUND","errorReason":"r","errorSource":"x"}`, "errorSource: expected system:locator"},
		{"domain", `{"errorCode":"NOT_FOUND","errorReason":"r","domain":"X"}`, "domain: expected kebab-case ASCII"},
		{"delay", `{"errorCode":"NOT_FOUND","errorReason":"r","retryAfterMs":-1}`, "retryAfterMs: expected an integer not below 0, got the number -1"},
		{"guardrail", `{"errorCode":"NOT_FOUND","errorReason":"r","guardrail":{"a":1}}`, "guardrail: expected none unless errorCode is GUARDRAIL_BLOCKED"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, err := errcode.ParseData(json.RawMessage(tc.json))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("report = %v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(errcode.Data{}, d); diff != "" {
				t.Errorf("data besides the report: %s", diff)
			}
		})
	}
}

// A field of a wrong type hid what was wrong with the others.
func TestParseDataReportsTypesAndRules(t *testing.T) {
	t.Parallel()
	_, err := errcode.ParseData(map[string]any{
		"errorCode": "NOPE", "errorReason": 5, "domain": "Bad Domain", "retriable": "yes", "guardrail": map[string]any{"a": 1},
	})
	text := fmt.Sprint(err)
	for _, part := range []string{
		"errorReason: expected a string, got the number 5", "retriable: expected a boolean, got a string",
		"errorCode: expected one of INVALID_INPUT", "domain: expected kebab-case ASCII", "guardrail: expected none",
	} {
		if strings.Count(text, part) != 1 {
			t.Errorf("%q is not once in %s", part, text)
		}
	}
	if strings.Contains(text, "errorReason: expected a value") {
		t.Errorf("one fault is there twice: %s", text)
	}
}

func TestParseDataIsLenientWhereItMayBe(t *testing.T) {
	t.Parallel()
	d, err := errcode.ParseData(json.RawMessage(
		`{"errorCode":"UPSTREAM_TIMEOUT","errorReason":"r","newField":1,"node":null,"domain":null,"details":{}}`))
	want := errcode.Data{
		ErrorCode: errcode.UpstreamTimeout, ErrorReason: "r", ErrorMessage: errcode.UpstreamTimeout.Text(), Retriable: true,
	}
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("data (-want +got), report %v:\n%s", err, diff)
	}
}

func FuzzParseData(f *testing.F) {
	f.Add([]byte(`{"errorCode":"NOT_FOUND","errorReason":"r","errorMessage":"m","retriable":false}`))
	f.Add(mustJSONFuzz(f, fullError()))
	f.Add([]byte(`{"errorCode":"NOT_FOUND","errorReason":"r","retried":1e400,"retryAfterMs":9223372036854775807}`))
	f.Add([]byte(`{"errorCode":"NOT_FOUND","errorReason":"r","correlationId":"no id"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := errcode.ParseData(json.RawMessage(b))
		if err != nil {
			return
		}
		again, err := errcode.ParseData(d.Map())
		if err != nil {
			t.Fatalf("what was parsed does not parse: %v", err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Errorf("parsed again (-want +got):\n%s", diff)
		}
		// A correlation id that is none is read as it is, and not sent on.
		sent, err := (errcode.Builder{}).Data(d.Err())
		if lost := d.CorrelationID != sent.CorrelationID; sent.ErrorCode != d.ErrorCode || lost != (err != nil) {
			t.Errorf("what was parsed cannot be sent: %+v, %v", sent, err)
		}
	})
}

func FuzzFromTask(f *testing.F) {
	b, err := json.Marshal(failedTask(a2a.NewTextPart("x"), a2a.NewDataPart(map[string]any{"errorCode": "NOT_FOUND", "retriable": true})))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"status":{"state":"TASK_STATE_FAILED","message":{"parts":[{"data":{"errorCode":"E"},"metadata":{"schema":"application-error/v1"}}]}}}`))
	f.Add([]byte(`{"status":{"state":"TASK_STATE_FAILED","message":{"parts":[null,{"text":""}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var task a2a.Task
		if json.Unmarshal(b, &task) != nil {
			return
		}
		e, ok := errcode.FromTask(&task)
		if ok != (task.Status.State == a2a.TaskStateFailed) || ok != (e != nil) {
			t.Fatalf("state %s gave %v, %v", task.Status.State, e, ok)
		}
		if !ok {
			return
		}
		if _, err := (errcode.Builder{}).Data(e); err != nil {
			t.Errorf("a remote error cannot be sent on: %v", err)
		}
	})
}

func mustJSONFuzz(f *testing.F, e *errcode.Error) []byte {
	f.Helper()
	d, err := errcode.Builder{}.Data(e)
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(d)
	if err != nil {
		f.Fatal(err)
	}
	return b
}
