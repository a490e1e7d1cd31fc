package executor_test

import (
	"context"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// hookedStore is a store of the user's, with a function before each update and
// each look-up.
type hookedStore struct {
	taskstore.Store
	mu     sync.Mutex
	update func(*taskstore.UpdateRequest) error
	get    func(a2a.TaskID) error
}

func newHookedStore() *hookedStore {
	return &hookedStore{Store: taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})}
}

// onUpdate has f called from now on, onGet likewise.
func (s *hookedStore) onUpdate(f func(*taskstore.UpdateRequest) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.update = f
}

func (s *hookedStore) onGet(f func(a2a.TaskID) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.get = f
}

func (s *hookedStore) Update(ctx context.Context, r *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	s.mu.Lock()
	f := s.update
	s.mu.Unlock()
	if f != nil {
		if err := f(r); err != nil {
			return 0, err
		}
	}
	return s.Store.Update(ctx, r)
}

func (s *hookedStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	s.mu.Lock()
	f := s.get
	s.mu.Unlock()
	if f != nil {
		if err := f(id); err != nil {
			return nil, err
		}
	}
	return s.Store.Get(ctx, id)
}

// user is the context of a request by that user.
func user(t *testing.T, name string) context.Context {
	t.Helper()
	ctx, c := a2asrv.NewCallContext(t.Context(), nil)
	c.User = &a2asrv.User{Name: name, Authenticated: true}
	return ctx
}

// sent sends a message and gives the task that became of it.
func sent(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	res, err := h.SendMessage(ctx, req)
	task, ok := res.(*a2a.Task)
	if err != nil || !ok {
		t.Fatalf("send: got a %T, %v", res, err)
	}
	return task
}

// started sends a message and comes back as soon as there is a task.
func started(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, text string) *a2a.Task {
	t.Helper()
	req := userMessage(text)
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	return sent(ctx, t, h, req)
}

// replyTo is the next message to a task.
func replyTo(task *a2a.Task, parts ...*a2a.Part) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, task, parts...)}
}
