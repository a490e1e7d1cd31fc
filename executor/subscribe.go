package executor

import (
	"context"
	"iter"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/schema"
)

// SubscribeToTask follows a task (A2A v1.0 section 3.1.6). One that is at work
// the host follows. One that is parked gives its snapshot, and then the events
// of its next turn, or of the end when the server goes down. One that has ended
// is refused. One that is stored as at work, and that no run here works on, gives
// its snapshot and, unless that changes soon, an error.
func (p *protocol) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if err := p.checkFields(ctx, schema.Task, req); err != nil {
			yield(nil, err)
			return
		}
		w, stop := p.exec.watch(req.ID)
		defer stop()
		st, err := p.storedTask(ctx, req.ID)
		switch {
		case err != nil:
			yield(nil, err)
			return
		case st.Task.Status.State.Terminal():
			yield(nil, refuse(a2a.ErrUnsupportedOperation, "The task has ended; there is nothing to follow."))
			return
		}
		if p.follow(ctx, req, w, yield) || !yield(st.Task, nil) {
			return
		}
		if !p.awaitTurn(ctx, st.Task, w.woken, yield) {
			return
		}
		if !p.follow(ctx, req, w, yield) {
			p.tellEnd(ctx, req.ID, yield)
		}
	}
}

// awaitTurn waits for the next run of a task. It reports false when there is
// none to wait for, or none in this process.
func (p *protocol) awaitTurn(ctx context.Context, t *a2a.Task, woken <-chan struct{}, yield func(a2a.Event, error) bool) bool {
	var look, orphaned <-chan time.Time
	switch {
	case p.leases != nil: // another process may work on it
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		look = ticker.C
	case !atRest(t.Status.State):
		timer := time.NewTimer(lostAfter)
		defer timer.Stop()
		orphaned = timer.C
	}
	for {
		select {
		case <-woken:
			return true
		case <-look:
			moved := p.movedElsewhere(ctx, t)
			if moved == nil {
				continue
			}
			yield(moved, nil)
		case <-orphaned:
			p.tellOrphan(ctx, t.ID, yield)
		case <-p.exec.down:
		case <-ctx.Done():
		}
		return false
	}
}

// lookEvery is how often a subscription looks at a task that another process may
// work on.
const lookEvery = time.Second

// movedElsewhere gives the task when a run of another process has ended or
// parked it since it was seen, else nil.
func (p *protocol) movedElsewhere(ctx context.Context, seen *a2a.Task) *a2a.Task {
	st, err := p.store.Get(ctx, seen.ID)
	if err != nil || p.exec.find(seen.ID).working() {
		return nil // removed, or out of reach: the client decides how long it waits
	}
	if s := st.Task.Status; s.State.Terminal() || awaits(s.State) && (questionIn(st.Task) != questionIn(seen) || !sameTime(s.Timestamp, seen.Status.Timestamp)) {
		return st.Task
	}
	return nil
}

func sameTime(a, b *time.Time) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

// tellOrphan tells of a task that another process works on, or did before it
// went down.
func (p *protocol) tellOrphan(ctx context.Context, id a2a.TaskID, yield func(a2a.Event, error) bool) {
	st, err := p.storedTask(ctx, id)
	switch {
	case err != nil:
		yield(nil, err)
	case atRest(st.Task.Status.State):
		yield(st.Task, nil)
	default:
		yield(nil, refuse(errUnavailable, "No run of this server works on the task; ask for it later, or cancel it."))
	}
}

// tellEnd gives the task as it is stored once its run has ended, to somebody
// whom the events did not reach.
func (p *protocol) tellEnd(ctx context.Context, id a2a.TaskID, yield func(a2a.Event, error) bool) {
	if r := p.exec.find(id); r != nil {
		t := time.NewTimer(lostAfter)
		defer t.Stop()
		select {
		case <-r.gone:
		case <-ctx.Done():
		case <-t.C:
		}
	}
	st, err := p.storedTask(ctx, id)
	if err != nil {
		yield(nil, err)
		return
	}
	yield(st.Task, nil)
}

// follow passes on the events of the task's run. It reports false, with nothing
// passed on, when the task has none.
//
// The host loses a subscription that comes while it clears a run away: it waits
// for ever. So only a run that works is followed, and when that has ended and
// nothing comes any more, the stored task is the last event. The host also
// begins with the task as it is stored: before the run is, that would be the end
// of the turn before, so the run is awaited; and where its own end is stored
// already, that is all there is to tell.
func (p *protocol) follow(ctx context.Context, req *a2a.SubscribeToTaskRequest, w *watcher, yield func(a2a.Event, error) bool) (followed bool) {
	r := p.exec.find(req.ID)
	if !r.working() {
		return false
	}
	select {
	case <-r.published:
	case <-r.gone:
	case <-ctx.Done():
	}
	following, lost := context.WithCancel(ctx)
	defer lost()
	go giveUpAfter(following, r.gone, lost)
	events := p.pump(following, func(ctx context.Context) iter.Seq2[a2a.Event, error] {
		return p.RequestHandler.SubscribeToTask(ctx, req)
	})
	for ev, err := range events {
		w.join() // the host begins when it has put the reader among those of the run
		switch {
		case err != nil && ctx.Err() == nil && following.Err() != nil:
			p.tellEnd(ctx, req.ID, yield)
			return true
		case err != nil && ctx.Err() == nil && !followed:
			return false
		}
		over := !followed && endsTurn(ev)
		followed = true
		if !yield(toldEvent(ev), err) || over {
			return true
		}
	}
	return followed
}

// endsTurn reports whether a task is stored as one that no run works on.
func endsTurn(ev a2a.Event) bool {
	t, ok := ev.(*a2a.Task)
	return ok && atRest(authState(t.Status))
}

// atRest reports whether a task in that state has ended or is parked.
func atRest(state a2a.TaskState) bool {
	return state.Terminal() || awaits(state)
}

// giveUpAfter calls giveUp some time after gone is closed; it ends with ctx.
func giveUpAfter(ctx context.Context, gone <-chan struct{}, giveUp func()) {
	select {
	case <-gone:
	case <-ctx.Done():
		return
	}
	t := time.NewTimer(lostAfter)
	defer t.Stop()
	select {
	case <-t.C:
		giveUp()
	case <-ctx.Done():
	}
}

// lostAfter is how long after the end of a run its last event may come.
const lostAfter = time.Second
