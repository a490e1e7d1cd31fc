package executor

import (
	"context"
	"encoding/json"
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
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/schema"
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
	defer p.exec.handBack(ctx, ticket)
	var res a2a.SendMessageResult
	err = p.untilFree(ctx, func() error {
		res, err = p.RequestHandler.SendMessage(withCall(ctx, req, false, ticket), req)
		return err
	})
	if task, ok := toldEvent(res).(*a2a.Task); ok {
		res = withHistory(task, historyLength(req))
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
		defer p.exec.handBack(ctx, ticket)
		events := p.pump(withCall(ctx, req, true, ticket), func(ctx context.Context) iter.Seq2[a2a.Event, error] {
			return p.streamWhenFree(ctx, req)
		})
		first := true
		for ev, err := range events {
			if first && err == nil {
				ev = p.taskFirst(ctx, ev)
			}
			first = false
			ev = toldEvent(ev)
			if task, ok := ev.(*a2a.Task); ok {
				ev = withHistory(task, historyLength(req))
			}
			if !yield(ev, p.correct(ctx, req, err)) {
				return
			}
		}
	}
}

// untilFree sends a message, again while the host refuses it only because the
// task's last run is on its way out: ours have made room for it.
func (p *protocol) untilFree(ctx context.Context, send func() error) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := send()
		if !inProgress(err) || pause > maxCancelPause || ctx.Err() != nil {
			return err
		}
		time.Sleep(pause)
	}
}

// inProgress reports whether the host says that a run of the task is under way.
func inProgress(err error) bool {
	return err != nil && !errors.Is(err, taskstore.ErrConcurrentModification) && errors.Is(hostRefusal(err), errBusy)
}

