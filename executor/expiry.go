package executor

import (
	"context"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/errcode"
)

// ParkTimeout is how long a task may wait for an answer. Then it ends as failed,
// reason expired: AUTH_REQUIRED where credentials were asked for, INVALID_INPUT
// otherwise. It counts in this process only. Default: 0, for ever.
func ParkTimeout(d time.Duration) Option {
	return Option{name: "ParkTimeout", apply: func(c *config) error {
		c.parkTimeout = d
		return notNegative(d)
	}}
}

// park has a task that was parked expire. ctx has the values of its last run,
// its owner among them.
func (x *agentExecutor) park(ctx context.Context, o Outcome) {
	if x.parkTimeout <= 0 || o.interrupt == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	x.after(x.parkTimeout, func() { x.expire(ctx, o) })
}

// expire fails the task, unless it has moved on since.
func (x *agentExecutor) expire(ctx context.Context, o Outcome) {
	id := a2a.TaskID(o.TaskID)
	st, err := x.store.Get(ctx, id)
	if err != nil || st.Task.Status.State != o.taskState() || st.Task.Status.Timestamp == nil || x.find(id) != nil ||
		time.Since(*st.Task.Status.Timestamp) < x.parkTimeout {
		return // answered, canceled, or asked again since
	}
	code := errcode.InvalidInput
	if o.State == AuthRequired {
		code = errcode.AuthRequired
	}
	data, _ := x.builder.Data(errcode.New(code, "expired", errcode.Source("internal:executor"),
		errcode.CorrelationID(newCorrelationID()), errcode.Message("Nobody answered in time.")))
	t := *st.Task
	if q := t.Status.Message; q != nil {
		t.History = append(slices.Clip(t.History), q)
	}
	t.Status = statusOf(Outcome{State: Failed, Data: data}, t.TaskInfo(), time.Now())
	_, err = x.store.Update(ctx, &taskstore.UpdateRequest{Task: &t, Event: &t, PrevVersion: st.Version})
	if err == nil { // otherwise it has just moved on
		x.push.notify(ctx, &t)
		x.release(ctx, &t)
	}
}
