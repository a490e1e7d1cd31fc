package executor

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/hitl"
)

// RecoverEvery is how often the server looks for tasks that are at work although
// the process that worked on them is dead, the first time at its start; it needs
// a [LeaseStore]. The agent goes on with such a run (agent.Recover, agent.FlowRecover);
// without that the task ends as failed, UPSTREAM_UNAVAILABLE, reason
// process_restarted, retriable, and its artifacts are kept. A handler looks until it is shut down.
// Default: the time of a lease; 0 never looks.
func RecoverEvery(d time.Duration) Option {
	return Option{name: "RecoverEvery", apply: func(c *config) error {
		c.recoverEvery = &d
		return notNegative(d)
	}}
}

// orphansAtOnce is how many runs one look takes over.
const orphansAtOnce = 100

// startRecovery looks for tasks of dead processes, now and then.
func (x *agentExecutor) startRecovery(host a2asrv.RequestHandler) {
	if x.leases == nil {
		return
	}
	every := x.leases.time()
	if x.recoverEvery != nil {
		every = *x.recoverEvery
	}
	if every == 0 {
		return
	}
	var look func()
	look = func() {
		if x.isDraining() {
			return
		}
		again := every
		if x.lookForOrphans(host) == orphansAtOnce {
			again = 0 // there are more
		}
		x.later(again, look)
	}
	x.later(0, look)
}

// lookForOrphans takes tasks over and begins their runs. It tells how many
// there were.
func (x *agentExecutor) lookForOrphans(host a2asrv.RequestHandler) int {
	ctx, cancel := context.WithTimeout(context.Background(), x.leases.time())
	defer cancel()
	x.letGoOfOwed(ctx)
	owners, err := x.leases.orphans(ctx, orphansAtOnce)
	if err != nil {
		emit(ctx, x.logger, slog.LevelWarn, "looking for the tasks of dead processes failed", causeAttrs(err)...)
		return 0
	}
	for id, owner := range owners {
		if err := x.takeOver(ctx, host, id, owner); err != nil {
			emit(ctx, x.logger, slog.LevelWarn, "a task of a dead process could not be taken over",
				append(causeAttrs(err), slog.String("task_id", string(id)))...)
		}
	}
	return len(owners)
}

// takeOver begins a run that goes on with a task, or ends it. The host runs it
// like one of a message: of the last one, which the host finds in the history
// already and does not add.
func (x *agentExecutor) takeOver(ctx context.Context, host a2asrv.RequestHandler, id a2a.TaskID, owner string) error {
	ticket, err := x.admit(id)
	if err != nil {
		x.letGo(ctx, id)
		return err
	}
	ticket.leased = true
	defer x.handBack(ctx, ticket)
	ctx, call := a2asrv.NewCallContext(context.WithoutCancel(ctx), nil)
	call.User = &a2asrv.User{Name: owner, Authenticated: owner != ""}
	st, err := x.store.Get(ctx, id)
	if err != nil {
		return err
	}
	req := &a2a.SendMessageRequest{Message: lastMessage(st.Task), Config: &a2a.SendMessageConfig{ReturnImmediately: true}}
	_, err = host.SendMessage(withRecovery(ctx, ticket), req)
	return err
}

// lastMessage gives what the client said last, as the message of a run.
func lastMessage(t *a2a.Task) *a2a.Message {
	for _, m := range slices.Backward(t.History) {
		if m != nil && m.Role == a2a.MessageRoleUser && m.ID != "" && len(m.Parts) > 0 {
			again := *m
			again.TaskID, again.ContextID = t.ID, t.ContextID
			return &again
		}
	}
	return a2a.NewMessageForTask(a2a.MessageRoleUser, t, a2a.NewTextPart(""))
}

// reopenedTask makes the first event of a run that goes on with a task: the
// task as it is, with what the dead process said last in the history.
func reopenedTask(stored *a2a.Task, now time.Time) *a2a.Task {
	t := *stored
	t.Metadata = maps.Clone(t.Metadata)
	t.Artifacts = slices.Clone(t.Artifacts)
	t.History = slices.Clone(t.History)
	if said := t.Status.Message; said != nil {
		t.History = append(t.History, said)
	}
	t.Status = a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: inMillis(&now)}
	return &t
}

// beforeRun gives the task as it was when the run of a message began, but with
// the artifacts that it has now. The question that the message answers is the one before it in the history.
func beforeRun(stored *a2a.Task, msg *a2a.Message) *a2a.Task {
	t := *stored
	t.Status = a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: stored.Status.Timestamp}
	at := len(t.History) - 1
	for at >= 0 && (t.History[at] == nil || t.History[at].ID != msg.ID) {
		at--
	}
	if at < 0 {
		return &t
	}
	t.History = slices.Clone(t.History[:at])
	if at > 0 && isQuestion(t.History[at-1]) {
		t.Status.State, t.Status.Message = a2a.TaskStateInputRequired, t.History[at-1]
		t.Status.State = authState(t.Status)
		t.History = t.History[:at-1]
	}
	t.History = append(t.History, msg)
	return &t
}

func isQuestion(m *a2a.Message) bool {
	if m == nil || m.Role != a2a.MessageRoleAgent {
		return false
	}
	return slices.ContainsFunc(m.Parts, func(p *a2a.Part) bool {
		return p != nil && (p.Meta()["schema"] == hitl.Schema || p.Meta()["schema"] == hitl.SchemaAuth)
	})
}
