package executor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
)

// wanted is how each error is told (A2A v1.0 sections 3.3.2, 5.4 and 9.5), by
// its reason.
var wanted = map[string]struct {
	rpc, http int
	grpc      codes.Code
	name      string
	code      errcode.Code
}{
	"TASK_NOT_FOUND":                     {-32001, 404, codes.NotFound, "NOT_FOUND", errcode.NotFound},
	"TASK_NOT_CANCELABLE":                {-32002, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.InvalidInput},
	"PUSH_NOTIFICATION_NOT_SUPPORTED":    {-32003, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.InvalidInput},
	"UNSUPPORTED_OPERATION":              {-32004, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.InvalidInput},
	"CONTENT_TYPE_NOT_SUPPORTED":         {-32005, 400, codes.InvalidArgument, "INVALID_ARGUMENT", errcode.InvalidInput},
	"INVALID_AGENT_RESPONSE":             {-32006, 500, codes.Internal, "INTERNAL", errcode.Internal},
	"EXTENDED_AGENT_CARD_NOT_CONFIGURED": {-32007, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.NotFound},
	"EXTENSION_SUPPORT_REQUIRED":         {-32008, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.InvalidInput},
	"VERSION_NOT_SUPPORTED":              {-32009, 400, codes.FailedPrecondition, "FAILED_PRECONDITION", errcode.InvalidInput},
	"INVALID_PARAMS":                     {-32602, 400, codes.InvalidArgument, "INVALID_ARGUMENT", errcode.InvalidInput},
	"INTERNAL_ERROR":                     {-32603, 500, codes.Internal, "INTERNAL", errcode.Internal},
	"UNAUTHENTICATED":                    {-31401, 401, codes.Unauthenticated, "UNAUTHENTICATED", errcode.AuthRequired},
	"UNAUTHORIZED":                       {-31403, 403, codes.PermissionDenied, "PERMISSION_DENIED", errcode.AuthRequired},
	"UNAVAILABLE":                        {-32603, 503, codes.Unavailable, "UNAVAILABLE", errcode.UpstreamUnavailable},
	"RESOURCE_EXHAUSTED":                 {-32603, 429, codes.ResourceExhausted, "RESOURCE_EXHAUSTED", errcode.RateLimited},
}

// rpcStatus are the errors that concern HTTP itself: their status is their own
// over JSON-RPC too, the others have 200, for clients read no body of another.
var rpcStatus = map[string]bool{"UNAUTHENTICATED": true, "UNAUTHORIZED": true}

// row is one row of the table of operations and errors, or of what the host
// does otherwise.
type row struct {
	name    string
	request request
	reason  string            // empty: it succeeds
	fields  map[string]string // of the violations: path and a piece of the description
	taskID  string            // in ErrorInfo's metadata
	message string
	retry   string
	header  map[string]string // a piece of each
	not     []string          // bindings that cannot say it
	check   func(t *testing.T, r reply)
}

func (c row) run(t *testing.T, w *wire) {
	t.Helper()
	for _, b := range bindingNames {
		if slices.Contains(c.not, b) || b == "JSON-RPC 0.3" && oldMethods[c.request.op] == "" {
			continue
		}
		t.Run(c.name+"/"+b, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, b, c.request)
			if c.reason == "" {
				if got.failed {
					t.Fatalf("refused: %+v", got)
				}
			} else {
				c.compare(t, b, got)
			}
			for k, v := range c.header {
				if b == "gRPC" && k == "Retry-After" {
					continue
				}
				if b == "JSON-RPC 0.3" && k == "A2A-Extensions" {
					k = "X-A2A-Extensions"
				}
				if h := got.header.Get(k); !strings.Contains(h, v) || h == "" {
					t.Errorf("%s: got %q, want %q", k, h, v)
				}
			}
			if c.check != nil {
				c.check(t, got)
			}
		})
	}
}

func (c row) compare(t *testing.T, binding string, got reply) {
	t.Helper()
	want, ok := wanted[c.reason]
	if !ok || !got.failed {
		t.Fatalf("not refused: %+v", got)
	}
	if got.reason != c.reason || got.domain != "a2a-protocol.org" {
		t.Errorf("got reason %s of %s, want %s", got.reason, got.domain, c.reason)
	}
	httpStatus := 200
	if binding == "HTTP+JSON" || rpcStatus[c.reason] {
		httpStatus = want.http
	}
	switch binding {
	case "gRPC":
		if got.grpc != want.grpc {
			t.Errorf("got %v, want %v", got.grpc, want.grpc)
		}
	case "HTTP+JSON":
		if got.status != httpStatus || got.name != want.name {
			t.Errorf("got %d %s, want %d %s", got.status, got.name, httpStatus, want.name)
		}
	default:
		if got.rpc != want.rpc || got.status != httpStatus {
			t.Errorf("got %d with HTTP %d, want %d with %d", got.rpc, got.status, want.rpc, httpStatus)
		}
	}
	c.compareDetails(t, got, want.code)
}

