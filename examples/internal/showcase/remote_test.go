package showcase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/examples/internal/showcase"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

// TestRemoteRows: the second agent's failure and question pass through, on every
// binding.
func TestRemoteRows(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			for how, task := range map[string]*a2a.Task{
				"blocking": blocking(t, b.client, message("remote fail")), "stream": streamEnd(t, b.client, "remote fail"),
			} {
				e, ok := errcode.FromTask(task)
				delay, _ := e.RetryAfter()
				if !ok || e.Code() != errcode.RateLimited || e.Reason() != "classifier_quota_exceeded" || delay != time.Minute ||
					e.Domain() != "subject-management" || !strings.HasPrefix(e.Source(), "http:127.0.0.1:") || !strings.HasSuffix(e.Source(), "/showcase") {
					t.Errorf("remote fail, %s: got %v after %v, source %q", how, e, delay, e.Source())
				}
				if diff := cmp.Diff(map[string]any{"origin": map[string]any{"source": "llm:gpt/classify"}}, e.Details()); diff != "" {
					t.Errorf("remote fail, %s: details (-want +got):\n%s", how, diff)
				}
			}
			asked := blocking(t, b.client, message("remote ask"))
			if asked.Status.State != a2a.TaskStateInputRequired || asked.Status.Message.Parts[0].Text() != "What is your name?" {
				t.Fatalf("remote ask: got %s", asked.Status.State)
			}
			data, _ := asked.Status.Message.Parts[1].Data().(map[string]any)
			if data["field"] != "name" {
				t.Errorf("remote ask: payload %v", data)
			}
			answer := message("Ann")
			answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
			if task := blocking(t, b.client, answer); textOf(task) != "you said: Ann" {
				t.Errorf("the answer: got %s %q", task.Status.State, textOf(task))
			} else if m := task.Artifacts[0].Metadata; len(m) != 0 {
				t.Errorf("the answer has metadata that nobody gave it: %v", m)
			}
			expectFailure(t, blocking(t, b.client, message("remote nonsense")), errcode.InvalidInput, "unknown_scenario")
		})
	}
}

// TestRemoteRowsWithoutAnAddress: nobody told the agent where it is.
func TestRemoteRowsWithoutAnAddress(t *testing.T) {
	a, err := showcase.New()
	if err != nil {
		t.Fatal(err)
	}
	executortest.Run(t, a, "remote fail").AssertFailed(t, errcode.InvalidInput, executortest.Reason("unknown_scenario"))
}
