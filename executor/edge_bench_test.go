package executor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/executor"
)

// BenchmarkRefusedGetTask is what the protocol layer costs where nothing else is
// done: a task that there is not, against the bare host.
func BenchmarkRefusedGetTask(b *testing.B) {
	srv, err := executor.NewServer(echo("a"), quiet)
	if err != nil {
		b.Fatal(err)
	}
	bare := a2asrv.NewHandler(bareExecutor(func(context.Context, *a2asrv.ExecutorContext, func(a2a.Event, error) bool) {}))
	rpc := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"nowhere"}}`
	for _, c := range []struct {
		name, method, path, body string
		handler                  http.Handler
	}{
		{"JSON-RPC", http.MethodPost, "/", rpc, srv},
		{"JSON-RPC/baseline=host", http.MethodPost, "/", rpc, a2asrv.NewJSONRPCHandler(bare)},
		{"HTTP+JSON", http.MethodGet, "/v1/tasks/nowhere", "", srv},
		{"HTTP+JSON/baseline=host", http.MethodGet, "/tasks/nowhere", "", a2asrv.NewRESTHandler(bare)},
	} {
		b.Run("binding="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequestWithContext(b.Context(), c.method, "http://h"+c.path, strings.NewReader(c.body))
				req.Header.Set("Content-Type", "application/json")
				rec := httptest.NewRecorder()
				c.handler.ServeHTTP(rec, req)
				if !strings.Contains(rec.Body.String(), "TASK_NOT_FOUND") {
					b.Fatal(rec.Body.String())
				}
			}
		})
	}
}
