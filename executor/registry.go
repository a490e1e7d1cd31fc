package executor

import (
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// registry keeps count of what runs, so that runs can be found, stopped and
// waited for.
type registry struct {
	mu       sync.Mutex
	byTask   map[a2a.TaskID]*run
	admitted int           // messages admitted whose run has not begun
	running  map[*run]bool // begun, and their hooks not done
	draining bool          // no new message is admitted
	closed   bool          // a run that begins all the same is ended at once
	idle     chan struct{} // closed when draining and nothing is left
}

func newRegistry() *registry {
	return &registry{byTask: map[a2a.TaskID]*run{}, running: map[*run]bool{}, idle: make(chan struct{})}
}

// ticket is a message's admission. It is used up by the run that the message
// begins, or given back.
type ticket struct{ used bool }

// admit gives a ticket, nil when no new message is taken.
func (g *registry) admit() *ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return nil
	}
	g.admitted++
	return &ticket{}
}

// giveBack ends an admission that began no run.
func (g *registry) giveBack(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(t)
	g.checkIdle()
}

// use takes a ticket out of the count. The caller holds the lock.
func (g *registry) use(t *ticket) {
	if t != nil && !t.used {
		t.used = true
		g.admitted--
	}
}

// begin registers a run. One that begins after the shutdown is ended at once.
func (g *registry) begin(r *run, t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(t)
	g.byTask[r.task.ID] = r
	g.running[r] = true
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
}

// end is when nothing of a run is left.
func (g *registry) end(r *run) {
	g.leave(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, r)
	g.checkIdle()
}

func (g *registry) find(id a2a.TaskID) *run {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byTask[id]
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
	g.closed = true
	for r := range g.running {
		if g.byTask[r.task.ID] == r {
			stopped++
		}
		r.cancel(errShutdown)
	}
	return stopped
}

// checkIdle tells shutdown that nothing is left. The caller holds the lock.
func (g *registry) checkIdle() {
	if !g.draining || g.admitted > 0 || len(g.running) > 0 {
		return
	}
	g.closed = true
	select {
	case <-g.idle:
	default:
		close(g.idle)
	}
}
