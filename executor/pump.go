package executor

import (
	"context"
	"iter"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The host hands an event to each reader of a task in turn: one that does not
// take it stalls the task, and then every subscription of the server. So each
// reader has a pump, which takes events as they come and keeps a bounded number
// of them. A reader too slow for that is told so after the events that were
// kept, and can subscribe again.

// backlog bounds the events kept for a reader: their number, and about the bytes
// in them. One event is kept whatever its size.
type backlog struct{ events, bytes int }

// pump gives the events of a stream, which it reads in a goroutine of its own
// that ends with the loop over them. A panic of the stream is told as an
// internal error.
func (p *protocol) pump(ctx context.Context, open func(context.Context) iter.Seq2[a2a.Event, error]) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		q := newQueue(p.backlog)
		go p.fill(ctx, q, open)
		defer func() {
			cancel()
			<-q.filled
		}()
		for {
			next, ok := q.take()
			if !ok || !yield(next.ev, next.err) {
				return
			}
		}
	}
}

// fill puts the events of a stream into q. Whatever code of the user's (a
// store, say) does in this goroutine, the reader learns that nothing more comes.
func (p *protocol) fill(ctx context.Context, q *queue, open func(context.Context) iter.Seq2[a2a.Event, error]) {
	ended := false
	defer func() {
		if v := recover(); v != nil || !ended {
			q.end(p.panicked(ctx, v))
		} else {
			q.end(nil)
		}
		close(q.filled)
	}()
	for ev, err := range open(ctx) {
		if !q.put(queued{ev: ev, err: err, size: sizeOf(ev)}) {
			break
		}
	}
	ended = true
}

type queued struct {
	ev   a2a.Event
	err  error
	size int
}

// queue holds events between one writer and one reader.
type queue struct {
	limit  backlog
	filled chan struct{} // closed when the writer's goroutine is over

	mu     sync.Mutex
	more   *sync.Cond
	events []queued
	bytes  int
	ended  bool
}

func newQueue(limit backlog) *queue {
	q := &queue{limit: limit, filled: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	return q
}

// put reports false when the reader is too far behind: then it gets what is
// kept and that it was too slow.
func (q *queue) put(e queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.more.Signal()
	if n := len(q.events); n > 0 && (n >= q.limit.events || q.bytes+e.size > q.limit.bytes) {
		q.events = append(q.events, queued{err: errTooSlow})
		q.ended = true
		return false
	}
	q.events = append(q.events, e)
	q.bytes += e.size
	return true
}

// end tells the reader that nothing more comes, because of err where there is
// one.
func (q *queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.more.Signal()
	if err != nil && !q.ended {
		q.events = append(q.events, queued{err: err})
	}
	q.ended = true
}

// take waits for the next event; it reports false when there will be none.
func (q *queue) take() (queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) == 0 && !q.ended {
		q.more.Wait()
	}
	if len(q.events) == 0 {
		return queued{}, false
	}
	e := q.events[0]
	q.events[0] = queued{} // the event is the reader's alone
	q.events = q.events[1:]
	q.bytes -= e.size
	return e, true
}

// sizeOf is about how many bytes an event takes.
func sizeOf(ev a2a.Event) int {
	var n int64
	switch e := ev.(type) {
	case *a2a.TaskArtifactUpdateEvent:
		n = sizeOfArtifact(e.Artifact)
	case *a2a.TaskStatusUpdateEvent:
		n = sizeOfSaid(e.Status.Message)
	case *a2a.Message:
		n = sizeOfSaid(e)
	case *a2a.Task:
		n = sizeOfSaid(e.Status.Message) + sizeOfMap(e.Metadata)
		for _, m := range e.History {
			n += sizeOfSaid(m)
		}
		for _, a := range e.Artifacts {
			n += sizeOfArtifact(a)
		}
	}
	return int(n)
}
