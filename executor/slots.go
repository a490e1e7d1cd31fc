package executor

import (
	"math"
	"time"
)

// slots count the runs that [MaxRuns] bounds. A message takes one when it is
// admitted; the run that it begins takes it over. The registry's lock guards
// them.
type slots struct {
	limit int // 0: no limit
	taken int
	full  *protocolError
}

func newSlots(limit int, retryAfter time.Duration) slots {
	full := refuse(errUnavailable, "The server runs as many tasks as it may at once; try again later.").retryAfter(retryAfter)
	return slots{limit: limit, full: full}
}

// The methods of registry below expect its lock to be held.

func (g *registry) isFull() bool { return g.slots.limit > 0 && g.slots.taken >= g.slots.limit }

func (g *registry) takeSlot(t *ticket) {
	t.slot = true
	g.slots.taken++
}

// moveSlot gives a run the slot of the message that began it. One whose sender
// has left meanwhile has none any more, so the run takes another: it is too
// late to refuse it.
func (g *registry) moveSlot(t *ticket, r *run) {
	r.slot = true
	if t != nil && t.slot {
		t.slot = false
		return
	}
	g.slots.taken++
}

func (g *registry) returnSlot(held *bool) {
	if *held {
		*held = false
		g.slots.taken--
	}
}

// codeReturned gives a run's slot back as soon as its code is done: a client
// that has its answer can send the next message at once.
func (g *registry) codeReturned(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.returnSlot(&r.slot)
}

// freeSlots is how many runs may begin. It takes the lock.
func (g *registry) freeSlots() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.slots.limit == 0 {
		return math.MaxInt
	}
	return max(0, g.slots.limit-g.slots.taken)
}