func (c row) compareDetails(t *testing.T, got reply, code errcode.Code) {
	t.Helper()
	if c.message != "" && got.message != c.message {
		t.Errorf("message: got %q, want %q", got.message, c.message)
	}
	if got.meta["taskId"] != c.taskID {
		t.Errorf("metadata.taskId: got %q, want %q", got.meta["taskId"], c.taskID)
	}
	if len(got.fields) != len(c.fields) {
		t.Errorf("violations: got %v, want those of %v", got.fields, c.fields)
	}
	for path, text := range c.fields {
		if d, ok := got.fields[path]; !ok || !strings.Contains(d, text) {
			t.Errorf("violation %s: got %q, want %q", path, d, text)
		}
	}
	if got.retry != c.retry {
		t.Errorf("retry after %q, want %q", got.retry, c.retry)
	}
	d := errcode.Data{}
	if e, err := errcode.ParseData(got.data); err != nil {
		t.Errorf("error data %v: %v", got.data, err)
	} else {
		d = e
	}
	if d.ErrorCode != code || d.ErrorReason != strings.ToLower(c.reason) || d.ErrorMessage != got.message || d.Domain != "conforming" ||
		len(d.Violations) != len(c.fields) || d.Retriable != code.Retriable() {
		t.Errorf("error data: got %+v, want %s", d, code)
	}
	for _, s := range []string{"failed to", "json:", "a2a.", "goroutine", "executor"} {
		if strings.Contains(got.raw, s) {
			t.Errorf("internal text %q in %s", s, got.raw)
		}
	}
}

// conforming is an agent that can do everything the rows need.
func conforming(release <-chan struct{}) *agent.Agent {
	return agent.New("conforming", agent.Invoke(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); asked {
			return agent.Text("answered"), nil
		}
		switch req.Text() {
		case "ask":
			return nil, hitl.InputRequired("?")
		case "credentials":
			return nil, hitl.AuthRequired("?", hitl.Auth("oauth2", "x"))
		case "wait":
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return agent.Text("done"), nil
	}), agent.Validate(func(_ context.Context, req *agent.Request) error {
		switch req.Text() {
		case "limited":
			return errcode.New(errcode.RateLimited, "quota", errcode.Message("The quota is used up."), errcode.RetryAfter(1500*time.Millisecond))
		case "down":
			return errcode.New(errcode.UpstreamUnavailable, "ledger", errcode.RetryAfter(3*time.Second), errcode.Message("The ledger is down."))
		case "response":
			return a2a.ErrInvalidAgentResponse
		}
		return nil
	}))
}

func say(text string, more map[string]any) map[string]any {
	m := map[string]any{"messageId": "m-1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}}}
	maps.Copy(m, more)
	return map[string]any{"message": m}
}

func with(params map[string]any, more map[string]any) map[string]any {
	maps.Copy(params, more)
	return params
}

// start makes a task, and gives its id.
func (w *wire) start(t *testing.T, text string, more map[string]any) string {
	t.Helper()
	got := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: with(say(text, nil), more)})
	task, _ := got.result["task"].(map[string]any)
	id, _ := task["id"].(string)
	if id == "" {
		t.Fatalf("no task: %s", got.raw)
	}
	return id
}

// TestConformance has a row for each row of the table of operations and errors
// of A2A v1.0.1, and for each thing that the host does otherwise.
func TestConformance(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := serve(t, conforming(release))
	t.Cleanup(func() { close(release) })
	finished, parked := w.start(t, "ok", nil), w.start(t, "ask", nil)
	running := w.start(t, "wait", map[string]any{"configuration": map[string]any{"returnImmediately": true}})
	canceled := w.start(t, "ask", nil)
	if got := w.ask(t, "JSON-RPC", request{op: "CancelTask", params: map[string]any{"id": canceled}}); got.failed {
		t.Fatalf("cancel: %s", got.raw)
	}
	var rows []row
	rows = append(rows, rowsOfMessages(finished, running, parked)...)
	rows = append(rows, rowsOfTasks(finished, canceled, parked)...)
	rows = append(rows, rowsOfPush(finished)...)
	rows = append(rows, rowsOfVersions()...)
	for _, r := range rows {
		r.run(t, w)
	}
}

