package executor_test

import (
	"context"
	"sync"

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
