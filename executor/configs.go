package executor

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// watchedConfigs is the user's store of push configurations. When it is out of
// reach it says so to clients, as the task store does; see [away].
type watchedConfigs struct{ push.ConfigStore }

// watched gives the options with the store watched, unless it is the default one.
func (p Push) watched() *Push {
	if p.Store != nil {
		p.Store = watchedConfigs{p.Store}
	}
	return &p
}

// Save implements push.ConfigStore.
func (s watchedConfigs) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	saved, err := s.ConfigStore.Save(ctx, id, c)
	return saved, away(ctx, err)
}

// Get implements push.ConfigStore.
func (s watchedConfigs) Get(ctx context.Context, id a2a.TaskID, configID string) (*a2a.PushConfig, error) {
	c, err := s.ConfigStore.Get(ctx, id, configID)
	return c, away(ctx, err)
}

// List implements push.ConfigStore.
func (s watchedConfigs) List(ctx context.Context, id a2a.TaskID) ([]*a2a.PushConfig, error) {
	configs, err := s.ConfigStore.List(ctx, id)
	return configs, away(ctx, err)
}

// Delete implements push.ConfigStore.
func (s watchedConfigs) Delete(ctx context.Context, id a2a.TaskID, configID string) error {
	return away(ctx, s.ConfigStore.Delete(ctx, id, configID))
}

// DeleteAll implements push.ConfigStore.
func (s watchedConfigs) DeleteAll(ctx context.Context, id a2a.TaskID) error {
	return away(ctx, s.ConfigStore.DeleteAll(ctx, id))
}