func rowsOfMessages(finished, running, parked string) []row {
	var out []row
	for _, op := range []string{"SendMessage", "SendStreamingMessage"} {
		to := func(id string) request { return request{op: op, params: say("hi", map[string]any{"taskId": id})} }
		part := func(p map[string]any) request {
			return request{op: op, params: say("", map[string]any{"parts": []any{map[string]any{"text": "x"}, p}})}
		}
		out = append(out,
			row{name: op + " to a finished task", request: to(finished), reason: "UNSUPPORTED_OPERATION", taskID: finished, message: "The task has ended and takes no further messages."},
			row{name: op + " to an unknown task", request: to("nowhere"), reason: "TASK_NOT_FOUND", taskID: "nowhere", message: "Task not found."},
			row{name: op + " while the task runs", request: to(running), reason: "UNSUPPORTED_OPERATION", taskID: running},
			row{
				name: op + " of a content type that the card does not list", request: part(map[string]any{"raw": "AAAA", "mediaType": "image/png"}),
				reason: "CONTENT_TYPE_NOT_SUPPORTED", fields: map[string]string{"message.parts.1": "does not take image/png; it takes text/plain, application/json"},
			},
			row{
				name: op + " that accepts only what the agent does not give", reason: "CONTENT_TYPE_NOT_SUPPORTED",
				request: request{op: op, params: with(say("hi", nil), map[string]any{"configuration": map[string]any{"acceptedOutputModes": []any{"audio/ogg", "image/*"}}})},
				fields:  map[string]string{"configuration.acceptedOutputModes": "it gives text/plain, application/json"},
			},
			row{
				name:    op + " that accepts something of what the agent gives",
				request: request{op: op, params: with(say("hi", nil), map[string]any{"configuration": map[string]any{"acceptedOutputModes": []any{"image/png", "text", "text/*"}}})},
			},
			row{name: op + " with a push config", reason: "PUSH_NOTIFICATION_NOT_SUPPORTED", request: request{op: op, params: with(say("hi", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": "https://example.com/hook"}},
			})}},
			row{
				name: op + " of another context than the task's", reason: "INVALID_PARAMS", taskID: parked,
				request: request{op: op, params: say("hi", map[string]any{"taskId": parked, "contextId": "another"})},
				fields:  map[string]string{"message.contextId": "is not the context of the task"},
			},
			row{
				name: op + " that is too much", reason: "RESOURCE_EXHAUSTED", message: "The quota is used up.", retry: "1.5s",
				request: request{op: op, params: say("limited", nil)}, header: map[string]string{"Retry-After": "2"},
			},
			row{
				name: op + " while something is down", reason: "UNAVAILABLE", message: "The ledger is down.", retry: "3s",
				request: request{op: op, params: say("down", nil)}, header: map[string]string{"Retry-After": "3"},
			},
			row{name: op + " with an invalid response", reason: "INVALID_AGENT_RESPONSE", request: request{op: op, params: say("response", nil)}},
			row{name: op + " with nothing", reason: "INVALID_PARAMS", request: request{op: op, params: map[string]any{}}, fields: map[string]string{"message": "is required"}},
			row{
				name: op + " with everything wrong at once", reason: "INVALID_PARAMS",
				request: request{op: op, params: map[string]any{
					"message":       map[string]any{"parts": []any{}, "referenceTaskIds": []any{""}},
					"configuration": map[string]any{"historyLength": -1, "acceptedOutputModes": []any{""}},
				}},
				fields: map[string]string{
					"message.messageId": "is required", "message.role": "is required", "message.parts": "", "message.referenceTaskIds.0": "must not be empty",
					"configuration.historyLength": "an integer of 0 or more, got -1", "configuration.acceptedOutputModes.0": "must not be empty",
				},
			},
			row{
				name: op + " with types that are wrong", reason: "INVALID_PARAMS", not: []string{"gRPC"},
				request: request{op: op, params: map[string]any{
					"message":  map[string]any{"messageId": 7, "role": "ROLE_USER", "parts": []any{nil, "x"}, "contextId": []any{}},
					"metadata": "x", "configuration": []any{},
				}},
				fields: map[string]string{
					"message.messageId": "expected a string, got a number", "message.parts.0": "expected an object, got null",
					"message.parts.1": "expected an object, got a string", "message.contextId": "expected a string, got an array",
					"metadata": "expected an object, got a string", "configuration": "expected an object, got an array",
				},
			},
			row{
				name: op + " with a role that is none", reason: "INVALID_PARAMS", not: []string{"gRPC"},
				request: request{op: op, params: say("x", map[string]any{"role": "ROLE_BOSS"})}, fields: map[string]string{"message.role": "expected one of"},
			},
			row{
				name: op + " with parts that are wrong", reason: "INVALID_PARAMS", not: []string{"gRPC", "JSON-RPC 0.3"},
				request: request{op: op, params: say("x", map[string]any{"parts": []any{
					map[string]any{}, map[string]any{"text": "a", "url": "b"}, map[string]any{"raw": "*"}, map[string]any{"text": 1},
				}})},
				fields: map[string]string{
					"message.parts.0": "expected one of text, raw, url and data", "message.parts.1": "got text and url",
					"message.parts.2.raw": "base64", "message.parts.3.text": "expected a string, got a number",
				},
			},
		)
	}
	return out
}

