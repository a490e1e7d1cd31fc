package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/leftover"
	"github.com/a2aexec/a2aexec/internal/retained"
)

// agentExecutor runs an agent for the host.
type agentExecutor struct {
	*config
	*registry
	memory *memoryStore // the default store, else nil
	push   *pusher      // nil without push notifications
}

var _ a2asrv.AgentExecutor = (*agentExecutor)(nil)

func newAgentExecutor(c *config) *agentExecutor {
	x := &agentExecutor{config: c, registry: newRegistry()}
	x.slots = newSlots(c.maxRuns, c.retryAfter)
	if c.leases != nil {
		x.onBusy = x.keepLeases
	}
	return x
}

// Execute publishes the task, runs the agent's code, forwards its events and
// ends the task. It never yields an error: the host answers one by dropping
// the events that are still in its pipe.
func (x *agentExecutor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if ctx.Err() != nil {
			return // cancelled before it began; the canceller has the word
		}
		r := runOf(x.config, ec, callFrom(ctx))
		runCtx, cancel := context.WithCancelCause(retained.New(leftover.New(ctx), r.task.Metadata))
		defer cancel(nil)
		if x.leases != nil {
			r.keep = x.keepRequest(ctx, ec, callFrom(ctx))
		}
		r.cancel = cancel
		r.moveOn = func() { leftover.MoveOn(runCtx) }
		r.giveUp = func(ctx context.Context, why error) { x.lose(ctx, r, why) }
		r.returned = func() { x.codeReturned(r) }
		x.hold(r, callFrom(ctx).ticket)
		runCtx = r.startSpan(runCtx, ec.ServiceParams)
		x.begin(r, callFrom(ctx).ticket)
		if !yield(r.task, nil) || !r.awaitPublished(ctx) {
			r.endSpan(runCtx, r.stoppedBy(errHostStopped))
			x.abandonLease(ctx, r)
			if r.ended() {
				x.release(ctx, r.task)
			}
			x.end(r)
			return
		}
		x.awaitJoined(runCtx, r.task.ID)
		o := r.drive(ctx, runCtx, func(ev a2a.Event) bool { return yield(ev, nil) })
		x.abandonLease(ctx, r)
		x.leave(r)
		x.park(ctx, r, o)
		go func() { // x.shutdown waits for it
			defer x.end(r)
			r.endSpan(runCtx, o)
			r.logDeaf(runCtx)
			x.conclude(runCtx, r, o)
		}()
	}
}

// runOf makes the run of a message, or the one that goes on with the run of a
// process that died.
func runOf(c *config, ec *a2asrv.ExecutorContext, call call) *run {
	if !call.recovery {
		return newRun(c, openingTask(ec, time.Now()), requestOf(ec, call))
	}
	before := *ec
	before.StoredTask = beforeRun(ec.StoredTask, ec.Message)
	r := newRun(c, reopenedTask(ec.StoredTask, time.Now()), requestOf(&before, call))
	r.recovered = true
	return r
}

// abandonLease gives back the lease of a run whose ending could not be stored,
// so that the task is recovered. Otherwise the store has ended the lease.
func (x *agentExecutor) abandonLease(ctx context.Context, r *run) {
	if !r.isLost() && !r.rests() {
		x.letGo(ctx, r.task.ID)
	}
}

// rests reports whether the run's ending is stored.
func (r *run) rests() bool {
	r.known.Lock()
	defer r.known.Unlock()
	return atRest(r.state)
}

// ended reports whether it is stored that the task has ended.
func (r *run) ended() bool {
	r.known.Lock()
	defer r.known.Unlock()
	return r.state.Terminal()
}

// conclude is what comes after a run. After one that was lost it is little.
func (x *agentExecutor) conclude(ctx context.Context, r *run, o Outcome) {
	if r.isLost() {
		x.takeBackLost(ctx, r)
		return
	}
	ctx, memos := context.WithoutCancel(ctx), memosOf(r.task)
	switch {
	case r.ended():
		// What the run kept of its task is not looked at again: this much does.
		x.release(ctx, &a2a.Task{ID: r.task.ID, ContextID: r.task.ContextID, Metadata: map[string]any{hitl.MemoKey: memos}})
	case o.interrupt != nil:
		leftover.TakeBackOthers(ctx, memos, o.memos)
	}
	r.notify(ctx, o)
}

// takeBackLost takes back what a run that was lost has left and nobody will find:
// its task has ended, or will, for the agent does not go on with it, and the memos that are
// stored now do not tell of it.
func (x *agentExecutor) takeBackLost(ctx context.Context, r *run) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.leases.time())
	defer cancel()
	st, err := x.storedTask(ctx, r.task.ID)
	if err == nil && (st.Task.Status.State.Terminal() || x.agent.RecoverFunc() == nil) {
		leftover.TakeBackOthers(ctx, memosOf(st.Task))
	}
}

