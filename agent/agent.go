package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/leftover"
	"github.com/a2aexec/a2aexec/stream"
)

// InvokeFunc handles a request in one go. It may return nothing at all (nil,
// nil): the task is completed without artifacts. A Result returned beside an
// error is kept as the work done so far, except when a guardrail blocked it.
//
// The ctx is cancelled when the task is cancelled or the server goes down, and
// carries a [stream.Writer] (stream.FromContext) for interim output.
type InvokeFunc func(ctx context.Context, req *Request) (*Result, error)

// StreamFunc handles a request and writes its output through w as it comes.
// A Result is added after what was written; nil adds nothing. When it fails
// before its first chunk and the agent has an InvokeFunc, that one runs
// instead, unless the failure says that running again cannot help.
type StreamFunc func(ctx context.Context, req *Request, w *stream.Writer) (*Result, error)

// ValidateFunc looks at a request before a task exists. A non-nil error
// refuses it on the protocol layer; see [Validate].
type ValidateFunc func(ctx context.Context, req *Request) error

// ErrProcessRestarted is the failure of a run whose process died and that cannot
// go on: UPSTREAM_UNAVAILABLE, reason process_restarted, retriable.
var ErrProcessRestarted error = errcode.New(errcode.UpstreamUnavailable, "process_restarted",
	errcode.Message("The server stopped while it worked on the task. Please try again."), errcode.Source("internal:executor"))

// Agent is an agent's name and code. It is immutable and safe for concurrent
// use by any number of servers.
type Agent struct {
	name        string
	description string
	invoke      InvokeFunc
	stream      StreamFunc
	recover     StreamFunc
	validate    ValidateFunc
	release     []func(ctx context.Context, taskID string)
	flow        bool
	faults      []error
}

// Option configures an Agent.
type Option struct{ apply func(*Agent) }

// New makes an agent. The name identifies it to clients and, made kebab-case,
// is the domain of its failures. What is wrong with the arguments (an empty
// name, no function, a nil one) is reported by [Agent.Err] and by the server
// that would run the agent.
func New(name string, opts ...Option) *Agent {
	a := &Agent{name: name}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(a)
		}
	}
	if strings.TrimSpace(name) == "" {
		a.fault("name: expected a non-empty name")
	}
	if a.invoke == nil && a.stream == nil {
		a.fault("code: expected agent.Invoke, agent.Stream or both, or agent.Flow")
	}
	if a.flow && a.invoke != nil {
		a.fault("code: agent.Flow beside agent.Invoke: a flow has no fallback")
	}
	return a
}

func (a *Agent) fault(text string) {
	a.faults = append(a.faults, fmt.Errorf("agent %q: %s", a.name, text))
}

// Invoke gives the agent a function for requests that are answered in one go.
func Invoke(f InvokeFunc) Option {
	return Option{func(a *Agent) {
		if f == nil {
			a.fault("Invoke: expected a function, got nil")
		}
		a.invoke = f
	}}
}

// Stream gives the agent a function that writes its output as it comes.
func Stream(f StreamFunc) Option {
	return Option{func(a *Agent) {
		if f == nil {
			a.fault("Stream: expected a function, got nil")
		}
		a.stream = f
	}}
}

// Validate gives the agent a request validator. It sees each message before a
// task is made of it, or before it is added to its task, and is the one place
// from which an agent may answer on the protocol layer:
//
//   - an error of code INVALID_INPUT (an errcode.Error, a
//     validator.ValidationErrors, an errcode.MissingFieldError …) becomes
//     InvalidParams (−32602, HTTP 400) with its violations as
//     google.rpc.BadRequest field violations;
//   - AUTH_REQUIRED becomes Unauthenticated (HTTP 401), or permission denied
//     (HTTP 403) for the reason "permission_denied";
//   - an error that wraps a sentinel of package a2a becomes that error;
//   - anything else is an internal error, whose text stays in the log.
//
// Default: every well-formed request is accepted.
func Validate(f ValidateFunc) Option {
	return Option{func(a *Agent) {
		if f == nil {
			a.fault("Validate: expected a function, got nil")
		}
		a.validate = f
	}}
}

// Recover gives the agent a function that goes on with a run whose process
// died, where the task store outlives the process (executor.LeaseStore). Its
// request is the one of that run, and the task of [Request.Task] has the
// artifacts that were stored. What was only in that process's memory is lost, and
// secrets are not kept: see executor.RequestToKeep. One that cannot go on returns
// [ErrProcessRestarted]. Default: each run ends with that.
func Recover(f StreamFunc) Option {
	return Option{func(a *Agent) {
		if f == nil {
			a.fault("Recover: expected a function, got nil")
		}
		a.recover = f
	}}
}

// OnRelease gives the agent a function that is called when a task has ended and
// that is stored: what the agent keeps for the task's resume can be forgotten.
// [FromContext] gives a request without a message, for the task: as it was
// stored, where it was parked and is canceled or nobody answered, and with its
// ids and memos alone after the end of a run. Several are called in order. The executor
// waits for them for its grace period, a second at least; then their context is
// done.
func OnRelease(f func(ctx context.Context, taskID string)) Option {
	return Option{func(a *Agent) {
		if f == nil {
			a.fault("OnRelease: expected a function, got nil")
			return
		}
		a.release = append(a.release, f)
	}}
}

// Description says what the agent does; the agent card shows it. Default: the
// agent's name.
func Description(text string) Option {
	return Option{func(a *Agent) { a.description = text }}
}

// Name is the agent's name as given.
func (a *Agent) Name() string { return a.name }

// Description is the agent's description, its name by default.
func (a *Agent) Description() string {
	if a.description == "" {
		return a.name
	}
	return a.description
}

// Release calls the [OnRelease] functions, after it has taken back what the task
// has left elsewhere, such as the tasks of other agents that wait for an answer
// (package agent/remote). Whoever runs the agent calls it.
func (a *Agent) Release(ctx context.Context, taskID string) {
	if req, ok := FromContext(ctx); ok {
		leftover.TakeBack(ctx, memosIn(req.in.Task))
	}
	for _, f := range a.release {
		f(ctx, taskID)
	}
}

// Err reports everything that is wrong with the agent's definition, joined.
func (a *Agent) Err() error {
	if a == nil {
		return errors.New("agent: expected an agent, got nil")
	}
	return errors.Join(a.faults...)
}

// InvokeFunc is the agent's function for blocking requests, nil without one.
func (a *Agent) InvokeFunc() InvokeFunc { return a.invoke }

// StreamFunc is the agent's streaming function, nil without one.
func (a *Agent) StreamFunc() StreamFunc { return a.stream }

// RecoverFunc is the agent's function for runs whose process died, nil without one.
func (a *Agent) RecoverFunc() StreamFunc { return a.recover }

// ValidateFunc is the agent's request validator, nil without one.
func (a *Agent) ValidateFunc() ValidateFunc { return a.validate }
