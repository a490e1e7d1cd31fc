package executor_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc/codes"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

// unplugged are stores in one database, which may be out of reach.
type unplugged struct {
	tasks   taskstore.Store
	configs push.ConfigStore
	away    atomic.Bool
}

// err is that of a call, with private text of the database's.
func (s *unplugged) err() error {
	if !s.away.Load() {
		return nil
	}
	return errcode.New(errcode.UpstreamUnavailable, "database_unavailable", errcode.Source("db:tasks"),
		errcode.Message("dial tcp 10.1.2.3:5432: connection refused"))
}

type (
	unpluggedTasks   struct{ *unplugged }
	unpluggedConfigs struct{ *unplugged }
)

// plugged calls f when the database is there.
func plugged[T any](s *unplugged, f func() (T, error)) (v T, err error) {
	if err := s.err(); err != nil {
		return v, err
	}
	return f()
}

func (s unpluggedTasks) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	return plugged(s.unplugged, func() (taskstore.TaskVersion, error) { return s.tasks.Create(ctx, t) })
}

func (s unpluggedTasks) Update(ctx context.Context, r *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	return plugged(s.unplugged, func() (taskstore.TaskVersion, error) { return s.tasks.Update(ctx, r) })
}

func (s unpluggedTasks) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	return plugged(s.unplugged, func() (*taskstore.StoredTask, error) {
		st, err := s.tasks.Get(ctx, id)
		if err == nil {
			st.User = "" // everybody's
		}
		return st, err
	})
}

func (s unpluggedTasks) List(ctx context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return plugged(s.unplugged, func() (*a2a.ListTasksResponse, error) { return s.tasks.List(ctx, r) })
}

func (s unpluggedConfigs) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	return plugged(s.unplugged, func() (*a2a.PushConfig, error) { return s.configs.Save(ctx, id, c) })
}

func (s unpluggedConfigs) Get(ctx context.Context, id a2a.TaskID, config string) (*a2a.PushConfig, error) {
	return plugged(s.unplugged, func() (*a2a.PushConfig, error) { return s.configs.Get(ctx, id, config) })
}

func (s unpluggedConfigs) List(ctx context.Context, id a2a.TaskID) ([]*a2a.PushConfig, error) {
	return plugged(s.unplugged, func() ([]*a2a.PushConfig, error) { return s.configs.List(ctx, id) })
}

func (s unpluggedConfigs) Delete(ctx context.Context, id a2a.TaskID, config string) error {
	_, err := plugged(s.unplugged, func() (any, error) { return nil, s.configs.Delete(ctx, id, config) })
	return err
}

func (s unpluggedConfigs) DeleteAll(ctx context.Context, id a2a.TaskID) error {
	_, err := plugged(s.unplugged, func() (any, error) { return nil, s.configs.DeleteAll(ctx, id) })
	return err
}

// While the database is down every operation of every binding says so: it was an
// internal error, not to be tried again.
func TestEveryBindingTellsOfAnOutage(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"all", "configs"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			db := &unplugged{configs: push.NewInMemoryStore(), tasks: taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
				Authenticator: func(context.Context) (string, error) { return "me", nil },
			})}
			opts := []executor.Option{executor.TaskStore(unpluggedTasks{&unplugged{tasks: db.tasks}}), executor.PushNotifications(executor.Push{Store: unpluggedConfigs{db}})}
			if part == "all" {
				opts[0] = executor.TaskStore(unpluggedTasks{db})
			}
			w := serve(t, invoking(asksOnce), opts...)
			id := w.start(t, "hi", nil)
			db.away.Store(true)
			for _, binding := range bindingNames {
				for _, r := range requestsOf(id) {
					onlyConfigs := strings.Contains(r.op, "Push") || r.op == "SendMessage" && r.params["configuration"] != nil
					if part == "configs" && !onlyConfigs || binding == "JSON-RPC 0.3" && oldMethods[r.op] == "" {
						continue
					}
					got := w.ask(t, binding, r)
					checkOutage(t, binding, r.op, got)
					if id, _ := got.data["correlationId"].(string); id == "" || !strings.Contains(lineWith(w.log, id), "10.1.2.3") {
						t.Errorf("%s, %s: the log has no cause under %q", binding, r.op, id)
					}
				}
			}
			if part == "all" {
				res, body := w.send(t, "GET", "/v0.3/v1/tasks/"+id, "", nil)
				if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "UPSTREAM_UNAVAILABLE") {
					t.Errorf("HTTP+JSON 0.3: %s, %v: %s", res.Status, res.Header, body)
				}
			}
			db.away.Store(false)
			if got := w.ask(t, "HTTP+JSON", request{op: "GetTask", params: map[string]any{"id": id}}); got.failed || !strings.Contains(got.raw, "TASK_STATE_AUTH_REQUIRED") {
				t.Errorf("afterwards: %s", got.raw)
			}
		})
	}
}

// requestsOf are those of all operations that need the store.
func requestsOf(id string) []request {
	message := func(id string) map[string]any {
		m := map[string]any{"messageId": a2a.NewMessageID(), "role": "ROLE_USER", "parts": []any{map[string]any{"text": "x"}}}
		if id != "" {
			m["taskId"] = id
		}
		return map[string]any{"message": m}
	}
	withPush := message("")
	withPush["configuration"] = map[string]any{"taskPushNotificationConfig": map[string]any{"url": "https://example.com/hook"}}
	return []request{
		{op: "SendMessage", params: message("")},
		{op: "SendMessage", params: message(id)},
		{op: "SendMessage", params: withPush},
		{op: "SendStreamingMessage", params: message("")},
		{op: "SendStreamingMessage", params: message(id)},
		{op: "GetTask", params: map[string]any{"id": id}},
		{op: "ListTasks", params: map[string]any{}},
		{op: "CancelTask", params: map[string]any{"id": id}},
		{op: "SubscribeToTask", params: map[string]any{"id": id}},
		{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": id, "id": "c", "url": "https://example.com/hook"}},
		{op: "GetTaskPushNotificationConfig", params: map[string]any{"taskId": id, "id": "c"}},
		{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": id}},
		{op: "DeleteTaskPushNotificationConfig", params: map[string]any{"taskId": id, "id": "c"}},
	}
}

func checkOutage(t *testing.T, binding, op string, got reply) {
	t.Helper()
	status, code := got.status, codes.OK // that of JSON-RPC is another test's matter
	switch binding {
	case "HTTP+JSON":
		status = 503
	case "gRPC":
		code = codes.Unavailable
	}
	if !got.failed || got.status != status || got.grpc != code || got.data["errorCode"] != "UPSTREAM_UNAVAILABLE" || got.data["retriable"] != true || got.data["retryAfterMs"] == nil {
		t.Errorf("%s, %s: got HTTP %d, gRPC %v, data %v: %s", binding, op, got.status, got.grpc, got.data, got.raw)
	}
	if binding == "HTTP+JSON" && got.header.Get("Retry-After") == "" {
		t.Errorf("%s, %s: no Retry-After", binding, op)
	}
	if slices.ContainsFunc([]string{"10.1.2.3", "refused", "db:tasks"}, func(private string) bool { return strings.Contains(got.raw, private) }) {
		t.Errorf("%s, %s: private text: %s", binding, op, got.raw)
	}
}
