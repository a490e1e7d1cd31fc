package executor

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/errordetails"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// clean is the outermost decorator: no error leaves without passing it, and
// nothing that is kept for the agent alone leaves it. It gives each exactly one sentinel and a text meant for clients; what the error
// really said goes to the log. It tells the edge, past the host's binding, which
// error that is.
type clean struct {
	next a2asrv.RequestHandler
	*config
}

var _ a2asrv.RequestHandler = (*clean)(nil)

// GetTask implements a2asrv.RequestHandler.
func (c *clean) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	return cleaned(ctx, c, req, func(req *a2a.GetTaskRequest) a2a.TaskID { return req.ID }, c.next.GetTask)
}

// ListTasks implements a2asrv.RequestHandler.
func (c *clean) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return cleaned(ctx, c, req, nil, c.next.ListTasks)
}

// CancelTask implements a2asrv.RequestHandler.
func (c *clean) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return cleaned(ctx, c, req, func(req *a2a.CancelTaskRequest) a2a.TaskID { return req.ID }, c.next.CancelTask)
}

// SendMessage implements a2asrv.RequestHandler.
func (c *clean) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return cleaned(ctx, c, req, messageTaskID, c.next.SendMessage)
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (c *clean) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return cleanedStream(ctx, c, req, messageTaskID, c.next.SendStreamingMessage)
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (c *clean) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return cleanedStream(ctx, c, req, func(req *a2a.SubscribeToTaskRequest) a2a.TaskID { return req.ID }, c.next.SubscribeToTask)
}

// GetTaskPushConfig implements a2asrv.RequestHandler.
func (c *clean) GetTaskPushConfig(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return cleaned(ctx, c, req, func(req *a2a.GetTaskPushConfigRequest) a2a.TaskID { return req.TaskID }, c.next.GetTaskPushConfig)
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (c *clean) ListTaskPushConfigs(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return cleaned(ctx, c, req, func(req *a2a.ListTaskPushConfigRequest) a2a.TaskID { return req.TaskID }, c.next.ListTaskPushConfigs)
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (c *clean) CreateTaskPushConfig(ctx context.Context, req *a2a.PushConfig) (*a2a.PushConfig, error) {
	return cleaned(ctx, c, req, func(req *a2a.PushConfig) a2a.TaskID { return req.TaskID }, c.next.CreateTaskPushConfig)
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (c *clean) DeleteTaskPushConfig(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	id := func(req *a2a.DeleteTaskPushConfigRequest) a2a.TaskID { return req.TaskID }
	_, err := cleaned(ctx, c, req, id, func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
		return struct{}{}, c.next.DeleteTaskPushConfig(ctx, req)
	})
	return err
}

// GetExtendedAgentCard implements a2asrv.RequestHandler.
func (c *clean) GetExtendedAgentCard(ctx context.Context, req *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return cleaned(ctx, c, req, nil, c.next.GetExtendedAgentCard)
}

func messageTaskID(req *a2a.SendMessageRequest) a2a.TaskID {
	if req == nil || req.Message == nil {
		return ""
	}
	return req.Message.TaskID
}

func cleaned[Req, Resp any](
	ctx context.Context, c *clean, req *Req, idOf func(*Req) a2a.TaskID, next func(context.Context, *Req) (Resp, error),
) (resp Resp, err error) {
	id := idIn(req, idOf)
	defer c.contain(ctx, id, &err)
	ctx, err = c.enter(ctx, req == nil)
	if err != nil {
		return resp, c.clean(ctx, id, err)
	}
	resp, err = next(ctx, req)
	return withoutKept(resp), c.clean(ctx, id, err)
}

func cleanedStream[Req any](
	ctx context.Context, c *clean, req *Req, idOf func(*Req) a2a.TaskID, next func(context.Context, *Req) iter.Seq2[a2a.Event, error],
) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		id := idIn(req, idOf)
		yielding, ended := false, false
		defer func() {
			if yielding || ended {
				return // the reader's own panic, or its end of the loop
			}
			v := recover()
			if v == nil { // it still ends, but not without an answer
				v = errExited
			}
			yield(nil, c.clean(ctx, id, c.panicked(ctx, v)))
		}()
		ctx, err := c.enter(ctx, req == nil)
		if err != nil {
			yielding = true
			yield(nil, c.clean(ctx, id, err))
			return
		}
		for ev, err := range next(ctx, req) {
			yielding = true
			if err != nil {
				yield(nil, c.clean(ctx, id, err))
				return
			}
			if !yield(withoutKept(ev), nil) {
				return
			}
			yielding = false
		}
		ended = true
	}
}

