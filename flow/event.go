package flow

import (
	"context"
	"time"

	"github.com/a2aexec/a2aexec/stream"
)

// Hook is told what happens in a run, one event at a time, also when siblings
// run side by side; the run waits for it. The context is that of the run, not of
// a node: a hook cannot ask or use [Once]. A panic in it fails the run.
type Hook func(ctx context.Context, e Event)

// EventKind says what happened.
type EventKind int

// The kinds of events.
const (
	// NodeStarted is sent before the first attempt of a visit.
	NodeStarted EventKind = iota + 1
	// NodeEnded is sent after the last attempt, with Output or Err.
	NodeEnded
	// NodeRetries is sent before the wait for another attempt, with Err and Wait.
	NodeRetries
	// NodeWrote is sent after a node wrote to the stream in its context, with Chunk.
	NodeWrote
	// RunSaved is sent after a checkpoint was saved, with Seq. It names no node.
	RunSaved
)

// Event is one thing that happened in a run. Its fields are set as its kind says.
type Event struct {
	Kind     EventKind
	Run      string
	Node     string
	NodeKind string
	Step     int
	Visit    int
	Attempt  int
	// Output is what a node returned.
	Output any
	// Err is why a node failed, or a question (see hitl.Find).
	Err error
	// Wait is how long until the next attempt.
	Wait time.Duration
	// Chunk is what a node wrote.
	Chunk stream.Chunk
	// Seq is the number of the checkpoint.
	Seq uint64
}

// emit calls the hook, if there is one. A panic in it is the error.
func (s *session) emit(e Event) (err error) { return s.emitOf(nil, e) }

// emitOf is emit for what a visit does, which may be over by then: f is nil, or
// nobody is told once it was closed.
func (s *session) emitOf(f *frame, e Event) (err error) {
	if s.cfg.hook == nil {
		return nil
	}
	s.hookMu.Lock()
	defer s.hookMu.Unlock()
	if f != nil && f.closed() {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	e.Run, e.Step = s.id, s.step
	s.cfg.hook(s.base.run, e)
	return nil
}

// about fills in the node of an event.
func (f *frame) about(e Event) Event {
	m := f.s.core.metas[f.node]
	e.Node, e.NodeKind, e.Visit = m.id, m.kind, int(f.number())
	return e
}

// withTee lets the hook see what a node writes to the stream in ctx.
func (f *frame) withTee() context.Context {
	w, ok := stream.FromContext(f)
	if f.s.cfg.hook == nil || !ok {
		return f
	}
	return stream.NewContext(f, w.Observed(func(c stream.Chunk) error {
		return f.s.emitOf(f, f.about(Event{Kind: NodeWrote, Chunk: c}))
	}))
}
