package executor_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// TestListIsSortedByStatus: a task that had written a chunk came before one whose
// status had changed since, against A2A v1.0 section 3.1.4.
func TestListIsSortedByStatus(t *testing.T) {
	t.Parallel()
	wrote, goOn := make(chan struct{}), make(chan struct{})
	w := serve(t, agent.New("two", agent.Stream(func(ctx context.Context, req *agent.Request, out *stream.Writer) (*agent.Result, error) {
		if req.Text() != "long" {
			return nil, nil
		}
		if err := out.Text("first "); err != nil {
			return nil, err
		}
		wrote <- struct{}{}
		<-goOn
		err := out.Text("second ")
		wrote <- struct{}{}
		<-ctx.Done()
		return nil, err
	})), unmerged())
	now := map[string]any{"configuration": map[string]any{"returnImmediately": true}}
	long := w.start(t, "long", now)
	<-wrote
	quick := w.start(t, "quick", nil)
	goOn <- struct{}{}
	<-wrote
	for got := w.ask(t, "JSON-RPC", request{op: "GetTask", params: map[string]any{"id": long}}); !strings.Contains(got.raw, "second"); {
		runtime.Gosched() // until the chunk is stored
		got = w.ask(t, "JSON-RPC", request{op: "GetTask", params: map[string]any{"id": long}})
	}
	for _, b := range bindingNames[:3] {
		got := w.ask(t, b, request{op: "ListTasks", params: map[string]any{}})
		var ids []any
		tasks, _ := got.result["tasks"].([]any)
		for _, task := range tasks {
			m, _ := task.(map[string]any)
			ids = append(ids, m["id"])
		}
		if diff := cmp.Diff([]any{quick, long}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", b, diff)
		}
	}
}
