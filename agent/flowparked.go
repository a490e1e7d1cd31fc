package agent

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/flow"
)

// parkedRuns bounds the runs that wait in memory for an answer: the oldest goes
// when there are too many, and each after its time.
type parkedRuns struct {
	store flow.Store
	max   int
	each  time.Duration

	mu    sync.Mutex
	order *list.List // of *parkedRun, oldest first
	byID  map[string]*list.Element
}

type parkedRun struct {
	id    string
	timer *time.Timer
}

func newParkedRuns(s flow.Store, most int, each time.Duration) *parkedRuns {
	return &parkedRuns{store: s, max: most, each: each, order: list.New(), byID: map[string]*list.Element{}}
}

// add counts a run that was parked just now.
func (p *parkedRuns) add(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run := &parkedRun{id: id}
	run.timer = time.AfterFunc(p.each, func() { p.expire(run) })
	p.byID[id] = p.order.PushBack(run)
	for p.order.Len() > p.max {
		if oldest, ok := p.take(p.order.Front()); ok {
			p.forget(oldest)
		}
	}
}

// remove takes a run out of the count that is resumed or over.
func (p *parkedRuns) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byID[id]; ok {
		p.take(e)
	}
}

// expire forgets a run whose time is over, unless it has moved on.
func (p *parkedRuns) expire(run *parkedRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byID[run.id]; ok && e.Value == run {
		p.take(e)
		p.forget(run.id)
	}
}

// forget deletes a run that is in memory, which does not fail. It needs no
// context of a request: that would be kept for as long as the run is parked.
func (p *parkedRuns) forget(id string) { _ = p.store.Delete(context.Background(), id) }

// take removes an element. The caller holds the lock.
func (p *parkedRuns) take(e *list.Element) (id string, ok bool) {
	run, ok := p.order.Remove(e).(*parkedRun)
	if !ok {
		return "", false
	}
	run.timer.Stop()
	delete(p.byID, run.id)
	return run.id, true
}
