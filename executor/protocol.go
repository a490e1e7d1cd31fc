package executor

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
)

// protocol corrects the host's answers to the A2A specification, from outside.
// It runs within the interceptors, so the caller is known, and around the
// host's handler. What it does not name, the host answers.
type protocol struct {
	a2asrv.RequestHandler
	*config
	exec *agentExecutor
}

// SendMessage refuses what must not become a task, then lets the host work.
func (p *protocol) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if err := p.admit(ctx, req, false); err != nil {
		return nil, err
	}
	res, err := p.RequestHandler.SendMessage(withCall(ctx, req, false), req)
	return res, p.correct(ctx, req, err)
}

// SendStreamingMessage does the same for a stream.
func (p *protocol) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if err := p.admit(ctx, req, true); err != nil {
			yield(nil, err)
			return
		}
		for ev, err := range p.RequestHandler.SendStreamingMessage(withCall(ctx, req, true), req) {
			if !yield(ev, p.correct(ctx, req, err)) {
				return
			}
		}
	}
}

// CancelTask lets the host work. Its answer is a copy that the host made.
func (p *protocol) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	t, err := p.RequestHandler.CancelTask(ctx, req)
	restoreEmpty(t)
	return t, err
}

// admit refuses a message while the server goes down, and one that the agent's
// validator does not want.
func (p *protocol) admit(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) error {
	if !p.exec.admits() {
		return refuse(a2a.ErrInternalError, "The server is shutting down.")
	}
	if p.agent.ValidateFunc() == nil || req == nil || req.Message == nil {
		return nil
	}
	task, ok := p.stored(ctx, req.Message.TaskID)
	if !ok {
		return nil // the host refuses it
	}
	ar := agent.NewRequest(agent.RequestInfo{
		Message: req.Message, Task: task,
		TaskID: string(req.Message.TaskID), ContextID: req.Message.ContextID,
		Metadata: req.Metadata, User: callerOf(ctx), Tenant: req.Tenant,
		AcceptedOutputModes: outputModesOf(req), Streaming: streaming,
	})
	if err := p.validate(ctx, ar); err != nil {
		return p.refusal(err)
	}
	return nil
}

// stored gives the task a message is for, nil for a new one. It gives false
// for a message that the host will refuse.
func (p *protocol) stored(ctx context.Context, id a2a.TaskID) (*a2a.Task, bool) {
	if id == "" {
		return nil, true
	}
	st, err := p.store.Get(ctx, id)
	if err != nil || st == nil || st.Task == nil || st.Task.Status.State.Terminal() {
		return nil, false
	}
	return st.Task, true
}

func (p *protocol) validate(ctx context.Context, req *agent.Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errcode.NewPanicError(v, debug.Stack())
		}
	}()
	return p.agent.ValidateFunc()(errcode.WithTable(ctx, p.table), req)
}

// refusal turns the validator's error into a protocol error. One that is not a
// deliberate refusal is returned as it is, and told as an internal error.
func (p *protocol) refusal(err error) error {
	if _, deliberate := kindOf(err); deliberate {
		return err
	}
	failure := p.table.Convert(err)
	switch failure.Code() {
	case errcode.InvalidInput:
		out := refuse(a2a.ErrInvalidParams, p.publicText(failure))
		out.violations = failure.Violations()
		return out
	case errcode.AuthRequired:
		if failure.Reason() == "permission_denied" {
			return refuse(a2a.ErrUnauthorized, p.publicText(failure))
		}
		return refuse(a2a.ErrUnauthenticated, p.publicText(failure))
	default:
		return err
	}
}

// publicText is the failure's message as the wire data would carry it.
func (p *protocol) publicText(failure *errcode.Error) string {
	data, _ := p.builder.Data(failure)
	return data.ErrorMessage
}

// correct replaces the host's answer to a message for a finished task, which
// is UnsupportedOperation (A2A v1.0 section 3.1.1). It looks only after the
// host refused, so a message that is accepted costs nothing.
func (p *protocol) correct(ctx context.Context, req *a2a.SendMessageRequest, err error) error {
	if err == nil || req == nil || req.Message == nil || req.Message.TaskID == "" {
		return err
	}
	if !errors.Is(err, a2a.ErrInvalidParams) && !errors.Is(err, taskstore.ErrConcurrentModification) {
		return err
	}
	st, getErr := p.store.Get(ctx, req.Message.TaskID)
	if getErr != nil || st == nil || st.Task == nil || !st.Task.Status.State.Terminal() {
		return err
	}
	return refuse(a2a.ErrUnsupportedOperation, "The task has ended and takes no further messages.")
}

// call is what the host does not pass on to the executor.
type call struct {
	streaming   bool
	outputModes []string
}

type callKey struct{}

func withCall(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) context.Context {
	return context.WithValue(ctx, callKey{}, call{streaming: streaming, outputModes: outputModesOf(req)})
}

func callFrom(ctx context.Context) call {
	c, _ := ctx.Value(callKey{}).(call)
	return c
}

func outputModesOf(req *a2a.SendMessageRequest) []string {
	if req == nil || req.Config == nil {
		return nil
	}
	return req.Config.AcceptedOutputModes
}

func callerOf(ctx context.Context) agent.User {
	if c, ok := a2asrv.CallContextFrom(ctx); ok {
		return userOf(c.User)
	}
	return agent.User{}
}
