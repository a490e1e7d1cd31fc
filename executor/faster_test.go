package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
)

// A client that read from the store that its task was parked, and answered at
// once, was told that the task was still at work.
func TestAnswerThatIsFasterThanTheRun(t *testing.T) {
	t.Parallel()
	store := newHookedStore()
	stored, told := make(chan a2a.TaskID, 1), make(chan struct{})
	h := newHandler(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if _, asked := req.Question(); asked {
			return agent.Text("thanks"), nil
		}
		return nil, hitl.InputRequired("?")
	}), executor.TaskStore(&slowToTell{store, stored, told}))
	go func() { _ = sent(user(t, "u"), t, h, userMessage("hi")) }()
	id := <-stored
	st, err := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: id})
	if err != nil || st.Status.State != a2a.TaskStateInputRequired {
		t.Fatalf("got %v, %v", st, err)
	}
	time.AfterFunc(time.Millisecond, func() { close(told) })
	if got := sent(user(t, "u"), t, h, replyTo(st, a2a.NewTextPart("x"))); got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("got %s", got.Status.State)
	}
}

// slowToTell has stored a question before it says so.
type slowToTell struct {
	taskstore.Store
	stored chan<- a2a.TaskID
	told   <-chan struct{}
}

func (s *slowToTell) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	if req.Task.Status.State == a2a.TaskStateInputRequired {
		s.stored <- req.Task.ID
		<-s.told
	}
	return v, err
}
