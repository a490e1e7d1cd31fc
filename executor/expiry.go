package executor

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/errcode"
)

// ParkTimeout is how long a task may wait for an answer. Then it ends as failed,
// reason expired: AUTH_REQUIRED where credentials were asked for, INVALID_INPUT
// otherwise. With a [LeaseStore] the time counts whatever becomes of the process
// that parked the task: any that shares the store ends it, at most the time of a lease
// later. With another store it counts in this process only. Default: 0, for ever.
func ParkTimeout(d time.Duration) Option {
	return Option{name: "ParkTimeout", apply: func(c *config) error {
		c.parkTimeout = d
		return notNegative(d)
	}}
}

// parked is a question that nobody has answered yet.
type parked struct {
	task     a2a.TaskID
	question string // the id of its message, by which a later one is told from it
	state    a2a.TaskState
	ctx      context.Context //nolint:containedctx // the values of its last run, its owner among them
}

// park has the task of a run expire that ended with a question, where the store
// does not tell of it; see lookForOverdue.
func (x *agentExecutor) park(ctx context.Context, r *run, o Outcome) {
	if x.parkTimeout <= 0 || o.interrupt == nil || x.leases != nil {
		return
	}
	r.known.Lock()
	p := parked{task: r.task.ID, question: r.question, state: o.taskState(), ctx: context.WithoutCancel(ctx)}
	r.known.Unlock()
	x.after(p.task, x.parkTimeout, true, func() { x.expire(p, time.Second) })
}

// expire fails the task, unless it has moved on since. It takes the task as a
// message would, so that an answer is either too late or comes first. Where the
// store fails, or an answer is on its way and may come to nothing, it tries
// again after the pause; the run that an answer begins ends that.
func (x *agentExecutor) expire(p parked, pause time.Duration) {
	again := true // should the store exit the goroutine
	defer func() {
		if again {
			x.after(p.task, pause, false, func() { x.expire(p, min(2*pause, time.Minute)) })
		}
	}()
	if !x.claim(p.task) {
		return
	}
	defer x.disclaim(p.task)
	again = x.fail(p) != nil
}

// fail ends a task as expired. It gives an error when that is to be tried again.
func (x *agentExecutor) fail(p parked) error {
	st, err := x.storedTask(p.ctx, p.task)
	switch {
	case errors.Is(err, a2a.ErrTaskNotFound):
		return nil
	case err != nil:
		return err
	case st.Task.Status.State != p.state || questionIn(st.Task) != p.question:
		return nil // answered, canceled, or asked again since
	}
	return x.failParked(p.ctx, st)
}

// failParked ends a task as expired, unless it changes first.
func (x *agentExecutor) failParked(ctx context.Context, st *taskstore.StoredTask) error {
	code := errcode.InvalidInput
	if st.Task.Status.State == a2a.TaskStateAuthRequired {
		code = errcode.AuthRequired
	}
	data, _ := x.builder.Data(errcode.New(code, "expired", errcode.Source("internal:executor"),
		errcode.CorrelationID(newCorrelationID()), errcode.Message("Nobody answered in time.")))
	t := *st.Task
	if q := t.Status.Message; q != nil {
		t.History = append(slices.Clip(t.History), q)
	}
	t.Status = statusOf(Outcome{State: Failed, Data: data}, t.TaskInfo(), time.Now())
	if _, err := x.store.Update(ctx, &taskstore.UpdateRequest{Task: &t, Event: &t, PrevVersion: st.Version}); err != nil {
		return err
	}
	emit(ctx, x.logger, slog.LevelWarn, "parked task expired", slog.String("agent", x.agent.Name()),
		slog.String("task_id", string(t.ID)), slog.String("context_id", t.ContextID),
		slog.String("correlation_id", data.CorrelationID), slog.String("error_code", string(data.ErrorCode)))
	x.push.notify(ctx, &t)
	x.release(ctx, &t)
	return nil
}

// overdueAtOnce is how many parked tasks one look ends. Their leases are not
// renewed meanwhile.
const overdueAtOnce = 10

// lookForOverdue ends tasks that have been parked for too long, by whichever
// process. It tells whether there may be more.
func (x *agentExecutor) lookForOverdue(ctx context.Context) (more bool) {
	found, err := x.leases.overdue(ctx, x.parkTimeout, overdueAtOnce)
	if err != nil {
		emit(ctx, x.logger, slog.LevelWarn, "looking for parked tasks that are overdue failed", causeAttrs(err)...)
	}
	ended := 0
	for _, o := range found {
		if err := x.expireOverdue(ctx, o); err != nil {
			emit(ctx, x.logger, slog.LevelWarn, "an overdue task could not be ended",
				append(causeAttrs(err), slog.String("task_id", string(o.Task)))...)
			continue
		}
		ended++
	}
	return ended > 0 && len(found) == overdueAtOnce
}

// expireOverdue ends a task whose lease was taken for that. Where a message for it
// is on its way here, the message comes first.
func (x *agentExecutor) expireOverdue(ctx context.Context, o Orphan) error {
	x.owe(o.Task, true) // until it has ended
	if !x.claim(o.Task) {
		return errBusy
	}
	defer x.disclaim(o.Task)
	ctx, call := a2asrv.NewCallContext(context.WithoutCancel(ctx), nil)
	call.User = requestKept("", o.Owner).User.user()
	st, err := x.storedTask(ctx, o.Task)
	if err == nil && awaits(st.Task.Status.State) { // else it was canceled, which needs no lease
		err = x.failParked(ctx, st)
	}
	if err != nil {
		x.letGo(ctx, o.Task)
		return err
	}
	x.owe(o.Task, false)
	return nil
}

// questionIn is the id of a task's status message, empty without one.
func questionIn(t *a2a.Task) string {
	if t.Status.Message == nil {
		return ""
	}
	return t.Status.Message.ID
}
