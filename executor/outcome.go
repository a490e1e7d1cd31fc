package executor

import (
	"context"
	"errors"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
)

// State is how a run ended: a closed set.
type State string

// The states a run can end in. Completed, Failed, Canceled and Rejected end
// the task too; InputRequired parks it until the next message.
const (
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected"
	InputRequired State = "input-required"
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
}

// Why the executor itself ends a run, as the cause of the run's context.
var (
	errTaskCanceled = errors.New("the task was cancelled")
	errShutdown     = errcode.New(errcode.UpstreamUnavailable, "server_shutdown",
		errcode.Message("The server is shutting down."), errcode.Source("internal:executor"))
	errHostStopped = errcode.New(errcode.Internal, "host_stopped",
		errcode.Message("The task's execution was stopped."), errcode.Source("internal:executor"))
	errHandlerExited = errcode.New(errcode.Internal, "handler_exited",
		errcode.Message("The agent's code stopped without returning."))
)

// ended is what the agent's code came to: its two results, or the cause for
// which the executor stopped waiting for it.
type ended struct {
	result *agent.Result
	err    error
	cause  error
}

// outcome collapses e. It is the only place that decides a run's state.
func (c *config) outcome(e ended, correlationID string, retried int) (Outcome, error) {
	o := Outcome{result: e.result}
	switch {
	case e.cause == errTaskCanceled: //nolint:errorlint // our own sentinel, never wrapped
		o.State = Canceled
		return o, nil
	case e.cause != nil:
		e.err = e.cause
	}
	if e.err == nil {
		o.State = Completed
		if e.result != nil && e.result.Rejected {
			o.State = Rejected
		}
		return o, nil
	}
	if i := hitl.Find(e.err); i != nil {
		o.State, o.interrupt = InputRequired, i
		return o, nil //nolint:nilerr // a question is not a failure
	}
	failure := c.table.Convert(e.err)
	if failure.CorrelationID() == "" {
		failure = failure.With(errcode.CorrelationID(correlationID))
	}
	if retried > failure.Retried() {
		failure = failure.With(errcode.Retried(retried))
	}
	data, problem := c.builder.Data(failure)
	o.State, o.Data, o.Err = Failed, data, e.err
	return o, problem
}

// stopCause tells the executor's own reasons to stop a run from the host's.
func stopCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == errTaskCanceled || cause == error(errShutdown) { //nolint:errorlint // our own sentinels, never wrapped
		return cause
	}
	return errHostStopped
}
