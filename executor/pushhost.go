package executor

import (
	"context"
	"net/url"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// pushStore and pushSender are what the host has of a pusher.

// pushStore is the user's configuration store, for the clients' requests. For
// the host between two events of a task, when an error or a delay would be the
// task's, it is one that has a single receiver: the pusher.
type pushStore struct {
	push.ConfigStore
	*pusher
}

type pushSender struct{ *pusher }

// everyReceiver stands for all of a task's receivers.
var everyReceiver = []*a2a.PushConfig{{ID: "all"}}

// List implements push.ConfigStore.
func (s pushStore) List(ctx context.Context, id a2a.TaskID) ([]*a2a.PushConfig, error) {
	if !atWork(ctx) {
		configs, err := s.ConfigStore.List(ctx, id)
		out := make([]*a2a.PushConfig, len(configs))
		for i, c := range configs {
			out[i] = unmarked(c)
		}
		return out, err
	}
	if s.ownStore && !s.hasReceivers(ctx, id) {
		return nil, nil
	}
	return everyReceiver, nil
}

// Get implements push.ConfigStore.
func (s pushStore) Get(ctx context.Context, id a2a.TaskID, configID string) (*a2a.PushConfig, error) {
	if configID == "" && exchangeFrom(ctx).old {
		return s.current(ctx, id)
	}
	c, err := s.ConfigStore.Get(ctx, id, configID)
	return unmarked(c), err
}

// Save implements push.ConfigStore. It refuses what the default sender could
// not send to. The host calls it from a goroutine in which a panic would end the
// program.
func (s pushStore) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	c, err := marked(ctx, id, c)
	if err != nil {
		return nil, err
	}
	if s.webhooks != nil && c != nil {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, refuse(a2a.ErrInvalidParams, "The URL for push notifications must be an absolute http or https URL.")
		}
	}
	saved, err := bounded(ctx, s.Timeout, func(ctx context.Context) (*a2a.PushConfig, error) {
		return s.ConfigStore.Save(ctx, id, c)
	})
	return unmarked(saved), err
}

// SendPush implements push.Sender. It never fails.
func (s pushSender) SendPush(ctx context.Context, _ *a2a.PushConfig, event a2a.Event) error {
	s.notify(ctx, event)
	return nil
}

// atWork reports whether the host calls on its own account, while it works on
// a message or a cancellation, and not to answer a request about
// configurations.
func atWork(ctx context.Context) bool {
	_, yes := ctx.Value(callKey{}).(call)
	return yes
}

// withWork marks a context for [atWork]; that of a message is (withCall).
func withWork(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, call{}) }
