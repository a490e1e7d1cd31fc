package executor

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// watchedStore tells when a task has been stored. The host takes events into a
// pipe, so that an event was taken does not mean that a client can find the
// task.
type watchedStore struct {
	taskstore.Store
	stored func(a2a.TaskID)
}

// Create implements taskstore.Store.
func (s watchedStore) Create(ctx context.Context, task *a2a.Task) (taskstore.TaskVersion, error) {
	v, err := s.Store.Create(ctx, task)
	if err == nil {
		s.stored(task.ID)
	}
	return v, err
}

// Update implements taskstore.Store.
func (s watchedStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	if err == nil {
		s.stored(req.Task.ID)
	}
	return v, err
}
