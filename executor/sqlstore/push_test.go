package sqlstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// TestReceiverOf03OutlivesTheProcess: what a client of A2A 0.3 registered gets
// tasks of 0.3 also from a process that knows of it from the database only.
func TestReceiverOf03OutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		got := make(chan map[string]any, 100)
		hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Errorf("body: %v", err)
			}
			got <- body
		}))
		t.Cleanup(hook.Close)
		task := send03(t, dsn, fmt.Sprintf(`{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"x"}]},
			"configuration":{"pushNotificationConfig":{"url":%q}}}`, hook.URL))
		send03(t, dsn, fmt.Sprintf(`{"message":{"kind":"message","messageId":"2","taskId":%q,"role":"user","parts":[{"kind":"text","text":"y"}]}}`, task))
		for _, want := range []string{"working", "input-required", "working", "completed"} {
			body := <-got
			status, _ := body["status"].(map[string]any)
			if body["kind"] != "task" || body["id"] != task || status["state"] != want {
				t.Errorf("got %v, want a task of 0.3 that is %s", body, want)
			}
		}
	})
}

// send03 sends a message of A2A 0.3 to a process of its own, and gives the task's id.
func send03(t *testing.T, dsn, params string) string {
	t.Helper()
	db := open(t, dsn)
	asks := agent.New("asks", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); asked {
			return agent.Text("thanks"), nil
		}
		return nil, hitl.InputRequired("?")
	}))
	srv, err := executor.NewServer(asks, executor.TaskStore(db.Tasks()), executor.Logger(slog.New(slog.DiscardHandler)),
		executor.PushNotifications(executor.Push{Store: db.PushConfigs(), AllowPrivateNetworks: true}))
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0.3",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":`+params+`}`))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	srv.ServeHTTP(rec, req)
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	var answer struct{ Result struct{ ID string } }
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil || answer.Result.ID == "" {
		t.Fatalf("no task: %s (%v)", rec.Body, err)
	}
	return answer.Result.ID
}