func rowsOfTasks(finished, canceled, parked string) []row {
	id := func(op, id string) request { return request{op: op, params: map[string]any{"id": id}} }
	out := []row{
		{name: "GetTask of an unknown task", request: id("GetTask", "nowhere"), reason: "TASK_NOT_FOUND", taskID: "nowhere", message: "Task not found."},
		{name: "GetTask", request: id("GetTask", finished), check: wantState("COMPLETED")},
		{name: "CancelTask of a finished task", request: id("CancelTask", finished), reason: "TASK_NOT_CANCELABLE", taskID: finished},
		{name: "CancelTask of an unknown task", request: id("CancelTask", "nowhere"), reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{name: "CancelTask of a canceled task", request: id("CancelTask", canceled), check: wantState("CANCELED")},
		{name: "SubscribeToTask of a finished task", request: id("SubscribeToTask", finished), reason: "UNSUPPORTED_OPERATION", taskID: finished},
		{name: "SubscribeToTask of a canceled task", request: id("SubscribeToTask", canceled), reason: "UNSUPPORTED_OPERATION", taskID: canceled},
		{name: "SubscribeToTask of an unknown task", request: id("SubscribeToTask", "nowhere"), reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{name: "SubscribeToTask of a parked task", request: id("SubscribeToTask", parked), check: wantState("INPUT_REQUIRED")},
		{
			name: "GetTask with a history that is no number of messages", reason: "INVALID_PARAMS", fields: map[string]string{"historyLength": "got -5"},
			request: request{op: "GetTask", params: map[string]any{"id": finished, "historyLength": -5}}, taskID: finished,
		},
		{name: "ListTasks of nobody", request: request{op: "ListTasks"}, check: wantTasks},
		{
			name: "ListTasks with everything wrong", reason: "INVALID_PARAMS", not: []string{"gRPC"}, // which cannot say most of it
			request: request{op: "ListTasks", params: map[string]any{"pageSize": 150, "historyLength": -5, "status": "TASK_STATE_RUNNING", "statusTimestampAfter": "noon", "includeArtifacts": "maybe"}},
			fields: map[string]string{
				"pageSize": "between 1 and 100, got 150", "historyLength": "0 or more, got -5", "status": "TASK_STATE_WORKING",
				"statusTimestampAfter": `got "noon"`, "includeArtifacts": "expected true or false",
			},
		},
		{
			name: "ListTasks with a page that is too large", reason: "INVALID_PARAMS",
			request: request{op: "ListTasks", params: map[string]any{"pageSize": 101}}, fields: map[string]string{"pageSize": "between 1 and 100, got 101"},
		},
		{
			name: "ListTasks with a page that is too small", reason: "INVALID_PARAMS",
			request: request{op: "ListTasks", params: map[string]any{"pageSize": 0}}, fields: map[string]string{"pageSize": "between 1 and 100, got 0"},
		},
		{
			name: "ListTasks with a token of nobody", reason: "INVALID_PARAMS",
			request: request{op: "ListTasks", params: map[string]any{"pageToken": "nonsense"}}, fields: map[string]string{"pageToken": "not a token"},
		},
		{name: "GetExtendedAgentCard where there is none", request: request{op: "GetExtendedAgentCard"}, reason: "UNSUPPORTED_OPERATION"},
	}
	for _, op := range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
		out = append(out, row{name: op + " without an id", request: request{op: op}, reason: "INVALID_PARAMS", fields: map[string]string{"id": "is required"}, not: []string{"HTTP+JSON"}})
	}
	return out
}

func rowsOfPush(finished string) []row {
	var out []row
	for op, params := range map[string]map[string]any{
		"CreateTaskPushNotificationConfig": {"taskId": finished, "url": "https://example.com/hook"},
		"GetTaskPushNotificationConfig":    {"taskId": finished, "id": "c"},
		"ListTaskPushNotificationConfigs":  {"taskId": finished},
		"DeleteTaskPushNotificationConfig": {"taskId": finished, "id": "c"},
	} {
		out = append(out, row{name: op + " without push", request: request{op: op, params: params}, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED", taskID: finished})
	}
	return out
}

// sendsNothing is a sender of push notifications for tests that are not about
// them.
type sendsNothing struct{}

func (sendsNothing) SendPush(context.Context, *a2a.PushConfig, a2a.Event) error { return nil }

var pushesNothing = executor.PushNotifications(executor.Push{Sender: sendsNothing{}})

// TestConformanceOfPush: the operations on push notification configs.
func TestConformanceOfPush(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	id := w.start(t, "ask", nil)
	op := func(name string, params map[string]any) request {
		return request{op: name + "TaskPushNotificationConfig", params: params}
	}
	config := func(task string) map[string]any {
		return map[string]any{"taskId": task, "id": "c-1", "url": "https://example.com/hook"}
	}
	for _, r := range []row{
		{name: "create", request: op("Create", config(id))},
		{name: "create for an unknown task", request: op("Create", config("nowhere")), reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{
			name: "create without a URL", request: op("Create", map[string]any{"taskId": id}), reason: "INVALID_PARAMS", taskID: id,
			fields: map[string]string{"url": "is required"}, not: []string{"JSON-RPC 0.3"},
		},
		{
			name: "create with a URL of something else", request: op("Create", map[string]any{"taskId": id, "url": "file:///etc/passwd"}), reason: "INVALID_PARAMS",
			taskID: id, fields: map[string]string{"url": "absolute http or https URL"}, not: []string{"JSON-RPC 0.3"},
		},
		{name: "get an unknown one", request: op("Get", map[string]any{"taskId": id, "id": "unknown"}), reason: "TASK_NOT_FOUND", taskID: id, message: "Push notification config not found."},
		{name: "get one of an unknown task", request: op("Get", map[string]any{"taskId": "nowhere", "id": "c-1"}), reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{name: "list those of an unknown task", request: request{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": "nowhere"}}, reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{name: "list", request: request{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": id}}},
		{name: "delete", request: op("Delete", map[string]any{"taskId": id, "id": "c-1"})},
		{name: "delete one that there is not", request: op("Delete", map[string]any{"taskId": id, "id": "unknown"})},
		{name: "delete one of an unknown task", request: op("Delete", map[string]any{"taskId": "nowhere", "id": "c-1"}), reason: "TASK_NOT_FOUND", taskID: "nowhere"},
		{
			name: "a message with a config", not: []string{"JSON-RPC 0.3"}, // TestOldMessages has it
			request: request{op: "SendMessage", params: with(say("hi", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": "https://example.com/hook"}},
			})},
		},
		{
			name: "a message with a config that is wrong", reason: "INVALID_PARAMS", not: []string{"JSON-RPC 0.3"},
			request: request{op: "SendMessage", params: with(say("hi", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": "hook", "authentication": map[string]any{}}},
			})},
			fields: map[string]string{
				"configuration.taskPushNotificationConfig.url":                   "absolute http or https URL",
				"configuration.taskPushNotificationConfig.authentication.scheme": "is required",
			},
		},
	} {
		r.run(t, w)
	}
}

func rowsOfVersions() []row {
	var out []row
	for _, v := range []string{"0.5", "2.0", "1", "junk", "1.0, 2.0"} {
		out = append(out, row{name: "A2A-Version " + v, reason: "VERSION_NOT_SUPPORTED", request: request{
			op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": v},
		}})
	}
	return append(out,
		row{name: "A2A-Version 1.0", not: []string{"JSON-RPC 0.3"}, request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": "1.0"}}},
		row{name: "A2A-Version 1.0.1", not: []string{"JSON-RPC 0.3"}, request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": "1.0.1"}}},
		row{
			name: "A2A-Version 0.3 where it is not", not: []string{"JSON-RPC 0.3", "JSON-RPC"}, reason: "VERSION_NOT_SUPPORTED",
			request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": "0.3"}},
		},
		row{
			name: "A2A-Version 0.3 where it is", not: []string{"HTTP+JSON", "JSON-RPC", "gRPC"},
			request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": "0.3"}},
		},
		row{
			name: "A2A-Version 1.0 where it is not", not: []string{"HTTP+JSON", "JSON-RPC", "gRPC"}, reason: "VERSION_NOT_SUPPORTED",
			request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Version": "1.0"}},
		},
		row{
			name: "several extensions in one header", header: map[string]string{"A2A-Extensions": errcode.ExtensionURI},
			request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"A2A-Extensions": "https://example.com/x , " + errcode.ExtensionURI}},
		},
		row{
			name: "several extensions in the header of 0.3", not: []string{"HTTP+JSON", "JSON-RPC", "gRPC"}, header: map[string]string{"X-A2A-Extensions": errcode.ExtensionURI},
			request: request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"X-A2A-Extensions": "https://example.com/x," + errcode.ExtensionURI}},
		},
		row{
			name: "an extension with an error", header: map[string]string{"A2A-Extensions": errcode.ExtensionURI}, reason: "TASK_NOT_FOUND", taskID: "nowhere",
			request: request{op: "SendStreamingMessage", params: say("hi", map[string]any{"taskId": "nowhere"}), header: map[string]string{"A2A-Extensions": errcode.ExtensionURI}},
		},
		row{name: "no extension is activated unasked", request: request{op: "SendMessage", params: say("hi", nil)}, check: func(t *testing.T, r reply) {
			t.Helper()
			if r.header.Get("A2A-Extensions")+r.header.Get("X-A2A-Extensions") != "" {
				t.Errorf("activated: %v", r.header)
			}
		}},
	)
}

func wantState(state string) func(*testing.T, reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		task := r.result
		if inner, ok := task["task"].(map[string]any); ok {
			task = inner
		}
		status, _ := task["status"].(map[string]any)
		got, _ := status["state"].(string)
		if old := strings.ToUpper(strings.ReplaceAll(got, "-", "_")); old != state && got != "TASK_STATE_"+state {
			t.Errorf("state %q of %s, want %s", got, r.raw, state)
		}
	}
}

func wantTasks(t *testing.T, r reply) {
	t.Helper()
	tasks, ok := r.result["tasks"].([]any)
	if !ok || len(tasks) == 0 {
		t.Errorf("no tasks in %v", r.result)
	}
	for _, task := range tasks {
		if m, _ := task.(map[string]any); m["artifacts"] != nil {
			t.Errorf("artifacts that nobody asked for: %v", m)
		}
	}
}

// TestConformanceOfExtensions: one that is required.
func TestConformanceOfExtensions(t *testing.T) {
	t.Parallel()
	const uri = "https://example.com/geolocation/v1"
	w := serve(t, conforming(nil), executor.Extensions(a2a.AgentExtension{URI: uri, Required: true}))
	ask := func(h map[string]string) request {
		return request{op: "SendMessage", params: say("hi", nil), header: h}
	}
	for _, r := range []row{
		{name: "not named", request: ask(nil), reason: "EXTENSION_SUPPORT_REQUIRED", message: "The agent requires extensions that the request does not name: " + uri + "."},
		{name: "another named", request: ask(map[string]string{"A2A-Extensions": errcode.ExtensionURI}), reason: "EXTENSION_SUPPORT_REQUIRED"},
		{name: "named", request: ask(map[string]string{"A2A-Extensions": errcode.ExtensionURI + "," + uri}), header: map[string]string{"A2A-Extensions": errcode.ExtensionURI + ", " + uri}},
	} {
		r.run(t, w)
	}
}

// verifyNames takes the credential for the name, "bad" for nobody.
func verifyNames(_ context.Context, credential string) (executor.Identity, error) {
	switch credential {
	case "bad":
		return executor.Identity{}, errcode.New(errcode.AuthRequired, "expired", errcode.Message("hunter2"))
	case "down":
		return executor.Identity{}, errcode.New(errcode.UpstreamUnavailable, "issuer", errcode.Message("The issuer is down."), errcode.RetryAfter(time.Second), errcode.Cause(errors.New("dial users.internal")))
	case "panic":
		panic("hunter2")
	case "reader":
		return executor.Identity{User: "reader"}, nil
	}
	return executor.Identity{User: credential, Scopes: []string{"tasks.write"}}, nil
}

// TestConformanceOfAuthentication: 401, 403, and the tasks of others.
func TestConformanceOfAuthentication(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.APIKeyAuth("X-API-Key", executor.VerifierFunc(verifyNames)),
		executor.RequireScope("tasks.write", "SendMessage", "SendStreamingMessage", "CreateTaskPushNotificationConfig"),
		executor.ExtendedCard(func(_ context.Context, caller agent.User, public *a2a.AgentCard) (*a2a.AgentCard, error) {
			if caller.Name == "ada" {
				public.Description = "for Ada"
				return public, nil
			}
			return nil, nil
		}))
	bearer := func(s string) map[string]string { return map[string]string{"Authorization": "Bearer " + s} }
	key := func(s string) map[string]string { return map[string]string{"X-API-Key": s} }
	get := func(id string, h map[string]string) request {
		return request{op: "GetTask", params: map[string]any{"id": id}, header: h}
	}
	send := func(h map[string]string) request {
		return request{op: "SendMessage", params: say("hi", nil), header: h}
	}
	stream := func(h map[string]string) request {
		return request{op: "SendStreamingMessage", params: say("hi", nil), header: h}
	}
	made := w.ask(t, "JSON-RPC", send(bearer("ada")))
	task, _ := made.result["task"].(map[string]any)
	id, _ := task["id"].(string)
	challenge := map[string]string{"Www-Authenticate": `Bearer realm="conforming"`}
	for _, r := range []row{
		{name: "nobody", request: send(nil), reason: "UNAUTHENTICATED", message: "Authentication is required.", header: challenge},
		{name: "nobody, streaming", request: stream(nil), reason: "UNAUTHENTICATED", header: map[string]string{"Www-Authenticate": `ApiKey realm="conforming", header="X-API-Key"`}},
		{name: "nobody, with a request that is wrong", request: request{op: "SendMessage"}, reason: "UNAUTHENTICATED", header: challenge},
		{name: "another scheme", request: send(map[string]string{"Authorization": "Basic YTpi"}), reason: "UNAUTHENTICATED", header: challenge},
		{name: "a bad token", request: send(bearer("bad")), reason: "UNAUTHENTICATED", header: map[string]string{"Www-Authenticate": `error="invalid_token"`}},
		{name: "a bad key", request: send(key("bad")), reason: "UNAUTHENTICATED", header: challenge},
		{name: "a verifier that is down", request: send(bearer("down")), reason: "UNAVAILABLE", retry: "1s", header: map[string]string{"Retry-After": "1"}},
		{name: "a verifier that panics", request: send(bearer("panic")), reason: "INTERNAL_ERROR"},
		{name: "a token", request: send(bearer("ada"))},
		{name: "a key", request: send(key("ada"))},
		{
			name: "without the scope", request: send(bearer("reader")), reason: "UNAUTHORIZED", message: "The scope tasks.write is missing.",
			header: map[string]string{"Www-Authenticate": `error="insufficient_scope", scope="tasks.write"`},
		},
		{
			name: "without the scope, to a task of another's", reason: "UNAUTHORIZED", message: "The scope tasks.write is missing.",
			request: request{op: "SendStreamingMessage", params: say("hi", map[string]any{"taskId": id}), header: bearer("reader")},
		},
		{name: "one's own task", request: get(id, bearer("ada")), check: wantState("COMPLETED")},
		{name: "another's task", request: get(id, bearer("bob")), reason: "TASK_NOT_FOUND", taskID: id, message: "Task not found."},
		{name: "no task", request: get("nowhere", bearer("bob")), reason: "TASK_NOT_FOUND", taskID: "nowhere", message: "Task not found."},
		{name: "cancel another's task", request: request{op: "CancelTask", params: map[string]any{"id": id}, header: bearer("bob")}, reason: "TASK_NOT_FOUND", taskID: id},
		{name: "follow another's task", request: request{op: "SubscribeToTask", params: map[string]any{"id": id}, header: bearer("bob")}, reason: "TASK_NOT_FOUND", taskID: id},
		{name: "answer another's task", request: request{op: "SendMessage", params: say("x", map[string]any{"taskId": id}), header: bearer("bob")}, reason: "TASK_NOT_FOUND", taskID: id},
		{name: "list one's own tasks only", request: request{op: "ListTasks", header: bearer("bob")}, check: func(t *testing.T, r reply) {
			t.Helper()
			if tasks, ok := r.result["tasks"].([]any); ok && len(tasks) > 0 {
				t.Errorf("got %v", r.result)
			}
		}},
		{name: "the extended card", request: request{op: "GetExtendedAgentCard", header: bearer("ada")}, check: func(t *testing.T, r reply) {
			t.Helper()
			if r.result["description"] != "for Ada" {
				t.Errorf("got %v", r.result)
			}
		}},
		{name: "no extended card for this one", request: request{op: "GetExtendedAgentCard", header: bearer("bob")}, reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
	} {
		r.run(t, w)
	}
	t.Cleanup(func() { // after the rows
		log := w.log.String()
		if !strings.Contains(log, "hunter2") {
			t.Error("the log lacks the verifier's panic")
		}
		if !strings.Contains(log, "users.internal") {
			t.Error("the log does not say that the verifier is down")
		}
	})
}

// TestOthersTasksLookAbsent compares the whole answers, byte by byte but for
// what must differ.
func TestOthersTasksLookAbsent(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)))
	ada, bob := map[string]string{"Authorization": "Bearer ada"}, map[string]string{"Authorization": "Bearer bob"}
	made := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: say("ask", nil), header: ada})
	task, _ := made.result["task"].(map[string]any)
	id, _ := task["id"].(string)
	for _, b := range bindingNames {
		for _, op := range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
			theirs := w.ask(t, b, request{op: op, params: map[string]any{"id": id}, header: bob})
			absent := w.ask(t, b, request{op: op, params: map[string]any{"id": "nowhere"}, header: bob})
			for _, r := range []*reply{&theirs, &absent} {
				delete(r.meta, "timestamp")
				r.header.Del("Date")
				r.header.Del("Content-Length")
				r.header.Del("Grpc-Status-Details-Bin") // compared as the details
				r.raw = ""
			}
			theirs.meta["taskId"] = "nowhere"
			theirs.data["details"] = map[string]any{"taskId": "nowhere"}
			if diff := cmp.Diff(absent, theirs, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("%s %s (-absent +another's):\n%s", b, op, diff)
			}
		}
	}
}

