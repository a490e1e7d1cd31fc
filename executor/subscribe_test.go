package executor_test

import (
	"context"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
)

type subscriberKey struct{}

// lateStore shows a subscriber nothing, from when it is armed, before a task
// is parked for the second time.
type lateStore struct {
	taskstore.Store
	armed, parked chan struct{}
	parkings      int
}

func (s *lateStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	select {
	case <-s.armed:
		if ctx.Value(subscriberKey{}) != nil {
			<-s.parked
		}
	default:
	}
	return s.Store.Get(ctx, id)
}

func (s *lateStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	ev, _ := req.Event.(*a2a.TaskStatusUpdateEvent)
	if ev != nil && ev.Status.State == a2a.TaskStateInputRequired {
		if s.parkings++; s.parkings == 2 {
			close(s.parked)
		}
	}
	return v, err
}

// TestSubscriptionThatComesAtTheEndOfATurn: when the turn is over before the
// subscription has looked, the end is told once.
func TestSubscriptionThatComesAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	s := &lateStore{
		Store: taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()}),
		armed: make(chan struct{}), parked: make(chan struct{}),
	}
	h, err := executor.NewHandler(invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, hitl.InputRequired("?")
	}), quiet, executor.TaskStore(s))
	if err != nil {
		t.Fatal(err)
	}
	streamed := func(req *a2a.SendMessageRequest) (id a2a.TaskID) {
		for ev, err := range h.SendStreamingMessage(call(t), req) {
			if err != nil {
				t.Error(err)
				return ""
			}
			id = ev.TaskInfo().TaskID
		}
		return id
	}
	id := streamed(userMessage("x"))
	answered := make(chan struct{})
	var got []a2a.TaskState
	ctx := context.WithValue(call(t), subscriberKey{}, true)
	for ev, err := range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, stateIn(ev))
		if len(got) > 1 {
			continue
		}
		close(s.armed)
		go func() {
			defer close(answered)
			req := userMessage("answer")
			req.Message.TaskID = id
			streamed(req)
		}()
	}
	<-answered
	if len(got) != 2 || got[0] != a2a.TaskStateInputRequired || got[1] != a2a.TaskStateInputRequired {
		t.Errorf("the subscriber sees %v, want the question before and the one after the turn", got)
	}
}
