package executor

import (
	"context"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// lines are queues of work, one for each task that has any. A task's work is
// done in order, by a goroutine that ends when there is none left; that of
// different tasks at the same time. How much waits is bounded.
type lines struct {
	limit int

	mu      sync.Mutex
	byTask  map[a2a.TaskID]*line
	waiting int
	closed  bool
	stop    chan struct{} // closed when nothing is waited for any longer
	idle    chan struct{} // closed when closed and nothing is left
}

type line struct{ work []func(stop <-chan struct{}) }

func newLines(limit int) *lines {
	return &lines{limit: limit, byTask: map[a2a.TaskID]*line{}, stop: make(chan struct{}), idle: make(chan struct{})}
}

// add puts work into a task's line. It tells how much was dropped for that: the
// line's oldest, or the work itself.
func (l *lines) add(id a2a.TaskID, work func(stop <-chan struct{})) (dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 1
	}
	if l.waiting >= l.limit {
		waits := l.byTask[id]
		if waits == nil || len(waits.work) == 0 {
			return 1
		}
		waits.work = waits.work[1:]
		l.waiting--
		dropped = 1
	}
	l.put(id, work)
	return dropped
}

// addLast is add without a bound, for work that must not be dropped and comes
// once for each task.
func (l *lines) addLast(id a2a.TaskID, work func(stop <-chan struct{})) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.put(id, work)
	}
}

// put begins a task's line where there is none. The caller holds the lock.
func (l *lines) put(id a2a.TaskID, work func(stop <-chan struct{})) {
	at := l.byTask[id]
	if at == nil {
		at = &line{}
		l.byTask[id] = at
		go l.serve(id, at)
	}
	at.work = append(at.work, work)
	l.waiting++
}

// serve works a line off.
func (l *lines) serve(id a2a.TaskID, at *line) {
	for work := l.next(id, at); work != nil; work = l.next(id, at) {
		work(l.stop)
	}
}

func (l *lines) next(id a2a.TaskID, at *line) func(stop <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(at.work) == 0 {
		delete(l.byTask, id)
		l.checkIdle()
		return nil
	}
	work := at.work[0]
	at.work[0] = nil
	at.work = at.work[1:]
	l.waiting--
	return work
}

func (l *lines) checkIdle() {
	if !l.closed || len(l.byTask) > 0 {
		return
	}
	select {
	case <-l.idle:
	default:
		close(l.idle)
	}
}

// drain takes no more work and waits until what there is has been done. When
// ctx is done before, it drops what waits, stops what is being done, and tells
// how much that was.
func (l *lines) drain(ctx context.Context) (lost int) {
	l.mu.Lock()
	l.closed = true
	l.checkIdle()
	l.mu.Unlock()
	select {
	case <-l.idle:
		return 0
	case <-ctx.Done():
	}
	l.mu.Lock()
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	lost = len(l.byTask) + l.waiting // each has one in hand
	for _, at := range l.byTask {
		at.work = nil
	}
	l.waiting = 0
	l.mu.Unlock()
	<-l.idle // each piece of work ends soon once it is stopped
	return lost
}
