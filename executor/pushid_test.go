package executor_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestPushConfigIDsFitPaths: a config whose id could not stand in a path could be
// made over every binding, but not read and deleted over HTTP+JSON.
func TestPushConfigIDsFitPaths(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	task := w.start(t, "ok", nil)
	op := func(name, id string) request {
		params := map[string]any{"taskId": task, "id": id}
		if name == "Create" {
			params["url"] = "https://example.com/"
		}
		return request{op: name + "TaskPushNotificationConfig", params: params}
	}
	const slashes = "must not contain slashes and control characters, for it is part of a URL"
	for id, fault := range map[string]string{
		"a/b": slashes, "/": slashes, ".": `must not be ".", which no URL can name`, "..": `must not be "..", which no URL can name`,
		strings.Repeat("x", 2000): "expected at most 1024 bytes, got 2000",
	} {
		for _, b := range bindingNames {
			field := "id"
			if b == "JSON-RPC 0.3" {
				field = "pushNotificationConfig.id"
			}
			row{
				name: fmt.Sprintf("create %.20s", id), reason: "INVALID_PARAMS", taskID: task, fields: map[string]string{field: fault},
				request: op("Create", id), not: without(b),
			}.run(t, w)
		}
		row{
			name: fmt.Sprintf("message with %.20s", id), reason: "INVALID_PARAMS", not: []string{"JSON-RPC 0.3"},
			fields: map[string]string{"configuration.taskPushNotificationConfig.id": fault},
			request: request{op: "SendMessage", params: with(say("hi", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"id": id, "url": "https://example.com/"}},
			})},
		}.run(t, w)
	}
	for _, id := range []string{"x:cancel", "x:subscribe", "x:y", "a b", "ü x", "%2F", "50%", "ä?#", "a?b#c", "a\\b", ".x", "a.b", "...", "+"} {
		for _, b := range bindingNames {
			for _, name := range []string{"Create", "Get", "Delete"} {
				got := w.ask(t, b, op(name, id))
				if got.failed || name == "Get" && b != "JSON-RPC 0.3" && got.result["id"] != id {
					t.Errorf("%s %q over %s: got %s", name, id, b, got.raw)
				}
			}
			if got := w.ask(t, b, op("Get", id)); got.reason != "TASK_NOT_FOUND" {
				t.Errorf("%q over %s is not deleted: %s", id, b, got.raw)
			}
		}
		w.ask(t, "JSON-RPC", op("Create", id))
		at := "/v0.3/v1/tasks/" + task + "/pushNotificationConfigs/" + url.PathEscape(id)
		if res, body := w.send(t, "GET", at, "", nil); res.StatusCode != http.StatusOK || !strings.Contains(body, `"pushNotificationConfig"`) {
			t.Errorf("get %s: HTTP %d %s", at, res.StatusCode, body)
		}
		if res, body := w.send(t, "DELETE", at, "", nil); res.StatusCode >= 300 {
			t.Errorf("delete %s: HTTP %d %s", at, res.StatusCode, body)
		}
		if res, _ := w.send(t, "GET", at, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s is still there: HTTP %d", at, res.StatusCode)
		}
	}
}

func without(binding string) (others []string) {
	for _, b := range bindingNames {
		if b != binding {
			others = append(others, b)
		}
	}
	return others
}

// TestPushErrorsNameTheTask: they named the config in its place.
func TestPushErrorsNameTheTask(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	for _, op := range []string{"GetTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig", "CreateTaskPushNotificationConfig"} {
		fields := map[string]string{"taskId": "is required"}
		if strings.HasPrefix(op, "Create") {
			fields["url"] = "is required"
		}
		row{
			name: op, request: request{op: op, params: map[string]any{"id": "my-config"}}, reason: "INVALID_PARAMS", fields: fields, not: []string{"HTTP+JSON", "JSON-RPC 0.3"},
			check: func(t *testing.T, got reply) {
				t.Helper()
				if strings.Contains(got.raw, "my-config") {
					t.Errorf("got %s", got.raw)
				}
			},
		}.run(t, w)
	}
	got := w.ask(t, "JSON-RPC 0.3", request{op: "GetTaskPushNotificationConfig", params: map[string]any{"taskId": "nowhere", "id": "c"}})
	if got.meta["taskId"] != "nowhere" {
		t.Errorf("0.3: got %s", got.raw)
	}
}