// Cancel ends the task as canceled: through its run, where there is one, and
// by itself for a parked task or a run that does not end in time.
func (x *agentExecutor) Cancel(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if r := x.find(ec.TaskID); r != nil {
			r.cancel(errTaskCanceled)
			t := time.NewTimer(x.grace + time.Second)
			defer t.Stop()
			select {
			case <-r.over:
				return
			case <-t.C:
			case <-ctx.Done():
			}
		}
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}

// release tells the agent that a task has ended. Its code is the user's: it has
// the grace period, a second at least, and whatever it does, the task has ended.
func (x *agentExecutor) release(ctx context.Context, t *a2a.Task) {
	if t == nil {
		return
	}
	returned := make(chan struct{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		defer close(returned)
		defer func() {
			if v := recover(); v != nil {
				_ = x.panicked(ctx, v) // logged
			}
		}()
		info := agent.RequestInfo{Task: t, TaskID: string(t.ID), ContextID: t.ContextID}
		if call, ok := a2asrv.CallContextFrom(ctx); ok {
			info.User = userOf(call.User)
		}
		req := agent.NewRequest(info)
		x.agent.Release(agent.NewContext(ctx, req), string(t.ID))
	}()
	x.awaitFor(returned, max(x.grace, leastRelease))
}

// leastRelease is how long an agent may take to forget a task, however short the
// grace period is: what is not forgotten stays in its store.
const leastRelease = time.Second

// stored is told of every task that was stored.
func (x *agentExecutor) stored(t *a2a.Task) {
	r := x.find(t.ID)
	if r != nil || t.Status.State.Terminal() {
		x.moved(t.ID, r != nil)
	}
	if t.Status.State.Terminal() {
		x.stopTimer(t.ID)
	}
	if r == nil {
		return
	}
	r.known.Lock()
	r.state, r.question = t.Status.State, questionIn(t)
	r.known.Unlock()
	r.wasStored()
	if atRest(authState(t.Status)) {
		r.finish() // clients may have seen the ending before its goroutine goes on
	}
}

// overtaken is told that the task was changed by somebody else. Where processes
// share a store, a run that works on it has lost it.
func (x *agentExecutor) overtaken(ctx context.Context, id a2a.TaskID) {
	if r := x.find(id); r != nil && !r.rests() {
		x.lose(ctx, r, nil)
	}
}

// completeFailure gives a task that the host itself fails, bare, the message
// that says so. The task is the host's own, about to be stored.
func (x *agentExecutor) completeFailure(t *a2a.Task) {
	r := x.find(t.ID)
	if r == nil || t.Status.State != a2a.TaskStateFailed || t.Status.Message != nil {
		return
	}
	t.Status = statusOf(r.lostToHost(), t.TaskInfo(), time.Now())
}

// shutdown admits no new runs, and waits for those under way, their hooks and
// their push notifications, until ctx is done.
func (x *agentExecutor) shutdown(ctx context.Context) error {
	x.drain()
	err := x.finish(ctx)
	return errors.Join(err, x.push.drain(ctx))
}

// finish waits for runs and their hooks. When ctx is done it ends what still
// runs, and gives that the grace period.
func (x *agentExecutor) finish(ctx context.Context) error {
	select {
	case <-x.idle:
		return nil
	case <-ctx.Done():
	}
	stopped := x.stopAll()
	t := time.NewTimer(x.grace + time.Second)
	defer t.Stop()
	var stuck error
	select {
	case <-x.idle:
	case <-t.C:
		stuck = errors.New("code of the agent or its hooks does not return")
	}
	if stopped == 0 && stuck == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("shut down: %d runs did not finish in time and were ended: %w", stopped, context.Cause(ctx)), stuck)
}

// notify logs what is not logged yet, and calls the OnOutcome hooks.
func (r *run) notify(ctx context.Context, o Outcome) {
	ctx = context.WithoutCancel(ctx)
	if !o.logged {
		r.logOutcome(ctx, o)
	}
	r.logLost(ctx, o) // once, for the ending has flushed the rest
	for _, f := range r.onOutcome {
		r.notifyOne(ctx, o, f)
	}
}

func (r *run) notifyOne(ctx context.Context, o Outcome, f func(context.Context, Outcome)) {
	defer func() {
		if v := recover(); v != nil {
			r.log(ctx, "an OnOutcome hook panicked", errcode.NewPanicError(v, debug.Stack()))
		}
	}()
	f(ctx, o)
}

// panicText renders a recovered value for the log; its own methods may panic.
func panicText(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T", v)
		}
	}()
	return fmt.Sprint(v)
}

// hostPanic is for the host's panic handlers, which have no context.
func (c *config) hostPanic(v any) error { return c.panicked(context.Background(), v) }

// panicked tells of a panic outside of a run (in an interceptor, a store, or
// by a fault of this package): logged whole, told as an internal error.
func (c *config) panicked(ctx context.Context, v any) error {
	emit(ctx, c.logger, slog.LevelError, "panic outside of a run", slog.String("agent", c.agent.Name()),
		slog.String("panic", panicText(v)), slog.String("stack", string(debug.Stack())))
	return a2a.ErrInternalError
}
