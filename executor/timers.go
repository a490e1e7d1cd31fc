package executor

import (
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A parked task may have a timer, in the registry, until it is answered or ends.

// after calls f later, unless the task moves on, or the server goes down, first.
// A timer that the task has already is replaced, or stays.
func (g *registry) after(id a2a.TaskID, d time.Duration, replace bool, f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, has := g.timers[id]; g.closed || g.byTask[id].working() || has && !replace {
		return
	}
	g.dropTimer(id)
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		g.mu.Lock()
		mine := g.timers[id] == t
		if mine {
			delete(g.timers, id)
		}
		g.mu.Unlock()
		if mine {
			f()
		}
	})
	g.timers[id] = t
}

func (g *registry) stopTimer(id a2a.TaskID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropTimer(id)
}

// dropTimer expects the lock to be held.
func (g *registry) dropTimer(id a2a.TaskID) {
	if t, ok := g.timers[id]; ok {
		t.Stop()
		delete(g.timers, id)
	}
}

// claim takes a task's place in the queue for something that is no message. It
// reports false where a message has it, or a run.
func (g *registry) claim(id a2a.TaskID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.awaited[id] || g.byTask[id].working() {
		return false
	}
	g.awaited[id] = true
	return true
}

func (g *registry) disclaim(id a2a.TaskID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.awaited, id)
}
