package executor

import (
	"context"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// Resume goes on with a parked task without a message of its client: an OAuth
// callback has the token, a clerk has approved. The answer takes the place of
// the client's message, in the task's history too, where its metadata says so
// under "outOfBand". Owner is the user whose task it is; the zero User for an
// anonymous one. It returns when the run has begun, with the task at work.
//
// A task that is not parked, or is just being canceled, is refused with a2a.ErrUnsupportedOperation, one
// that does not exist or is not the owner's with a2a.ErrTaskNotFound.
func (h *Handler) Resume(ctx context.Context, owner agent.User, taskID string, answer ...stream.Part) (*a2a.Task, error) {
	ctx, call := a2asrv.NewCallContext(context.WithoutCancel(ctx), nil)
	call.User = &a2asrv.User{Name: owner.Name, Authenticated: owner.Authenticated, Attributes: owner.Attributes}
	st, err := h.exec.storedTask(ctx, a2a.TaskID(taskID))
	if err != nil {
		return nil, err
	}
	if s := st.Task.Status.State; !awaits(s) {
		return nil, refuse(a2a.ErrUnsupportedOperation, fmt.Sprintf("The task is not parked but %s.", s))
	}
	if len(answer) == 0 {
		answer = []stream.Part{stream.TextPart("")}
	}
	msg := a2a.NewMessageForTask(a2a.MessageRoleUser, st.Task, partsOf(answer)...)
	msg.SetMeta("outOfBand", true)
	res, err := h.inner.SendMessage(ctx, &a2a.SendMessageRequest{
		Message: msg, Config: &a2a.SendMessageConfig{ReturnImmediately: true},
	})
	if err != nil {
		return nil, err
	}
	task, ok := res.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("resume task: got a %T, expected a task", res)
	}
	return withoutKept(task), nil
}