// TestAuthorizeAsks: a function of the user's decides, by operation.
func TestAuthorizeAsks(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.Authorize(func(_ context.Context, _ agent.User, operation string) error {
		switch operation {
		case "CancelTask":
			return executor.MissingScope("tasks.cancel")
		case "GetTask":
			return errcode.New(errcode.NotFound, "x", errcode.Message("hunter2"))
		case "SubscribeToTask":
			panic("hunter2")
		}
		return nil
	}))
	id := map[string]any{"id": "nowhere"}
	for _, r := range []row{
		{name: "allowed", request: request{op: "SendMessage", params: say("hi", nil)}},
		{name: "a missing scope", request: request{op: "CancelTask", params: id}, reason: "UNAUTHORIZED", message: "The scope tasks.cancel is missing."},
		{name: "no reason", request: request{op: "GetTask", params: id}, reason: "UNAUTHORIZED", message: "Permission denied."},
		{name: "a panic", request: request{op: "SubscribeToTask", params: id}, reason: "INTERNAL_ERROR", taskID: "nowhere"},
	} {
		r.run(t, w)
	}
}

// TestHistoryLength: SendMessage, GetTask and ListTasks give as many messages
// as were asked for.
func TestHistoryLength(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	id := w.start(t, "ask", nil)
	w.start(t, "answer", map[string]any{"message": map[string]any{
		"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{map[string]any{"text": "answer"}},
	}})
	history := func(r reply, old bool) int {
		task := r.result
		if inner, ok := task["task"].(map[string]any); ok {
			task = inner
		}
		if tasks, ok := task["tasks"].([]any); ok {
			task, _ = tasks[0].(map[string]any)
		}
		h, present := task["history"].([]any)
		if present && len(h) == 0 && !old {
			return -1
		}
		return len(h)
	}
	for n, want := range map[int]int{0: 0, 1: 1, 2: 2, 50: 3} {
		for _, b := range bindingNames {
			for _, op := range []string{"SendMessage", "SendStreamingMessage", "GetTask", "ListTasks"} {
				if b == "JSON-RPC 0.3" && op == "ListTasks" {
					continue
				}
				r := request{op: op, params: map[string]any{"id": id, "historyLength": n}}
				wantHere := want
				switch op {
				case "ListTasks":
					delete(r.params, "id")
					r.params["pageSize"] = 1
					wantHere = -2 // the most recent task may be another
				case "SendMessage", "SendStreamingMessage":
					r.params = with(say("hi", nil), map[string]any{"configuration": map[string]any{"historyLength": n}})
					wantHere = min(n, 1)
				}
				got := history(w.ask(t, b, r), b == "JSON-RPC 0.3")
				if wantHere == -2 && (got < 0 || got > n) || wantHere != -2 && got != wantHere {
					t.Errorf("%s over %s with %d: got %d messages, want %d", op, b, n, got, wantHere)
				}
			}
		}
	}
}

// TestProtocolErrorsDocument: the document has what the conformance test asks
// for.
func TestProtocolErrorsDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/protocol-errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for reason, w := range wanted {
		want := fmt.Sprintf("| `%s` | %d | %d | %s | %s |", reason, w.rpc, w.http, w.name, w.code)
		if !strings.Contains(string(doc), want) {
			t.Errorf("docs/protocol-errors.md lacks %s", want)
		}
	}
}
