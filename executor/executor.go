package executor

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/errcode"
)

// agentExecutor runs an agent for the host, and keeps count of what runs.
type agentExecutor struct {
	*config

	mu       sync.Mutex
	runs     map[a2a.TaskID]*run
	draining bool          // no new run is admitted
	closed   bool          // a run that was admitted late is ended at once
	idle     chan struct{} // closed when draining and nothing runs
}

var _ a2asrv.AgentExecutor = (*agentExecutor)(nil)

func newAgentExecutor(c *config) *agentExecutor {
	return &agentExecutor{config: c, runs: map[a2a.TaskID]*run{}, idle: make(chan struct{})}
}

// Execute publishes the task, runs the agent's code, forwards its events and
// ends the task. It never yields an error: the host answers one by dropping
// the events that are still in its pipe.
func (x *agentExecutor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if ctx.Err() != nil {
			return // cancelled before it began; the canceller has the word
		}
		runCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		r := newRun(x.config, openingTask(ec, time.Now()), requestOf(ec, callFrom(ctx)))
		r.cancel = cancel
		x.register(r)
		defer x.unregister(r)
		if yield(r.task, nil) && r.awaitPublished(ctx) {
			r.drive(ctx, runCtx, func(ev a2a.Event) bool { return yield(ev, nil) })
		}
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

func (x *agentExecutor) register(r *run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs[r.task.ID] = r
	if x.closed {
		r.cancel(errShutdown)
	}
}

func (x *agentExecutor) unregister(r *run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.runs[r.task.ID] == r {
		delete(x.runs, r.task.ID)
	}
	x.checkIdle()
}

// checkIdle tells shutdown that nothing runs. The caller holds the lock.
func (x *agentExecutor) checkIdle() {
	if !x.draining || len(x.runs) > 0 {
		return
	}
	select {
	case <-x.idle:
	default:
		close(x.idle)
	}
}

func (x *agentExecutor) find(id a2a.TaskID) *run {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.runs[id]
}

// stored is told of every task that was stored.
func (x *agentExecutor) stored(id a2a.TaskID) {
	if r := x.find(id); r != nil {
		r.publish()
	}
}

// admits reports whether new runs may begin.
func (x *agentExecutor) admits() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.draining
}

// drain admits no new runs from now on.
func (x *agentExecutor) drain() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.draining = true
	x.checkIdle()
}

// shutdown drains, and waits for what runs. When ctx is done it ends what
// still runs, and waits for those endings.
func (x *agentExecutor) shutdown(ctx context.Context) error {
	x.drain()
	select {
	case <-x.idle:
		x.stopAll()
		return nil
	case <-ctx.Done():
	}
	stopped := x.stopAll()
	<-x.idle
	if stopped == 0 {
		return nil
	}
	return fmt.Errorf("shut down: %d runs did not finish in time and were ended: %w", stopped, context.Cause(ctx))
}

func (x *agentExecutor) stopAll() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, r := range x.runs {
		r.cancel(errShutdown)
	}
	return len(x.runs)
}

// notify calls the OnOutcome hooks.
func (r *run) notify(ctx context.Context, o Outcome) {
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
	f(context.WithoutCancel(ctx), o)
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
	emit(ctx, c.logger, slog.LevelError, "panic outside of a run",
		slog.String("panic", panicText(v)), slog.String("stack", string(debug.Stack())))
	return a2a.ErrInternalError
}
