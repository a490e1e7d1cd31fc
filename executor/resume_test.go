package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

func asker(opts ...hitl.Option) *agent.Agent {
	return invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		answer, err := hitl.Ask[string](ctx, "q", "?", opts...)
		if err != nil {
			return nil, err
		}
		return agent.Text("got " + answer), nil
	})
}

// TestResumeOutOfBand: server code brings the credentials, and whoever follows
// the task sees it go on.
func TestResumeOutOfBand(t *testing.T) {
	t.Parallel()
	h := newHandler(t, asker(hitl.Auth("oauth2")))
	id := sent(call(t), t, h, userMessage("x")).ID
	if _, err := h.Resume(t.Context(), agent.User{Name: "somebody else"}, string(id)); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("another user's task: got %v", err)
	}
	var last a2a.Event
	for ev, err := range h.SubscribeToTask(call(t), &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			t.Fatal(err)
		}
		if last == nil {
			go func() {
				if _, err := h.Resume(t.Context(), agent.User{}, string(id), stream.TextPart("t0ken")); err != nil {
					t.Error(err)
				}
			}()
		}
		last = ev
	}
	task, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: id})
	if err != nil || task.Status.State != a2a.TaskStateCompleted || firstText(task) != "got t0ken" {
		t.Errorf("got %+v, %v", task, err)
	}
	if answer := task.History[len(task.History)-1]; answer.Meta()["outOfBand"] != true {
		t.Errorf("the answer's metadata: %v", answer.Meta())
	}
	if _, err := h.Resume(t.Context(), agent.User{}, string(id)); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("a finished task: got %v", err)
	}
}

// TestParkTimeout: a question nobody answers fails its task; one that is
// answered does not.
func TestParkTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts []hitl.Option
		code errcode.Code
	}{
		"input": {nil, errcode.InvalidInput},
		"auth":  {[]hitl.Option{hitl.Auth("")}, errcode.AuthRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHandler(t, asker(c.opts...), executor.ParkTimeout(time.Hour))
				res, err := h.SendMessage(call(t), userMessage("x"))
				if err != nil {
					t.Fatal(err)
				}
				var last a2a.Event
				for ev, err := range h.SubscribeToTask(call(t), &a2a.SubscribeToTaskRequest{ID: res.TaskInfo().TaskID}) {
					if err != nil {
						t.Fatal(err)
					}
					last = ev
				}
				e, ok := errcode.FromEvent(last)
				if !ok || e.Code() != c.code || e.Reason() != "expired" || e.Source() != "internal:executor" {
					t.Errorf("got %v", e)
				}
				late := userMessage("late")
				late.Message.TaskID = res.TaskInfo().TaskID
				if _, err := h.SendMessage(call(t), late); !errors.Is(err, a2a.ErrUnsupportedOperation) {
					t.Errorf("a late answer: got %v", err)
				}
			})
		})
	}
	t.Run("answered", func(t *testing.T) {
		t.Parallel()
		h := newHandler(t, asker(), executor.ParkTimeout(time.Hour))
		res, err := h.SendMessage(call(t), userMessage("x"))
		if err != nil {
			t.Fatal(err)
		}
		req := userMessage("a")
		req.Message.TaskID = res.TaskInfo().TaskID
		if res, err = h.SendMessage(call(t), req); err != nil || firstText(res) != "got a" {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}
