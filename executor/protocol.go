package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

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
	ticket, err := p.admit(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer p.exec.giveBack(ticket)
	res, err := p.RequestHandler.SendMessage(withCall(ctx, req, false, ticket), req)
	if task, ok := authEvent(res).(*a2a.Task); ok {
		res = task
	}
	return res, p.correct(ctx, req, err)
}

// SendStreamingMessage does the same for a stream.
func (p *protocol) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		ticket, err := p.admit(ctx, req, true)
		if err != nil {
			yield(nil, err)
			return
		}
		defer p.exec.giveBack(ticket)
		events := p.pump(withCall(ctx, req, true, ticket), func(ctx context.Context) iter.Seq2[a2a.Event, error] {
			return p.RequestHandler.SendStreamingMessage(ctx, req)
		})
		for ev, err := range events {
			if !yield(authEvent(ev), p.correct(ctx, req, err)) {
				return
			}
		}
	}
}

// CancelTask lets the host cancel, again where that failed only because the
// task's last run was on its way out, and answers for a task that has ended
// (A2A v1.0 section 3.1.5).
func (p *protocol) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	for pause := time.Millisecond; ; pause *= 2 {
		t, err := p.RequestHandler.CancelTask(withWork(ctx), req)
		if err == nil {
			restoreEmpty(t) // a copy that the host made
			return t, nil
		}
		st, getErr := p.store.Get(ctx, req.ID)
		switch {
		case getErr != nil:
			return nil, err
		case st.Task.Status.State == a2a.TaskStateCanceled:
			return st.Task, nil
		case st.Task.Status.State.Terminal():
			return nil, refuse(a2a.ErrTaskNotCancelable, "")
		case pause > maxCancelPause || ctx.Err() != nil:
			return nil, err
		}
		time.Sleep(pause)
	}
}

// maxCancelPause bounds the tries of a cancel to about half a second.
const maxCancelPause = 256 * time.Millisecond

// admit refuses a message that no client may send, one that the agent's
// validator does not want, one to a task that is at work, and any while the
// server goes down. The ticket of one
// that it admits must be given back.
func (p *protocol) admit(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) (*ticket, error) {
	if err := wellFormed(req); err != nil {
		return nil, err
	}
	if err := p.validate(ctx, req, streaming); err != nil {
		return nil, err
	}
	return p.exec.admit(messageTaskID(req))
}

// wellFormed refuses what the host cannot store. It answers for the rest.
func wellFormed(req *a2a.SendMessageRequest) error {
	if req == nil || req.Message == nil {
		return nil
	}
	var nulls []errcode.Violation
	for i, part := range req.Message.Parts {
		if part == nil {
			nulls = append(nulls, errcode.Violation{
				Field: fmt.Sprintf("/message/parts/%d", i), Message: "expected a part with text, data, raw or url; got null",
			})
		}
	}
	if len(nulls) == 0 {
		return nil
	}
	out := refuse(a2a.ErrInvalidParams, "")
	out.violations = nulls
	return out
}

// validate asks the agent's validator, where there is one.
func (p *protocol) validate(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) error {
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
		AcceptedOutputModes: outputModesOf(req), AcceptLanguage: callerLanguage(ctx), Streaming: streaming,
	})
	if err := p.askValidator(ctx, ar); err != nil {
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

func (p *protocol) askValidator(ctx context.Context, req *agent.Request) (err error) {
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
	if k, deliberate := kindOf(err); deliberate && !k.ofContext() {
		return err
	}
	failure := p.table.Convert(err)
	sentinel := a2a.ErrInvalidParams
	switch {
	case failure.Code() == errcode.AuthRequired && failure.Reason() == "permission_denied":
		sentinel = a2a.ErrUnauthorized
	case failure.Code() == errcode.AuthRequired:
		sentinel = a2a.ErrUnauthenticated
	case failure.Code() != errcode.InvalidInput:
		return err
	}
	data, _ := p.builder.Data(failure) // only public text, redacted
	out := refuse(sentinel, data.ErrorMessage)
	out.violations = data.Violations
	return out
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
	ticket      *ticket
}

type callKey struct{}

func withCall(ctx context.Context, req *a2a.SendMessageRequest, streaming bool, t *ticket) context.Context {
	return context.WithValue(ctx, callKey{}, call{streaming: streaming, outputModes: outputModesOf(req), ticket: t})
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

func callerLanguage(ctx context.Context) string {
	if c, ok := a2asrv.CallContextFrom(ctx); ok {
		return languageOf(c.ServiceParams())
	}
	return ""
}

func callerOf(ctx context.Context) agent.User {
	if c, ok := a2asrv.CallContextFrom(ctx); ok {
		return userOf(c.User)
	}
	return agent.User{}
}
