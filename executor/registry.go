package executor

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// registry keeps count of what runs, so that runs can be found, stopped and
// waited for.
type registry struct {
	mu       sync.Mutex
	byTask   map[a2a.TaskID]*run
	admitted int                              // messages admitted whose run has not begun
	awaited  map[a2a.TaskID]bool              // those of them that are for a task
	running  map[*run]bool                    // begun, and their hooks not done
	draining bool                             // no new message is admitted
	closed   bool                             // a run that begins all the same is ended at once
	idle     chan struct{}                    // closed when draining and nothing is left
	down     chan struct{}                    // closed when nothing begins any more
	watchers map[a2a.TaskID]map[*watcher]bool // who waits for a task to move on
	joining  map[a2a.TaskID][]*watcher        // who was woken, and is about to follow the run
	timers   map[a2a.TaskID]*time.Timer       // of parked tasks
	pending  map[*time.Timer]bool             // of what is to be done later
	jobs     int                              // what was to be done later and is being done
	debts    map[a2a.TaskID]bool              // leases that are yet to be given back
	onBusy   func(idle <-chan struct{})       // called when something begins to run; may be nil
	quiet    chan struct{}                    // closed when nothing runs any more; nil when nothing does
	slots    slots
}

func newRegistry() *registry {
	return &registry{
		byTask: map[a2a.TaskID]*run{}, awaited: map[a2a.TaskID]bool{}, running: map[*run]bool{}, idle: make(chan struct{}), down: make(chan struct{}),
		watchers: map[a2a.TaskID]map[*watcher]bool{}, joining: map[a2a.TaskID][]*watcher{}, timers: map[a2a.TaskID]*time.Timer{},
		pending: map[*time.Timer]bool{}, debts: map[a2a.TaskID]bool{},
	}
}

// ticket is a message's admission. It is used up by the run that the message
// begins, or given back.
type ticket struct {
	task   a2a.TaskID // of a follow-up
	used   bool
	leased bool   // the task's lease was taken for it
	back   bool   // whoever sent the message has the answer
	unpin  func() // or nil; see agentExecutor.hold
	slot   bool   // it counts as a run
}

// Why a message is not admitted.
var (
	errDraining  = refuse(errUnavailable, "The server is shutting down.").retryAfter(time.Second)
	errBusy      = refuse(a2a.ErrUnsupportedOperation, "The task is working on an earlier message; send this one when it has ended or asks.")
	errCanceling = refuse(a2a.ErrUnsupportedOperation, "The task is being canceled and takes no further messages.")
)

// admit gives a ticket for a message, to that task unless task is empty. Of two
// messages to one task at once, the second is refused.
func (g *registry) admit(task a2a.TaskID) (*ticket, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.draining:
		return nil, errDraining
	case task != "" && (g.awaited[task] || g.byTask[task].working()):
		return nil, errBusy
	case g.isFull():
		return nil, g.slots.full
	case task != "":
		g.awaited[task] = true
	}
	g.admitted++
	t := &ticket{task: task}
	g.takeSlot(t)
	return t, nil
}

// restTime is how long a run may take to learn that its ending is stored.
const restTime = time.Second

// awaitRest waits for the run of a task that is stored as parked: a client that
// reads it from the store may be faster than the run.
func (g *registry) awaitRest(ctx context.Context, t *a2a.Task) {
	if t == nil || !awaits(t.Status.State) {
		return
	}
	r := g.find(t.ID)
	if !r.working() {
		return
	}
	select {
	case <-r.published:
	default:
		return // it has just begun
	}
	limit := time.NewTimer(restTime)
	defer limit.Stop()
	select {
	case <-r.over:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// working reports whether the run has not handed over its ending yet.
func (r *run) working() bool {
	if r == nil {
		return false
	}
	select {
	case <-r.over:
		return false
	default:
		return true
	}
}

// giveBack ends an admission: the answer has gone out. One that began no run
// counts no longer.
func (g *registry) giveBack(t *ticket) {
	g.mu.Lock()
	g.use(t)
	g.returnSlot(&t.slot)
	t.back = true
	unpin := t.unpin
	g.checkIdle()
	g.mu.Unlock()
	if unpin != nil {
		unpin()
	}
}

// use takes a ticket out of the count. The caller holds the lock.
func (g *registry) use(t *ticket) {
	if t != nil && !t.used {
		t.used = true
		g.admitted--
		delete(g.awaited, t.task)
	}
}

// begin registers a run. One that begins after the shutdown is ended at once.
func (g *registry) begin(r *run, t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.moveSlot(t, r)
	g.use(t)
	g.dropTimer(r.task.ID)
	g.byTask[r.task.ID] = r
	delete(g.debts, r.task.ID)
	g.running[r] = true
	if g.onBusy != nil && g.quiet == nil {
		g.quiet = make(chan struct{})
		go g.onBusy(g.quiet)
	}
	if g.closed {
		r.cancel(errShutdown)
	}
}

// leave makes a run unfindable: its ending is stored, the task may be parked
// and someone else's.
func (g *registry) leave(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byTask[r.task.ID] == r {
		delete(g.byTask, r.task.ID)
	}
	g.returnSlot(&r.slot)
	if len(g.byTask) == 0 && g.quiet != nil {
		close(g.quiet)
		g.quiet = nil
	}
	r.left()
}

// end is when nothing of a run is left.
func (g *registry) end(r *run) {
	g.leave(r)
	r.unpin()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, r)
	g.checkIdle()
}

// watcher waits for a task to move on, to follow its next run.
type watcher struct {
	woken  chan struct{} // closed when the run is stored at work, or the task ends without one
	joined chan struct{} // closed when it follows the run, or waits no longer
	join   func()        // closes joined, once
}

// watch makes a watcher of a task. The caller calls stop when it waits no longer.
func (g *registry) watch(id a2a.TaskID) (w *watcher, stop func()) {
	w = &watcher{woken: make(chan struct{}), joined: make(chan struct{})}
	w.join = sync.OnceFunc(func() { close(w.joined) })
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watchers[id] == nil {
		g.watchers[id] = map[*watcher]bool{}
	}
	g.watchers[id][w] = true
	return w, func() {
		w.join()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.watchers[id], w)
		if len(g.watchers[id]) == 0 {
			delete(g.watchers, id)
		}
		g.joining[id] = slices.DeleteFunc(g.joining[id], func(other *watcher) bool { return other == w })
		if len(g.joining[id]) == 0 {
			delete(g.joining, id)
		}
	}
}

