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

// orphansAtOnce is how many tasks one look takes over. Their requests are in
// memory together.
const orphansAtOnce = 20

// startRecovery looks for tasks of dead processes, now and then, and for those
// that have been parked for too long.
func (x *agentExecutor) startRecovery(host a2asrv.RequestHandler) {
	if x.leases == nil {
		return
	}
	every := x.leases.time()
	if x.parkTimeout > 0 {
		x.keepLooking(max(min(every, x.parkTimeout), leastLook), x.lookForOverdue)
	}
	if x.recoverEvery != nil {
		every = *x.recoverEvery
	}
	if every > 0 {
		x.keepLooking(every, func(ctx context.Context) bool { return x.lookForOrphans(ctx, host) })
	}
}

// leastLook is how often a process looks for what is overdue at most.
const leastLook = 100 * time.Millisecond

// keepLooking calls look now and then every so often, or at once where that
// says that there is more, until the handler is shut down.
func (x *agentExecutor) keepLooking(every time.Duration, look func(context.Context) (more bool)) {
	var again func()
	again = func() {
		if x.isDraining() {
			return
		}
		pause := every
		defer func() { x.later(pause, again) }() // even where the store exits the goroutine
		ctx, cancel := context.WithTimeout(context.Background(), x.leases.time())
		defer cancel()
		x.letGoOfOwed(ctx)
		if look(ctx) {
			pause = 0
		}
	}
	x.later(0, again)
}

// lookForOrphans takes tasks over and begins their runs, as many as may run. It
// tells whether there may be more that can be begun at once.
func (x *agentExecutor) lookForOrphans(ctx context.Context, host a2asrv.RequestHandler) (more bool) {
	most := min(orphansAtOnce, x.freeSlots())
	if most == 0 {
		return false
	}
	found, err := x.leases.orphans(ctx, most)
	if err != nil {
		emit(ctx, x.logger, slog.LevelWarn, "looking for the tasks of dead processes failed", causeAttrs(err)...)
	}
	begun := 0
	for _, o := range found {
		if err := x.takeOver(ctx, host, o); err != nil {
			emit(ctx, x.logger, slog.LevelWarn, "a task of a dead process could not be taken over",
				append(causeAttrs(err), slog.String("task_id", string(o.Task)))...)
			continue
		}
		begun++
	}
	return begun > 0 && len(found) == most
}

// takeOver begins a run that goes on with a task, or ends it. The host runs it
// like one of a message: of the last one, which the host finds in the history
// already and does not add.
func (x *agentExecutor) takeOver(ctx context.Context, host a2asrv.RequestHandler, o Orphan) error {
	ticket, err := x.admit(o.Task)
	if err != nil {
		x.letGo(ctx, o.Task)
		return err
	}
	ticket.leased = true
	defer x.handBack(ctx, ticket)
	k := requestKept(o.Request, o.Owner)
	ctx, call := a2asrv.NewCallContext(context.WithoutCancel(ctx), k.params())
	call.User = k.User.user()
	st, err := x.store.Get(ctx, o.Task)
	if err != nil {
		return err
	}
	_, err = host.SendMessage(withRecovery(ctx, ticket, k), k.message(lastMessage(st.Task)))
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
