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
			if err := c.run(t.Context(), newStore(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPushConfigs runs every check against a store of push configurations and
// returns an error that joins all violations, nil if there are none. Those of the
// checks stay in it, under ids of their own.
func TestPushConfigs(ctx context.Context, s push.ConfigStore) error {
	var errs []error
	for _, c := range pushChecks {
		if err := c.run(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

type pushCheck struct {
	name string
	fn   func(context.Context, push.ConfigStore) error
}

func (c pushCheck) run(ctx context.Context, s push.ConfigStore) error {
	return guarded(func() error { return c.fn(ctx, s) })
}

var pushChecks = []pushCheck{
	{"what was saved is got", pushSaved},
	{"a configuration without an id gets one", pushID},
	{"saving an id again replaces it", pushReplaced},
	{"an unknown configuration is ErrPushConfigNotFound", pushUnknown},
	{"tasks are kept apart, and deleting is for one of them", pushDeleted},
	{"a configuration without an URL is refused", pushBad},
	{"names that are nearly the same are several", pushNearlySame},
	{"of many that save at once none is lost", pushTogether},
	{"what is given and got is not shared", pushNotAliased},
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

func pushNearlySame(ctx context.Context, s push.ConfigStore) error {
	task := a2a.NewTaskID()
	tasks := []a2a.TaskID{"x" + task, "X" + task, "x" + task + " ", "x" + task + "/", "x%", "x"}
	for _, id := range tasks {
		for _, config := range []string{"one", "ONE", "one ", "o%"} {
			if _, err := s.Save(ctx, id, pushConfig(config)); err != nil {
				return err
			}
		}
	}
	errs := []error{s.Delete(ctx, tasks[0], "one"), s.DeleteAll(ctx, tasks[1]), s.Delete(ctx, tasks[4], "o%"), s.DeleteAll(ctx, tasks[5])}
	for i, want := range [][]string{{"ONE", "one ", "o%"}, nil, {"one", "ONE", "one ", "o%"}, {"one", "ONE", "one ", "o%"}, {"one", "ONE", "one "}, nil} {
		errs = append(errs, pushIDs(ctx, s, tasks[i], want...))
	}
	return errors.Join(errs...)
}

func pushTogether(ctx context.Context, s push.ConfigStore) error {
	task := a2a.NewTaskID()
	ids := make([]string, crowd)
	errs := together(func(i int) error {
		saved, err := s.Save(ctx, task, pushConfig(""))
		if err == nil {
			ids[i] = saved.ID
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return pushIDs(ctx, s, task, ids...)
}

func pushNotAliased(ctx context.Context, s push.ConfigStore) error {
	task, given, want := a2a.NewTaskID(), pushConfig("one"), pushConfig("one")
	want.TaskID = task
	saved, err := s.Save(ctx, task, given)
	if err != nil {
		return err
	}
	given.Auth.Credentials, given.URL, saved.Token = "changed by who saved it", "https://example.com/changed", "changed"
	got, err := s.Get(ctx, task, "one")
	if err != nil {
		return err
	}
	diff := differ("got", got, want)
	got.Token = "changed by a reader"
	list, err := s.List(ctx, task)
	switch {
	case err != nil:
		return err
	case len(list) != 1:
		return fmt.Errorf("list: got %d configurations, want 1", len(list))
	}
	return errors.Join(diff, differ("listed", list[0], want))
}
