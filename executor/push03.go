package executor

import (
	"context"
	"errors"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Receivers of A2A 0.3 want other notifications than those of 1.0 (section 9.5
// of its specification): the whole task, as 0.3 writes it. Which a receiver is,
// is known from the request that set it up, and is kept with it.

// tenant03 stands for A2A 0.3 in a stored config, in the place of the tenant,
// which 0.3 does not have: so it is kept by any store.
const tenant03 = "a2a:0.3"

func of03(c *a2a.PushConfig) bool { return c != nil && c.Tenant == tenant03 }

// marked is the config as it is stored. One that a client of 0.3 gives no id
// has that of its task, so that the next one replaces it: such a client sets or
// updates the one there is (section 7.5 of 0.3).
func marked(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	switch {
	case c == nil:
		return nil, nil
	case exchangeFrom(ctx).old:
		out := *c
		out.Tenant = tenant03
		if out.ID == "" {
			out.ID = string(id)
		}
		return &out, nil
	case of03(c):
		return nil, refuseField("/tenant", "is reserved")
	}
	return c, nil
}

// unmarked is a stored config as clients may see it.
func unmarked(c *a2a.PushConfig) *a2a.PushConfig {
	if !of03(c) {
		return c
	}
	out := *c
	out.Tenant = ""
	return &out
}

// current gives the config of a task for a client of 0.3 that names none
// (section 7.6 of 0.3): the one that was set without an id, else the first.
func (s pushStore) current(ctx context.Context, id a2a.TaskID) (*a2a.PushConfig, error) {
	configs, err := s.ConfigStore.List(ctx, id)
	if err != nil {
		return nil, err
	}
	var found *a2a.PushConfig
	for _, c := range configs {
		switch {
		case c == nil:
		case c.ID == string(id):
			return unmarked(c), nil
		case found == nil || c.ID < found.ID:
			found = c
		}
	}
	return unmarked(found), nil
}

// event03 is what a receiver of 0.3 is to have of an event: the task, when its
// status changes. Nil for nothing: a part of an artifact would be sent with all
// that there was before it, each time. The task is that of the store, so
// that it may have artifacts already that came after the status.
func (p *pusher) event03(ctx context.Context, event a2a.Event) a2a.Event {
	switch e := event.(type) {
	case *a2a.TaskArtifactUpdateEvent:
		return nil
	case *a2a.TaskStatusUpdateEvent:
		stored, err := again(ctx, p, func(ctx context.Context) (*a2a.Task, error) { return p.load(ctx, e.TaskID) })
		p.logFailed(ctx, "load the task for a receiver of A2A 0.3", e.TaskID, nil, err)
		task := a2a.Task{ID: e.TaskID, ContextID: e.ContextID} // of one that is forgotten since
		if stored != nil {
			task = *stored
		}
		task.Status = e.Status
		return &task
	default:
		return event
	}
}

// load gives the stored task, nil where there is none any more.
func (p *pusher) load(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	st, err := p.config.storedTask(ctx, id)
	switch {
	case errors.Is(err, a2a.ErrTaskNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return st.Task, nil
}

// nameConfig gives the config in a request of gRPC 0.3 the id that the request
// has for it, which the host's binding does not read.
func nameConfig(r *oldpb.CreateTaskPushNotificationConfigRequest) error {
	id, config := r.GetConfigId(), r.GetConfig().GetPushNotificationConfig()
	switch {
	case id == "" || config == nil:
	case config.GetId() == "":
		config.Id = id
	case config.GetId() != id:
		return refuseField("/configId", "is not the id in the config")
	}
	return nil
}