// moved tells that a task has moved on; its watchers have something to look at.
// Where that is a run, they are about to follow it.
func (g *registry) moved(id a2a.TaskID, toRun bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for w := range g.watchers[id] {
		close(w.woken)
		if toRun {
			g.joining[id] = append(g.joining[id], w)
		}
	}
	delete(g.watchers, id)
}

// joinTime bounds how long a run waits for those who want to follow it.
const joinTime = time.Second

// awaitJoined waits until those who waited for the run follow it, so that each of
// them receives all that it does (A2A v1.0 section 3.5.2), however soon it is over.
func (g *registry) awaitJoined(ctx context.Context, id a2a.TaskID) {
	g.mu.Lock()
	joining := slices.Clone(g.joining[id])
	g.mu.Unlock()
	if len(joining) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	for _, w := range joining {
		select {
		case <-w.joined:
		case <-ctx.Done():
			return
		}
	}
}

func (g *registry) find(id a2a.TaskID) *run {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byTask[id]
}

func (g *registry) isDraining() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.draining
}

// runs gives what runs, by task.
func (g *registry) runs() map[a2a.TaskID]*run {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.byTask)
}

// taken reports whether a run has begun with the ticket.
func (g *registry) taken(t *ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return t.used
}

// owe notes that a lease is yet to be given back, or that it was.
func (g *registry) owe(id a2a.TaskID, owed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if owed {
		g.debts[id] = true
	} else {
		delete(g.debts, id)
	}
}

// owed gives the leases that are yet to be given back and of whose tasks nothing
// is left here.
func (g *registry) owed() (ids []a2a.TaskID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.debts {
		if g.byTask[id] == nil && !g.awaited[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// drain admits nothing from now on.
func (g *registry) drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.draining = true
	g.checkIdle()
}

// stopAll ends what runs, and what begins later. It tells how many runs had
// not ended by themselves.
func (g *registry) stopAll() (stopped int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close()
	for r := range g.running {
		if g.byTask[r.task.ID] == r {
			stopped++
		}
		r.cancel(errShutdown)
	}
	return stopped
}

// close lets nothing begin any more. The caller holds the lock.
func (g *registry) close() {
	if !g.closed {
		close(g.down)
	}
	g.closed = true
	for _, t := range g.timers {
		t.Stop()
	}
	clear(g.timers)
	for t := range g.pending {
		t.Stop()
	}
	clear(g.pending)
}

// later calls f, unless the server goes down first.
func (g *registry) later(d time.Duration, f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		if !g.startJob(&t) {
			return
		}
		defer g.endJob()
		f()
	})
	g.pending[t] = true
}

// startJob begins what a timer, which later sets under the lock, was for. It
// reports false when the server has gone down.
func (g *registry) startJob(t **time.Timer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, *t)
	if g.closed {
		return false
	}
	g.jobs++
	return true
}

func (g *registry) endJob() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.jobs--
	g.checkIdle()
}

// checkIdle tells shutdown that nothing is left. The caller holds the lock.
func (g *registry) checkIdle() {
	if !g.draining || g.admitted > 0 || len(g.running) > 0 || g.jobs > 0 {
		return
	}
	g.close()
	select {
	case <-g.idle:
	default:
		close(g.idle)
	}
}
