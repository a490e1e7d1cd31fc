package executor_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/executor"
)

// TestPushConfigIDsFitPaths: a config whose id could not stand in a path could be
// made over every binding, but not read and deleted over HTTP+JSON.
func TestPushConfigIDsFitPaths(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.PushNotifications(executor.Push{Sender: sendsNothing{}}))
	task := w.start(t, "ok", nil)
	const slashes = "must not contain slashes and control characters, for it is part of a URL"
	for id, fault := range map[string]string{"a/b": slashes, "/": slashes, ".": `must not be ".", which no URL can name`, "..": `must not be "..", which no URL can name`} {
		for _, b := range bindingNames {
			field := "id"
			if b == "JSON-RPC 0.3" {
				field = "pushNotificationConfig.id"
			}
			row{
				name: "create " + id, reason: "INVALID_PARAMS", taskID: task, fields: map[string]string{field: fault},
				request: request{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": task, "id": id, "url": "https://example.com/"}},
				not:     without(b),
			}.run(t, w)
		}
		row{
			name: "message with " + id, reason: "INVALID_PARAMS", not: []string{"JSON-RPC 0.3"},
			fields: map[string]string{"configuration.taskPushNotificationConfig.id": fault},
			request: request{op: "SendMessage", params: with(say("hi", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"id": id, "url": "https://example.com/"}},
			})},
		}.run(t, w)
	}
	for _, id := range []string{"x:cancel", "x:subscribe", "a b", "%2F", "ä?#", "a\\b", ".x"} {
		for path, name := range map[string]string{"/v1": "id", "/v0.3/v1": "pushNotificationConfig"} {
			got := w.ask(t, "JSON-RPC", request{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": task, "id": id, "url": "https://example.com/"}})
			if got.failed {
				t.Errorf("create %s: %s", id, got.raw)
			}
			at := path + "/tasks/" + task + "/pushNotificationConfigs/" + url.PathEscape(id)
			if res, body := w.send(t, "GET", at, "", nil); res.StatusCode != http.StatusOK || !strings.Contains(body, `"`+name+`"`) {
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
	w := serve(t, conforming(nil), executor.PushNotifications(executor.Push{Sender: sendsNothing{}}))
	for _, op := range []string{"GetTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig", "CreateTaskPushNotificationConfig"} {
		fields := map[string]string{"taskId": "is required"}
		if strings.HasPrefix(op, "Create") {
			fields["url"] = "is required"
		}
		row{name: op, request: request{op: op, params: map[string]any{"id": "my-config"}}, reason: "INVALID_PARAMS", fields: fields, not: []string{"HTTP+JSON", "JSON-RPC 0.3"}}.run(t, w)
	}
}

// TestOldPushConfigWithoutID: in 0.3 the id of a task alone asks for its config.
func TestOldPushConfigWithoutID(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.PushNotifications(executor.Push{Sender: sendsNothing{}}))
	task := w.start(t, "ok", nil)
	get := `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"` + task + `"}}`
	if _, body := w.send(t, "POST", "/v0.3", get, nil); !strings.Contains(body, "-32001") {
		t.Errorf("there is none: got %s", body)
	}
	set := `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"` + task + `","pushNotificationConfig":{"url":"https://example.com/hook"}}}`
	if _, body := w.send(t, "POST", "/v0.3", set, nil); !strings.Contains(body, `"result"`) {
		t.Fatalf("set: got %s", body)
	}
	if _, body := w.send(t, "POST", "/v0.3", get, nil); !strings.Contains(body, "https://example.com/hook") {
		t.Errorf("got %s", body)
	}
}

// TestGRPCOf03Names: gRPC 0.3 names resources; what is wrong with a name was not
// told, and the id that a config is to have was dropped.
func TestGRPCOf03Names(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.PushNotifications(executor.Push{Sender: sendsNothing{}}))
	task := w.start(t, "ok", nil)
	client, ctx := oldpb.NewA2AServiceClient(w.conn), t.Context()
	config := &oldpb.TaskPushNotificationConfig{PushNotificationConfig: &oldpb.PushNotificationConfig{Url: "https://example.com/"}}
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
		"get of a config":    {second(client.CreateTaskPushNotificationConfig(ctx, &oldpb.CreateTaskPushNotificationConfigRequest{Parent: "tasks/" + task, ConfigId: "c1", Config: config})), nil},
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
	got, err := client.GetTaskPushNotificationConfig(ctx, &oldpb.GetTaskPushNotificationConfigRequest{Name: "tasks/" + task + "/pushNotificationConfigs/c1"})
	if err != nil || got.GetPushNotificationConfig().GetId() != "c1" {
		t.Errorf("the config by the id that it was made with: got %v, %v", got, err)
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
