package executor_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// TestConfigThatChangesBetweenAttempts: an event that had not arrived was sent
// again for a minute to receivers that their client had deleted meanwhile, and
// to the old URL of those that it had replaced.
func TestConfigThatChangesBetweenAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(ctx context.Context, s push.ConfigStore, id a2a.TaskID) error
		want   []string // where the first event is sent to
	}{
		"nothing": {func(context.Context, push.ConfigStore, a2a.TaskID) error { return nil }, []string{"http://old/", "http://old/"}},
		"deleted": {func(ctx context.Context, s push.ConfigStore, id a2a.TaskID) error { return s.Delete(ctx, id, "one") }, []string{"http://old/"}},
		"replaced": {func(ctx context.Context, s push.ConfigStore, id a2a.TaskID) error {
			_, err := s.Save(ctx, id, &a2a.PushConfig{ID: "one", URL: "http://new/"})
			return err
		}, []string{"http://old/", "http://new/"}},
		"replaced by one of 0.3": {func(ctx context.Context, s push.ConfigStore, id a2a.TaskID) error {
			_, err := s.Save(ctx, id, &a2a.PushConfig{ID: "one", URL: "http://new/", Tenant: "a2a:0.3"})
			return err
		}, []string{"http://old/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := push.NewInMemoryStore()
				var mu sync.Mutex
				var sent []string
				sender := senderFunc(func(ctx context.Context, config *a2a.PushConfig, ev a2a.Event) error {
					mu.Lock()
					defer mu.Unlock()
					if task, ok := ev.(*a2a.Task); !ok || task.Status.State != a2a.TaskStateWorking {
						return nil
					}
					sent = append(sent, config.URL)
					if len(sent) > 1 {
						return nil
					}
					if err := c.change(ctx, store, ev.TaskInfo().TaskID); err != nil {
						t.Error(err)
					}
					return errors.New("down")
				})
				h := newHandler(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
					return agent.Text("ok"), nil
				}), executor.PushNotifications(executor.Push{Store: store, Sender: sender}))
				if _, err := h.SendMessage(t.Context(), notified("hi", "http://old/")); err != nil {
					t.Fatal(err)
				}
				if err := h.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, sent); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestDeletedReceiverThatHadToWait: one of many receivers of a task is told only
// when others are, and may be deleted meanwhile.
func TestDeletedReceiverThatHadToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const last = "http://z/"
		store := push.NewInMemoryStore()
		sender := senderFunc(func(ctx context.Context, config *a2a.PushConfig, ev a2a.Event) error {
			if config.URL == last {
				t.Error("a deleted receiver was told")
			}
			return store.Delete(ctx, ev.TaskInfo().TaskID, "z")
		})
		release := make(chan struct{})
		h := newHandler(t, conforming(release), executor.PushNotifications(executor.Push{Store: listed{store}, Sender: sender}))
		msg := userMessage("wait")
		msg.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
		res, err := h.SendMessage(t.Context(), msg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			create(t, h, res.TaskInfo().TaskID, strconv.Itoa(i), "http://a/")
		}
		create(t, h, res.TaskInfo().TaskID, "z", last)
		close(release)
	})
}

// listed lists configs in the order of their ids.
type listed struct{ push.ConfigStore }

func (l listed) List(ctx context.Context, id a2a.TaskID) ([]*a2a.PushConfig, error) {
	configs, err := l.ConfigStore.List(ctx, id)
	slices.SortFunc(configs, func(a, b *a2a.PushConfig) int { return strings.Compare(a.ID, b.ID) })
	return configs, err
}

func create(t *testing.T, h *executor.Handler, task a2a.TaskID, id, url string) {
	t.Helper()
	if _, err := h.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task, ID: id, URL: url}); err != nil {
		t.Fatal(err)
	}
}
