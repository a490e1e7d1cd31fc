package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// PushConfigs is a push.ConfigStore. Whose a task is, the host checks before it
// calls. Tokens and credentials are stored as they are. Get it from
// [DB.PushConfigs].
type PushConfigs struct{ db *DB }

var _ push.ConfigStore = (*PushConfigs)(nil)

// Save implements push.ConfigStore. A configuration without an absolute URL is
// refused with a2a.ErrInvalidParams.
func (s *PushConfigs) Save(ctx context.Context, taskID a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	saved, err := s.save(ctx, taskID, c)
	if err != nil {
		return nil, fmt.Errorf("save push config: %w", err)
	}
	return saved, nil
}

func (s *PushConfigs) save(ctx context.Context, taskID a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	if c == nil {
		return nil, fmt.Errorf("expected one, got nil: %w", a2a.ErrInvalidParams)
	}
	if _, err := url.ParseRequestURI(c.URL); err != nil {
		return nil, fmt.Errorf("expected an absolute URL: %w", a2a.ErrInvalidParams)
	}
	saved := *c
	saved.TaskID = taskID
	if saved.ID == "" {
		saved.ID = rand.Text()
	}
	if err := errors.Join(checkID("task id", string(taskID)), checkID("config id", saved.ID)); err != nil {
		return nil, err
	}
	body, err := json.Marshal(&saved)
	if err != nil {
		return nil, err
	}
	if err := s.db.checkSize("push config", len(body)); err != nil {
		return nil, err
	}
	_, err = s.db.do(ctx, `INSERT INTO {p}push_configs (task_id, id, body, saved_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (task_id, id) DO UPDATE SET body = excluded.body, saved_at = excluded.saved_at`,
		string(taskID), saved.ID, string(body), nanos(s.db.now()))
	if err != nil {
		return nil, err
	}
	return pushConfig(string(body))
}

func pushConfig(body string) (*a2a.PushConfig, error) {
	c := &a2a.PushConfig{}
	if err := json.Unmarshal([]byte(body), c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return c, nil
}

// Get implements push.ConfigStore.
func (s *PushConfigs) Get(ctx context.Context, taskID a2a.TaskID, configID string) (*a2a.PushConfig, error) {
	if unstorable(string(taskID)) || unstorable(configID) {
		return nil, push.ErrPushConfigNotFound
	}
	var body string
	rows, err := s.db.query(ctx, `SELECT body FROM {p}push_configs WHERE task_id = ? AND id = ?`, string(taskID), configID)
	found, err := one(rows, err, &body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("get push config: %w", err)
	case !found:
		return nil, push.ErrPushConfigNotFound
	}
	return pushConfig(body)
}

// List implements push.ConfigStore. They are in the order of their ids.
func (s *PushConfigs) List(ctx context.Context, taskID a2a.TaskID) ([]*a2a.PushConfig, error) {
	if unstorable(string(taskID)) {
		return []*a2a.PushConfig{}, nil
	}
	rows, err := s.db.query(ctx, `SELECT body FROM {p}push_configs WHERE task_id = ? ORDER BY id`, string(taskID))
	out, err := all(rows, err, func(r *sql.Rows) (*a2a.PushConfig, error) {
		var body string
		if err := r.Scan(&body); err != nil {
			return nil, err
		}
		return pushConfig(body)
	})
	if err != nil {
		return nil, fmt.Errorf("list push configs: %w", err)
	}
	return append([]*a2a.PushConfig{}, out...), nil
}

// Delete implements push.ConfigStore.
func (s *PushConfigs) Delete(ctx context.Context, taskID a2a.TaskID, configID string) error {
	if unstorable(string(taskID)) || unstorable(configID) {
		return nil
	}
	_, err := s.db.do(ctx, `DELETE FROM {p}push_configs WHERE task_id = ? AND id = ?`, string(taskID), configID)
	return err
}

// DeleteAll implements push.ConfigStore.
func (s *PushConfigs) DeleteAll(ctx context.Context, taskID a2a.TaskID) error {
	if unstorable(string(taskID)) {
		return nil
	}
	_, err := s.db.do(ctx, `DELETE FROM {p}push_configs WHERE task_id = ?`, string(taskID))
	return err
}
