package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// RunPushConfigs runs every check of a store of push configurations as a
// subtest. newStore makes an empty store.
func RunPushConfigs(t *testing.T, newStore func(*testing.T) push.ConfigStore) {
	t.Helper()
	for _, c := range pushChecks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.fn(t.Context(), newStore(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

var pushChecks = []struct {
	name string
	fn   func(context.Context, push.ConfigStore) error
}{
	{"what was saved is got", pushSaved},
	{"a configuration without an id gets one", pushID},
	{"saving an id again replaces it", pushReplaced},
	{"an unknown configuration is ErrPushConfigNotFound", pushUnknown},
	{"tasks are kept apart, and deleting is for one of them", pushDeleted},
	{"a configuration without an URL is refused", pushBad},
}

func pushConfig(id string) *a2a.PushConfig {
	return &a2a.PushConfig{
		ID: id, URL: "https://example.com/hook?x=1&y=ü", Token: "t", Tenant: "acme",
		Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "c"},
	}
}

func pushSaved(ctx context.Context, s push.ConfigStore) error {
	task, want := a2a.NewTaskID(), pushConfig("one")
	saved, err := s.Save(ctx, task, want)
	if err != nil {
		return err
	}
	got, err := s.Get(ctx, task, "one")
	if err != nil {
		return err
	}
	want.TaskID = task
	return errors.Join(differ("saved", saved, want), differ("got", got, want))
}

func pushID(ctx context.Context, s push.ConfigStore) error {
	task := a2a.NewTaskID()
	one, err1 := s.Save(ctx, task, pushConfig(""))
	two, err2 := s.Save(ctx, task, pushConfig(""))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if one.ID == "" || one.ID == two.ID {
		return fmt.Errorf("got the ids %q and %q", one.ID, two.ID)
	}
	return pushIDs(ctx, s, task, one.ID, two.ID)
}

// pushIDs compares the ids of a task's configurations, in any order.
func pushIDs(ctx context.Context, s push.ConfigStore, task a2a.TaskID, want ...string) error {
	configs, err := s.List(ctx, task)
	if err != nil {
		return err
	}
	var got []string
	for _, c := range configs {
		got = append(got, c.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("list: got %q, want %q", got, want)
	}
	return nil
}

func pushReplaced(ctx context.Context, s push.ConfigStore) error {
	task, second := a2a.NewTaskID(), pushConfig("one")
	second.URL = "https://example.com/other"
	_, err1 := s.Save(ctx, task, pushConfig("one"))
	_, err2 := s.Save(ctx, task, second)
	got, err3 := s.Get(ctx, task, "one")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	second.TaskID = task
	return errors.Join(differ("got", got, second), pushIDs(ctx, s, task, "one"))
}

func pushUnknown(ctx context.Context, s push.ConfigStore) error {
	_, err := s.Get(ctx, a2a.NewTaskID(), "one")
	return errors.Join(
		wantError("get", err, push.ErrPushConfigNotFound),
		pushIDs(ctx, s, a2a.NewTaskID()),
		s.Delete(ctx, a2a.NewTaskID(), "one"),
		s.DeleteAll(ctx, a2a.NewTaskID()),
	)
}

func pushDeleted(ctx context.Context, s push.ConfigStore) error {
	a, b := a2a.NewTaskID(), a2a.NewTaskID()
	for _, task := range []a2a.TaskID{a, b} {
		for _, id := range []string{"one", "two", "three"} {
			if _, err := s.Save(ctx, task, pushConfig(id)); err != nil {
				return err
			}
		}
	}
	return errors.Join(
		s.Delete(ctx, a, "two"),
		pushIDs(ctx, s, a, "one", "three"),
		s.DeleteAll(ctx, a),
		pushIDs(ctx, s, a),
		pushIDs(ctx, s, b, "one", "two", "three"),
	)
}

func pushBad(ctx context.Context, s push.ConfigStore) error {
	task := a2a.NewTaskID()
	_, nilErr := s.Save(ctx, task, nil)
	_, emptyErr := s.Save(ctx, task, &a2a.PushConfig{ID: "one"})
	_, relativeErr := s.Save(ctx, task, &a2a.PushConfig{ID: "one", URL: "nonsense"})
	return errors.Join(
		wantError("save nil", nilErr, a2a.ErrInvalidParams),
		wantError("save without an URL", emptyErr, a2a.ErrInvalidParams),
		wantError("save with a bad URL", relativeErr, a2a.ErrInvalidParams),
		pushIDs(ctx, s, task),
	)
}