// streamWhenFree is the host's stream of a message, see untilFree.
func (p *protocol) streamWhenFree(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		err := p.untilFree(ctx, func() error {
			first := true
			for ev, err := range p.RequestHandler.SendStreamingMessage(ctx, req) {
				if first && inProgress(err) {
					return err
				}
				first = false
				if !yield(ev, err) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// taskFirst gives the task in the place of its ending, where that is the first
// event of a stream: the task was canceled before the message began a run.
func (p *protocol) taskFirst(ctx context.Context, ev a2a.Event) a2a.Event {
	update, ok := ev.(*a2a.TaskStatusUpdateEvent)
	if !ok || !update.Status.State.Terminal() {
		return ev
	}
	st, err := p.storedTask(ctx, update.TaskID)
	if err != nil || st.Task.Status.State != update.Status.State {
		return ev
	}
	return st.Task
}

// CancelTask lets the host cancel, again where that failed only because the
// task's last run was on its way out, and answers for a task that has ended
// (A2A v1.0 section 3.1.5). The host lets whoever asks join a cancel under way,
// without a look at whose task it is.
func (p *protocol) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if err := p.checkFields(ctx, schema.Task, req); err != nil {
		return nil, err
	}
	st, err := p.storedTask(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	for pause := time.Millisecond; ; pause *= 2 {
		// The host logs a cancel of an ended task as an error of the server's.
		if st.Task.Status.State.Terminal() {
			return canceled(st.Task)
		}
		t, err := p.RequestHandler.CancelTask(withWork(ctx), req)
		if err == nil {
			restoreEmpty(t) // a copy that the host made
			t.Status = told(t.Status)
			return t, nil
		}
		var getErr error
		st, getErr = p.storedTask(ctx, req.ID)
		switch {
		case getErr != nil:
			return nil, err
		case st.Task.Status.State.Terminal():
			continue
		case pause > maxCancelPause || ctx.Err() != nil:
			return nil, err
		}
		time.Sleep(pause)
	}
}

// canceled answers a cancel of a task that has ended.
func canceled(t *a2a.Task) (*a2a.Task, error) {
	if t.Status.State != a2a.TaskStateCanceled {
		return nil, refuse(a2a.ErrTaskNotCancelable, "")
	}
	return t, nil
}

// maxCancelPause bounds the tries of a cancel to about half a second.
const maxCancelPause = 256 * time.Millisecond

// admit refuses a message that is not well-formed, that the card does not offer
// to take or that the agent's validator does not want, one to a task that is at
// work, and any while the server goes down. The ticket of one that it admits
// must be given back.
func (p *protocol) admit(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) (*ticket, error) {
	if err := p.checkFields(ctx, schema.SendMessage, req); err != nil {
		return nil, err
	}
	if req.Message.Role != a2a.MessageRoleUser {
		return nil, refuseField("/message/role", "expected ROLE_USER: a client speaks for the user")
	}
	if req.Config != nil && req.Config.PushConfig != nil && !p.capabilities().PushNotifications {
		return nil, refuse(a2a.ErrPushNotificationNotSupported, "")
	}
	if err := p.checkModes(req); err != nil {
		return nil, err
	}
	task, err := p.taskFor(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := p.validate(ctx, req, task, streaming); err != nil {
		return nil, err
	}
	p.exec.awaitRest(ctx, task)
	t, err := p.exec.admit(messageTaskID(req))
	if err != nil {
		return nil, err
	}
	if err := p.exec.acquire(ctx, t); err != nil {
		p.exec.giveBack(t)
		return nil, err
	}
	return t, nil
}

// taskFor gives the task that a message is for, nil for a new one. It refuses a
// message to a task that there is not, so that it takes no place from one of
// the owner's, that has ended (A2A v1.0 section 3.1.1) or that is of another
// context (section 3.4.3).
func (p *protocol) taskFor(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	if req.Message.TaskID == "" {
		return nil, nil
	}
	st, err := p.storedTask(ctx, req.Message.TaskID)
	switch {
	case err != nil:
		return nil, err
	case st.Task.Status.State.Terminal():
		return nil, refuse(a2a.ErrUnsupportedOperation, endedText)
	case req.Message.ContextID != "" && req.Message.ContextID != st.Task.ContextID:
		return nil, refuseField("/message/contextId", "is not the context of the task; leave it out, or send the task's own")
	}
	return st.Task, nil
}

// storedTask gives a task as the caller may see it: what is not theirs is not found.
func (c *config) storedTask(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := c.store.Get(ctx, id)
	if err == nil && (st == nil || st.Task == nil) {
		err = a2a.ErrTaskNotFound
	}
	return st, err
}

const endedText = "The task has ended and takes no further messages."

// checkFields checks a request that no edge of ours has checked.
func (p *protocol) checkFields(ctx context.Context, rule schema.Rule, req any) error {
	if exchangeFrom(ctx).checked {
		return nil
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("%w: %w", refuse(a2a.ErrInvalidParams, "The request cannot be expressed in JSON."), err)
	}
	tree, _, err := schema.Decode(raw)
	if err != nil {
		return refuse(a2a.ErrInvalidParams, tooDeep)
	}
	if found := schema.Check(rule, tree); len(found) > 0 {
		return refuseParams(found...)
	}
	return nil
}

// validate asks the agent's validator, where there is one.
func (p *protocol) validate(ctx context.Context, req *a2a.SendMessageRequest, task *a2a.Task, streaming bool) error {
	if p.agent.ValidateFunc() == nil {
		return nil
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
	if out := p.refusalOf(p.table.Convert(err)); out != nil && p.asked(out, err) {
		return out
	}
	return err
}

// asked reports whether a validator's error asks for that refusal: that
// something is down it must say itself, else it is a fault of the validator's.
func (p *protocol) asked(out *protocolError, err error) bool {
	authored, ok := errtree.As[*errcode.Error](err)
	return out.kind.rpc != internalKind.rpc || ok && authored != nil
}

// correct replaces the host's answer to a message that came too late: the task
// has ended, is being canceled, or works on another, since it was admitted.
func (p *protocol) correct(ctx context.Context, req *a2a.SendMessageRequest, err error) error {
	if err == nil || req.Message.TaskID == "" {
		return err
	}
	late := hostRefusal(err)
	if late == nil && !errors.Is(err, a2a.ErrInvalidParams) {
		return err
	}
	if _, refused := p.taskFor(ctx, req); refused != nil {
		return refused
	}
	if late != nil {
		return late
	}
	return err
}

// hostRefusal is the clear form of the errors by which the host keeps two runs,
// or a run and a cancel, of one task apart; nil for any other. Only their texts
// tell two of them: they are in an internal package of the host's.
func hostRefusal(err error) (refusal error) {
	if errors.Is(err, taskstore.ErrConcurrentModification) {
		return errBusy
	}
	errtree.Walk(err, func(e error) bool {
		switch errtree.Text(e) {
		case "task execution is already in progress":
			refusal = errBusy
		case "task cancelation is in progress":
			refusal = errCanceling
		}
		return refusal == nil
	})
	return refusal
}

// call is what the host does not pass on to the executor.
type call struct {
	streaming   bool
	outputModes []string
	ticket      *ticket
	recovery    bool // it goes on with the run of a process that died
}

type callKey struct{}

func withCall(ctx context.Context, req *a2a.SendMessageRequest, streaming bool, t *ticket) context.Context {
	return context.WithValue(ctx, callKey{}, call{streaming: streaming, outputModes: outputModesOf(req), ticket: t})
}

func withRecovery(ctx context.Context, t *ticket, k keptRequest) context.Context {
	return context.WithValue(ctx, callKey{}, call{streaming: k.Streaming, outputModes: k.OutputModes, ticket: t, recovery: true})
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