// TestGRPCOf03Names: gRPC 0.3 names resources; what is wrong with a name was not
// told.
func TestGRPCOf03Names(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	client, ctx := oldpb.NewA2AServiceClient(w.conn), t.Context()
	for name, c := range map[string]struct {
		err  error
		want map[string]string
	}{
		"get of nothing":     {second(client.GetTask(ctx, &oldpb.GetTaskRequest{HistoryLength: -1})), map[string]string{"name": "is required", "historyLength": "expected an integer of 0 or more, got -1"}},
		"get":                {second(client.GetTask(ctx, &oldpb.GetTaskRequest{Name: "x"})), map[string]string{"name": "expected a name of the form tasks/{id}"}},
		"cancel":             {second(client.CancelTask(ctx, &oldpb.CancelTaskRequest{Name: "tasks/"})), map[string]string{"name": "expected a name of the form tasks/{id}"}},
		"get a config":       {second(client.GetTaskPushNotificationConfig(ctx, &oldpb.GetTaskPushNotificationConfigRequest{Name: "tasks/x"})), map[string]string{"name": "expected a name of the form tasks/{id}/pushNotificationConfigs/{id}"}},
		"create no config":   {second(client.CreateTaskPushNotificationConfig(ctx, &oldpb.CreateTaskPushNotificationConfigRequest{ConfigId: "a/b"})), map[string]string{"parent": "is required", "config": "is required", "configId": "must not contain slashes and control characters, for it is part of a URL"}},
		"list":               {second(client.ListTasks(ctx, &oldpb.ListTasksRequest{PageSize: 200})), map[string]string{"pageSize": "expected an integer between 1 and 100, got 200"}},
		"get of no task":     {second(client.GetTask(ctx, &oldpb.GetTaskRequest{Name: "tasks/nowhere"})), nil},
		"follow":             {follow03(t, client, "x"), map[string]string{"name": "expected a name of the form tasks/{id}"}},
		"follow of no task":  {follow03(t, client, "tasks/nowhere"), nil},
		"delete of a config": {second(client.DeleteTaskPushNotificationConfig(ctx, &oldpb.DeleteTaskPushNotificationConfigRequest{Name: "tasks/x/pushNotificationConfigs/"})), map[string]string{"name": "expected a name of the form tasks/{id}/pushNotificationConfigs/{id}"}},
	} {
		got := map[string]string{}
		for _, d := range status.Convert(c.err).Details() {
			if b, ok := d.(*errdetails.BadRequest); ok {
				for _, v := range b.GetFieldViolations() {
					got[v.GetField()] = v.GetDescription()
				}
			}
		}
		if diff := cmp.Diff(c.want, got); c.want != nil && diff != "" || c.want != nil && status.Code(c.err) != codes.InvalidArgument {
			t.Errorf("%s: %v (-want +got):\n%s", name, c.err, diff)
		}
		if strings.HasSuffix(name, "no task") && status.Code(c.err) != codes.NotFound {
			t.Errorf("%s: got %v", name, c.err)
		}
	}
}

