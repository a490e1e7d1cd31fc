package showcase_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
)

// TestToolRows goes through "tool MODE": what the model can repair is repaired,
// what it cannot fails the task, with the tool as the source.
func TestToolRows(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			for mode, want := range map[string]string{
				"ok":       "The balance of account 4711 is 12.50. (calls: 1)",
				"bad-args": "The balance of account 4711 is 12.50. (calls: 2)",
				"flaky":    "The balance of account 4711 is 12.50. (calls: 3)",
			} {
				for _, task := range []*a2a.Task{
					blocking(t, b.client, message("tool "+mode)), streamEnd(t, b.client, "tool "+mode),
				} {
					if got := textOf(task); task.Status.State != a2a.TaskStateCompleted || got != want {
						t.Errorf("tool %s: got %s with %q, want %q", mode, task.Status.State, got, want)
					}
				}
			}
			for retried, task := range map[int]*a2a.Task{
				2: blocking(t, b.client, message("tool down")), 3: streamEnd(t, b.client, "tool down"), // and Invoke, once
			} {
				expectFailure(t, task, errcode.UpstreamUnavailable, "connection_refused")
				if e, _ := errcode.FromTask(task); e.Source() != "mcp:bank/balance" || e.Retried() != retried || !e.Retriable() {
					t.Errorf("tool down: got source %q, retried %d, want %d, retriable %v", e.Source(), e.Retried(), retried, e.Retriable())
				}
			}
			for _, task := range []*a2a.Task{
				blocking(t, b.client, message("tool loop")), streamEnd(t, b.client, "tool loop"),
			} {
				expectFailure(t, task, errcode.UpstreamUnavailable, "max_tool_iterations_exceeded")
			}
			expectFailure(t, blocking(t, b.client, message("tool box")), errcode.InvalidInput, "unknown_scenario")
		})
	}
}
