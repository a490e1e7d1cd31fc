package executor

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/retained"
)

// State is how a run ended: a closed set.
type State string

// The states a run can end in. Completed, Failed, Canceled and Rejected end
// the task too; InputRequired and AuthRequired park it until the next message.
const (
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected"
	InputRequired State = "input-required"
	AuthRequired  State = "auth-required"
)

// Outcome is what became of one run: whatever happened, collapsed into one
// value. It is passed to [OnOutcome] hooks, which must not change it.
type Outcome struct {
	// State is how the run ended.
	State State
	// TaskID and ContextID identify the task.
	TaskID, ContextID string
	// Agent is the agent's name.
	Agent string
	// Data is what the client receives; set when State is Failed.
	Data errcode.Data
	// Err is the full private cause, for logs and error trackers only; set
	// when State is Failed. It is nothing the client sees.
	Err error
	// Started is when the run began, Elapsed how long it took.
	Started time.Time
	Elapsed time.Duration

	result    *agent.Result
	interrupt *hitl.Interrupt
	memos     map[string]any // of the questions, by their ids
	kept      map[string]any // what the run's code wants to find again, likewise
	problem   error          // what kept Data from being sent as it was
	logged    bool
}

// Why the executor itself ends a run.
var (
	errTaskCanceled = errors.New("the task was cancelled")
	errShutdown     = errcode.New(errcode.UpstreamUnavailable, "server_shutdown",
		errcode.Message("The server is shutting down."), errcode.Source("internal:executor"))
	errHostStopped = errcode.New(errcode.Internal, "host_stopped",
		errcode.Message("The task's execution was stopped."), errcode.Source("internal:executor"))
	errHandlerExited = errcode.New(errcode.Internal, "handler_exited",
		errcode.Message("The agent's code stopped without returning."))
	errOutputSent = errcode.New(errcode.Internal, "output_already_sent",
		errcode.Message("The agent's code was called again after it had sent output."), errcode.Source("internal:executor"))
)

// stopCause tells the executor's own reasons to stop a run from the host's.
func (r *run) stopCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == errTaskCanceled || cause == error(errShutdown) || cause == error(errLeaseLost) || cause == error(r.errOutput) { //nolint:errorlint // our own sentinels, never wrapped
		return cause
	}
	return errHostStopped
}

// settle collapses what the user's code returned, and logs a failure so that
// its cause is in the log before the client sees the correlation id. It calls
// user code: only the handler goroutine may.
func (r *run) settle(ctx context.Context, res *agent.Result, err error) Outcome {
	o := r.outcome(r.table, r.builder, res, err)
	if o.State == Failed {
		r.loseFinished()
	}
	if o.interrupt != nil {
		o.kept = retained.All(ctx)
	}
	r.logOutcome(ctx, o)
	o.logged = true
	return o
}

// stoppedBy is the outcome of a run that is not waited for any longer. The
// cause is the executor's own, so no user code is called.
func (r *run) stoppedBy(cause error) Outcome {
	if cause == errTaskCanceled { //nolint:errorlint // our own sentinel, never wrapped
		return r.identify(Outcome{State: Canceled})
	}
	b := r.builder
	b.Redact = nil
	return r.outcome(errcode.Default(), b, nil, cause)
}

// outcome is the only place that decides a run's state.
func (r *run) outcome(table *errcode.Table, b errcode.Builder, res *agent.Result, err error) Outcome {
	o := Outcome{State: Completed, result: res}
	switch i := hitl.Find(err); {
	case i != nil:
		o.State, o.interrupt, o.memos = InputRequired, i, hitl.Memos(err)
		if i.Auth() {
			o.State = AuthRequired
		}
	case err != nil:
		o.State, o.Err = Failed, err
		o.Data, o.problem = b.Data(r.failure(table, err))
	case res != nil && res.Rejected:
		o.State = Rejected
	}
	return r.identify(o)
}

// failure classifies err, and adds what the run knows.
func (r *run) failure(table *errcode.Table, err error) *errcode.Error {
	retried := int(r.retried.Load())
	f := r.located(table.Convert(err))
	if f.CorrelationID() == "" {
		f = f.With(errcode.CorrelationID(newCorrelationID()))
	}
	if retried > 0 {
		f = f.With(errcode.Retried(min(f.Retried()+retried, math.MaxInt32)))
	}
	return f
}

func (r *run) identify(o Outcome) Outcome {
	o.TaskID, o.ContextID, o.Agent = string(r.task.ID), r.task.ContextID, r.agent.Name()
	o.Started, o.Elapsed = r.started, time.Since(r.started)
	return o
}

// asStored gives the outcome that the store has: where it could not take the
// run's ending, the host has failed the task.
func (r *run) asStored(o Outcome) Outcome {
	r.known.Lock()
	state := r.state
	r.known.Unlock()
	if state == o.taskState() || state != a2a.TaskStateFailed && state.Terminal() {
		return o
	}
	lost := r.lostToHost()
	lost.Err = errors.Join(errHostStopped, o.Err)
	return lost
}

// lostToHost is the outcome of a run whose task the host has failed: one, for
// the client, the log and the hooks.
func (r *run) lostToHost() Outcome {
	made := r.stoppedBy(errHostStopped)
	r.known.Lock()
	defer r.known.Unlock()
	if r.hostFailed == nil {
		r.hostFailed = &made
	}
	return *r.hostFailed
}

func (o Outcome) taskState() a2a.TaskState {
	switch o.State {
	case Completed:
		return a2a.TaskStateCompleted
	case Rejected:
		return a2a.TaskStateRejected
	case Canceled:
		return a2a.TaskStateCanceled
	case InputRequired:
		return a2a.TaskStateInputRequired
	case AuthRequired:
		return a2a.TaskStateAuthRequired
	default:
		return a2a.TaskStateFailed
	}
}