func follow03(t *testing.T, client oldpb.A2AServiceClient, name string) error {
	t.Helper()
	stream, err := client.TaskSubscription(t.Context(), &oldpb.TaskSubscriptionRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	return err
}

func create03(task, requestID, configID string) *oldpb.CreateTaskPushNotificationConfigRequest {
	return &oldpb.CreateTaskPushNotificationConfigRequest{
		Parent: "tasks/" + task, ConfigId: requestID,
		Config: &oldpb.TaskPushNotificationConfig{PushNotificationConfig: &oldpb.PushNotificationConfig{Id: configID, Url: "https://example.com/"}},
	}
}

// TestConfigIDOfGRPC03: the id in the request was dropped, and the config got
// another one.
func TestConfigIDOfGRPC03(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	id := w.start(t, "ask", nil)
	c := oldpb.NewA2AServiceClient(w.conn)
	for _, ids := range [][2]string{{"c1", ""}, {"c2", "c2"}, {"", "c3"}} {
		want := "tasks/" + id + "/pushNotificationConfigs/" + max(ids[0], ids[1])
		made, err := c.CreateTaskPushNotificationConfig(t.Context(), create03(id, ids[0], ids[1]))
		if err != nil || made.GetName() != want {
			t.Errorf("%q: created as %q (%v)", ids, made.GetName(), err)
		}
		got, err := c.GetTaskPushNotificationConfig(t.Context(), &oldpb.GetTaskPushNotificationConfigRequest{Name: want})
		if c := got.GetPushNotificationConfig(); err != nil || c.GetUrl() != "https://example.com/" || c.GetId() != max(ids[0], ids[1]) {
			t.Errorf("%q: got %v (%v)", ids, got, err)
		}
	}
	if _, err := c.CreateTaskPushNotificationConfig(t.Context(), create03(id, "c4", "c5")); status.Code(err) != codes.InvalidArgument {
		t.Errorf("two ids: got %v", err)
	}
}

// TestConfigOf03WithoutAnID: a client of 0.3 that has one receiver names it
// nowhere; what it set was never found, and setting it again added another.
func TestConfigOf03WithoutAnID(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	id := w.start(t, "ask", nil)
	ask := func(method, params string) string {
		_, _, answer := w.post(t, "/v0.3", `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/`+method+`","params":`+params+`}`)
		return answer
	}
	if got := ask("get", `{"id":"`+id+`"}`); !strings.Contains(got, "-32001") {
		t.Errorf("none: got %s", got)
	}
	ask("set", `{"taskId":"`+id+`","pushNotificationConfig":{"id":"b","url":"https://example.com/b"}}`)
	ask("set", `{"taskId":"`+id+`","pushNotificationConfig":{"id":"a","url":"https://example.com/a"}}`)
	if got := ask("get", `{"id":"`+id+`"}`); !strings.Contains(got, `"https://example.com/a"`) {
		t.Errorf("the first: got %s", got)
	}
	for _, to := range []string{"https://example.com/1", "https://example.com/2"} {
		if got := ask("set", `{"taskId":"`+id+`","pushNotificationConfig":{"url":"`+to+`"}}`); !strings.Contains(got, to) {
			t.Errorf("set: got %s", got)
		}
		if got := ask("get", `{"id":"`+id+`"}`); !strings.Contains(got, `"`+to+`"`) {
			t.Errorf("the one without an id: got %s", got)
		}
	}
	unnamed := &oldpb.GetTaskPushNotificationConfigRequest{Name: "tasks/" + id + "/pushNotificationConfigs/"} // as the Go client has it
	got, err := oldpb.NewA2AServiceClient(w.conn).GetTaskPushNotificationConfig(t.Context(), unnamed)
	if err != nil || got.GetPushNotificationConfig().GetUrl() != "https://example.com/2" {
		t.Errorf("gRPC: got %v (%v)", got, err)
	}
	if got := w.ask(t, "JSON-RPC", request{op: "GetTaskPushNotificationConfig", params: map[string]any{"taskId": id}}); got.reason != "INVALID_PARAMS" {
		t.Errorf("1.0: got %s", got.raw)
	}
	if got := strings.Count(ask("list", `{"id":"`+id+`"}`), `"url"`); got != 3 {
		t.Errorf("%d configs, want 3", got)
	}
	if got := ask("get", `{"id":"nowhere"}`); !strings.Contains(got, "-32001") {
		t.Errorf("an unknown task: got %s", got)
	}
}
