package executor

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"

	"github.com/a2aexec/a2aexec/internal/schema"
)

// GetTask gives as much of the task's history as was asked for.
func (p *protocol) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	if err := p.checkFields(ctx, schema.GetTask, req); err != nil {
		return nil, err
	}
	task, err := p.RequestHandler.GetTask(ctx, req)
	if err != nil {
		return nil, err
	}
	return withHistory(task, req.HistoryLength), nil
}

// ListTasks gives of each task what was asked for, whatever the store gave, and
// an empty list where there is none (A2A v1.0 section 3.1.4).
func (p *protocol) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if err := p.checkFields(ctx, schema.ListTasks, req); err != nil {
		return nil, err
	}
	c := *req
	if req.Status == "TASK_STATE_UNSPECIFIED" { // the host's has no name
		c.Status = a2a.TaskStateUnspecified
	}
	if after := inMillis(req.StatusTimestampAfter); after != req.StatusTimestampAfter && after.Before(*req.StatusTimestampAfter) {
		next := after.Add(time.Millisecond) // of the times that clients see
		c.StatusTimestampAfter = &next
	}
	res, err := p.RequestHandler.ListTasks(ctx, &c)
	switch {
	case err != nil && req.PageToken != "" && (errors.Is(err, a2a.ErrParseError) || errors.Is(err, a2a.ErrInvalidRequest)):
		return nil, refuseField("/pageToken", "is not a token of an earlier answer")
	case err != nil || res == nil:
		return nil, err
	}
	out := *res
	out.Tasks = make([]*a2a.Task, 0, len(res.Tasks))
	for _, t := range res.Tasks {
		t = withHistory(t, req.HistoryLength)
		if !req.IncludeArtifacts && t != nil && t.Artifacts != nil {
			c := *t
			c.Artifacts = nil
			t = &c
		}
		out.Tasks = append(out.Tasks, t)
	}
	return &out, nil
}

// historyLength is how many messages of the history a sender wants back.
func historyLength(req *a2a.SendMessageRequest) *int {
	if req == nil || req.Config == nil {
		return nil
	}
	return req.Config.HistoryLength
}

// withHistory gives a task with at most so many messages of its history, the
// most recent (A2A v1.0 section 3.2.4). What changes is a copy.
func withHistory(t *a2a.Task, most *int) *a2a.Task {
	if t == nil || most == nil || *most < 0 || len(t.History) <= *most {
		return t
	}
	c := *t
	c.History = t.History[len(t.History)-*most:]
	if *most == 0 {
		c.History = nil
	}
	return &c
}

// GetTaskPushConfig tells of a config that there is not as of a task (A2A v1.0
// section 3.1.8). A client of 0.3 need not name one, see pushStore.current.
func (p *protocol) GetTaskPushConfig(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	rule := schema.Push
	if req.ID == "" && exchangeFrom(ctx).old {
		rule = schema.ListPush
	}
	if err := p.checkPush(ctx, rule, req); err != nil {
		return nil, err
	}
	res, err := p.RequestHandler.GetTaskPushConfig(ctx, req)
	return res, noConfig(err)
}

// ListTaskPushConfigs lists the configs of a task, by pages where asked to.
func (p *protocol) ListTaskPushConfigs(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	if err := p.checkPush(ctx, schema.ListPush, req); err != nil {
		return nil, err
	}
	res, err := p.RequestHandler.ListTaskPushConfigs(ctx, req)
	if err != nil || res == nil {
		return nil, err
	}
	size, token := req.PageSize, req.PageToken
	if x := exchangeFrom(ctx); size == 0 && token == "" { // the host's binding for HTTP+JSON drops them
		size, token = x.pageSize, x.pageToken
	}
	page, err := configPage(res.Configs, size, token)
	if err == nil {
		exchangeFrom(ctx).nextPage = page.NextPageToken
	}
	return page, err
}

// configPage gives a page of the configs in the order of their ids, for the host
// has none. A token is the last id of the page before, in base64.
func configPage(configs []*a2a.PushConfig, size int, token string) (*a2a.ListTaskPushConfigResponse, error) {
	after, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, refuseField("/pageToken", "is not a token of an earlier answer")
	}
	page := slices.DeleteFunc(slices.Clone(configs), func(c *a2a.PushConfig) bool {
		return c == nil || token != "" && c.ID <= string(after)
	})
	slices.SortFunc(page, func(a, b *a2a.PushConfig) int { return strings.Compare(a.ID, b.ID) })
	out := &a2a.ListTaskPushConfigResponse{Configs: page}
	if size > 0 && len(page) > size {
		out.Configs = page[:size]
		out.NextPageToken = base64.RawURLEncoding.EncodeToString([]byte(page[size-1].ID))
	}
	return out, nil
}

// CreateTaskPushConfig creates one.
func (p *protocol) CreateTaskPushConfig(ctx context.Context, req *a2a.PushConfig) (*a2a.PushConfig, error) {
	if err := p.checkPush(ctx, schema.CreatePush, req); err != nil {
		return nil, err
	}
	return p.RequestHandler.CreateTaskPushConfig(ctx, req)
}

// DeleteTaskPushConfig deletes one; that there is none any more is no error.
func (p *protocol) DeleteTaskPushConfig(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	if err := p.checkPush(ctx, schema.Push, req); err != nil {
		return err
	}
	err := p.RequestHandler.DeleteTaskPushConfig(ctx, req)
	if errors.Is(err, push.ErrPushConfigNotFound) {
		return nil
	}
	return err
}

// checkPush refuses what is not supported before it looks at the fields.
func (p *protocol) checkPush(ctx context.Context, rule schema.Rule, req any) error {
	if !p.capabilities().PushNotifications {
		return refuse(a2a.ErrPushNotificationNotSupported, "")
	}
	return p.checkFields(ctx, rule, req)
}

func noConfig(err error) error {
	if errors.Is(err, push.ErrPushConfigNotFound) {
		return refuse(a2a.ErrTaskNotFound, "Push notification config not found.")
	}
	return err
}

// GetExtendedAgentCard gives the caller the card that is meant for them (A2A
// v1.0 section 3.1.11).
func (p *protocol) GetExtendedAgentCard(ctx context.Context, _ *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	if p.extendedCard == nil {
		return nil, refuse(a2a.ErrUnsupportedOperation, "")
	}
	caller := callerOf(ctx)
	if !caller.Authenticated {
		return nil, refuse(a2a.ErrUnauthenticated, "")
	}
	card, err := ownCard(p.card(exchangeFrom(ctx).base))
	if err != nil {
		return nil, err
	}
	card, err = p.extendedCard(ctx, caller, card)
	if err == nil && card == nil {
		return nil, refuse(a2a.ErrExtendedCardNotConfigured, "")
	}
	if x := exchangeFrom(ctx); err == nil && x.old {
		x.card = card
		return only03(card), nil
	}
	return card, err
}

// only03 is the card with the interfaces of 0.3 alone, for the host makes the
// fields of 0.3 of the first one.
func only03(card *a2a.AgentCard) *a2a.AgentCard {
	c := *card
	c.SupportedInterfaces = slices.DeleteFunc(slices.Clone(card.SupportedInterfaces), func(i *a2a.AgentInterface) bool {
		return i == nil || i.ProtocolVersion != a2av0.Version
	})
	if len(c.SupportedInterfaces) == 0 {
		return card
	}
	return &c
}
