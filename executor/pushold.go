package executor

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A receiver that a client of A2A 0.3 registered understands that alone. The host
// and its stores do not know generations; what is kept of a config is marked in a
// field that 0.3 does not have.

// tenantOf03 is the mark.
const tenantOf03 = "a2a-protocol.org/0.3"

// marked is the config as it is kept.
func marked(ctx context.Context, c *a2a.PushConfig) *a2a.PushConfig {
	if c == nil || !exchangeFrom(ctx).old {
		return c
	}
	out := *c
	out.Tenant = tenantOf03
	return &out
}

// unmarked is a config that was kept as clients know it, and whether its receiver
// is one of 0.3.
func unmarked(c *a2a.PushConfig) (_ *a2a.PushConfig, old bool) {
	if c == nil || c.Tenant != tenantOf03 {
		return c, false
	}
	out := *c
	out.Tenant = ""
	return &out, true
}

// push sends an event to one receiver.
func (p *pusher) push(ctx context.Context, receiver *a2a.PushConfig, event a2a.Event) error {
	to, old := unmarked(receiver)
	own, ok := p.Sender.(*httpSender)
	if !old || !ok {
		return p.Sender.SendPush(ctx, to, event)
	}
	if task := p.taskOf(ctx, event); task != nil {
		return own.sendOld(ctx, to, task)
	}
	return nil
}

// taskOf gives the task as an event leaves it, for 0.3 has notifications of tasks;
// nil where it changes no status.
func (p *pusher) taskOf(ctx context.Context, event a2a.Event) *a2a.Task {
	switch e := event.(type) {
	case *a2a.Task:
		return e
	case *a2a.TaskStatusUpdateEvent:
		task := a2a.Task{ID: e.TaskID, ContextID: e.ContextID}
		if st, err := p.tasks(ctx, e.TaskID); err == nil {
			task = *st.Task
		}
		task.Status = e.Status
		return &task
	}
	return nil
}
