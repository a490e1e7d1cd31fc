package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/hitl"
)

// A payload with an id hid the question's own, so that no answer was found.
func TestAnswerToAQuestionWhosePayloadHasAnID(t *testing.T) {
	t.Parallel()
	for _, id := range []any{"invoice-17", 17} {
		h := newHandler(t, invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
			answer, err := hitl.Ask[string](ctx, "approve", "ok?", hitl.Payload(map[string]any{"id": id}))
			if err != nil {
				return nil, err
			}
			return agent.Text(answer), nil
		}))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		data, _ := task.Status.Message.Parts[1].Data().(map[string]any)
		if want := fmt.Sprint(map[string]any{"id": id}); fmt.Sprint(data["payload"]) != want {
			t.Errorf("payload: got %v, want %s", data["payload"], want)
		}
		if task = sent(user(t, "u"), t, h, replyTo(task, a2a.NewTextPart("yes"))); task.Status.State != a2a.TaskStateCompleted {
			t.Errorf("id %v: got %v", id, task.Status)
		}
	}
}

// Two answers with the same message id and text hid one another.
func TestAnswersWithTheSameMessageID(t *testing.T) {
	t.Parallel()
	h := newHandler(t, invoking(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		for _, key := range []string{"a", "b", "c"} {
			if _, err := hitl.Ask[string](ctx, key, key+"?"); err != nil {
				return nil, err
			}
		}
		var said []string
		for _, m := range req.History() {
			said = append(said, m.Parts[0].Text())
		}
		return agent.Text(fmt.Sprint(said)), nil
	}))
	task := sent(user(t, "u"), t, h, userMessage("hi"))
	for range 3 {
		req := replyTo(task, a2a.NewTextPart("yes"))
		req.Message.ID = "m1"
		task = sent(user(t, "u"), t, h, req)
	}
	if task.Status.State != a2a.TaskStateCompleted {
		t.Fatalf("got %v", task.Status)
	}
	if diff := cmp.Diff("[hi a? yes b? yes c?]", task.Artifacts[0].Parts[0].Text()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A client that speaks as the agent was heard, and its answers were not.
func TestMessageOfAClientAsTheAgent(t *testing.T) {
	t.Parallel()
	h := newHandler(t, echo("a"))
	req := userMessage("hi")
	req.Message.Role = a2a.MessageRoleAgent
	var refused *a2a.Error
	if _, err := h.SendMessage(user(t, "u"), req); !errors.Is(err, a2a.ErrInvalidParams) || !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}
