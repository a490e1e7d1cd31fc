package executor

import "github.com/a2aproject/a2a-go/v2/a2a"

// Who is being served with a task must find it in the store until the last
// event has arrived, however soon the store forgets: the host reads the answer
// to a blocking message from there after the run's end. So a task is held by
// its run, by the message that began that, and by those who subscribe to it.

// hold has the default store keep the run's task until the run is over, and
// until the ticket, that of its message, is given back.
func (x *agentExecutor) hold(r *run, t *ticket) {
	r.unpin = x.memory.pin(r.task.ID)
	if t == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !t.back {
		t.unpin = x.memory.pin(r.task.ID)
	}
}

// watch is registry.watch, and holds the task.
func (x *agentExecutor) watch(id a2a.TaskID) (w *watcher, stop func()) {
	unpin := x.memory.pin(id)
	w, stopWatching := x.registry.watch(id)
	return w, func() {
		stopWatching()
		unpin()
	}
}