// idIn gives the id of the task that a request names, for the error's details.
func idIn[Req any](req *Req, idOf func(*Req) a2a.TaskID) a2a.TaskID {
	if idOf == nil || req == nil {
		return ""
	}
	return idOf(req)
}

// contain turns a panic (of an interceptor, a store) into an internal error.
func (c *clean) contain(ctx context.Context, id a2a.TaskID, err *error) {
	if v := recover(); v != nil {
		*err = c.clean(ctx, id, c.panicked(ctx, v))
	}
}

// clean makes the error a client receives.
func (c *clean) clean(ctx context.Context, id a2a.TaskID, err error) error {
	if err == nil {
		return nil
	}
	out := c.tell(ctx, id, err)
	x := exchangeFrom(ctx)
	x.failure.Store(out)
	if x.edge {
		return out // the binding tells nobody
	}
	return out.forHost()
}

// tell makes the error that a client receives, of a request for that task
// unless id is empty, and logs what it really was.
func (c *config) tell(ctx context.Context, id a2a.TaskID, err error) *protocolError {
	out := c.public(ctx, err)
	forbids := out.kind.http == http.StatusUnauthorized || out.kind.http == http.StatusForbidden
	if id != "" && !forbids {
		out.meta["taskId"] = string(id)
	}
	if out.kind.http == http.StatusUnauthorized && out.challenge == "" {
		out.challenge = c.challenges("")
	}
	if _, own := err.(*protocolError); !own && errors.Is(out.kind.sentinel, errUnavailable) { //nolint:errorlint // one of ours alone: the server is busy or goes down
		out.correlate() // something that the server depends on is down
	}
	out = c.seal(out)
	attrs := append([]slog.Attr{slog.String("agent", c.agent.Name()), slog.String("task_id", string(id))}, causeAttrs(err)...)
	if out.correlationID == "" {
		emit(ctx, c.logger, slog.LevelDebug, "request refused", attrs...)
		return out
	}
	emit(ctx, c.logger, slog.LevelError, "request failed", append(attrs, slog.String("correlation_id", out.correlationID))...)
	return out
}

// public keeps of an error what was written for clients: our own refusals, that
// a client is to come back later, and the text and details of an a2a.Error that
// an interceptor or a validator made.
func (c *config) public(ctx context.Context, err error) *protocolError {
	if own, ok := errtree.As[*protocolError](err); ok {
		return own.copied()
	}
	k, known := kindOf(err)
	if out := c.comeBack(err); out != nil && !known {
		return out
	}
	if k.ofContext() && ctx.Err() == nil {
		k = internalKind // something else ran out of time or was cancelled
	}
	out := newProtocolError(k, "")
	deliberate, ok := errtree.As[*a2a.Error](err)
	if !ok || deliberate == nil {
		return out
	}
	if deliberate.Message != "" {
		out.text = c.redact(deliberate.Message)
	}
	for _, d := range deliberate.TypedDetails {
		if d != nil && d.Value != nil && d.TypeURL != errordetails.ErrorInfoType {
			out.extra = append(out.extra, d)
		}
	}
	if len(deliberate.Details) > 0 {
		out.extra = append(out.extra, errordetails.NewFromStruct(deliberate.Details))
	}
	return out
}

// redact masks credentials in a text; where the user's redactor panics, a
// general text takes its place.
func (c *config) redact(text string) (out string) {
	defer func() {
		if recover() != nil {
			out = internalKind.text
		}
	}()
	if c.builder.Redact != nil {
		return c.builder.Redact(text)
	}
	return errcode.Redact(text)
}
