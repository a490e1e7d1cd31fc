package flow

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/hitl"
)

// group is what siblings share.
type group struct {
	cancel context.CancelCauseFunc
	first  atomic.Bool // a failure has cancelled the others
	ranks  atomic.Int32
	left   atomic.Int32
}

// runAll runs the nodes of a frontier that are ready side by side and waits for
// all of them.
func (r *run[S]) runAll() {
	ctx, cancel := context.WithCancelCause(r.base.Context)
	defer cancel(nil)
	b := &base{Context: ctx, s: r.base.s, run: r.base.run}
	g := &group{cancel: cancel}
	for i := range r.front { // before the first begins
		r.take(b, &r.front[i])
		if r.front[i].phase == ready {
			g.left.Add(1)
		}
	}
	var wg sync.WaitGroup
	for i := range r.front {
		if t := &r.front[i]; !t.frame.closed() {
			wg.Add(1)
			go r.member(t, g, &wg)
		}
	}
	wg.Wait()
}

// take makes the context of a task's visit.
func (r *run[S]) take(b *base, t *task) {
	t.frame = r.enter(b, t.node, r.begun(t.node))
	t.frame.out = unfinished
	if t.phase == ready {
		r.noteStart(t)
		return
	}
	t.frame.close() // it was over before the run was resumed
}

// errExited is the failure of a node that ended its goroutine.
var errExited = errors.New("the node ended its goroutine (runtime.Goexit)")

// errHookExited is that of a run whose hook or store did.
var errHookExited = errors.New("an event hook or the store ended the goroutine of a node (runtime.Goexit)")

// member runs one of several siblings.
func (r *run[S]) member(t *task, g *group, wg *sync.WaitGroup) {
	defer wg.Done()
	returned := false
	defer func() {
		if !returned {
			r.exited(t, g)
		}
	}()
	r.visit(t, g)
	returned = true
}

// exited notes that the goroutine of a sibling was ended: by the node, or, if the
// visit was settled, by the hook or the store that was told of it.
func (r *run[S]) exited(t *task, g *group) {
	r.mu.Lock()
	settled := t.phase != ready
	r.mu.Unlock()
	if !settled {
		r.settle(t, g, attempted{tries: 1, err: errExited})
		return
	}
	r.breakDown(t.node, errHookExited)
	g.abort(r.core.metas[t.node].id, errHookExited)
}

// attempted is what came of a visit.
type attempted struct {
	out   any
	err   error
	tries int32
	hook  bool // it was the hook that failed, which no fan-out tolerates
}

// visit runs one node, with its retries, and notes what came of it.
func (r *run[S]) visit(t *task, g *group) {
	n := &r.c.nodes[t.node]
	if n.simple() && r.cfg.hook == nil {
		out, err := r.call(t.frame, n)
		r.settle(t, g, attempted{out: out, err: err, tries: 1})
		return
	}
	r.visitSlowly(t, g, n)
}

// visitSlowly is visit where there are retries, a timeout or a hook. It is apart
// since it needs much of a new goroutine's small stack.
func (r *run[S]) visitSlowly(t *task, g *group, n *node[S]) {
	f := t.frame
	if err := r.emit(f.about(Event{Kind: NodeStarted, Attempt: 1})); err != nil {
		r.settle(t, g, attempted{err: err, hook: true})
		return
	}
	got := r.attempts(f, n)
	defer func() { r.settle(t, g, got) }() // should the hook end the goroutine, too
	e := Event{Kind: NodeEnded, Attempt: int(got.tries), Err: got.err}
	if got.err == nil {
		e.Output = got.out
	}
	if err := r.emit(f.about(e)); err != nil {
		r.breakDown(t.node, err)
	}
}

// call runs the node's function. A panic is an error.
func (r *run[S]) call(ctx context.Context, n *node[S]) (out any, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, recovered(v)
		}
	}()
	if r.c.clone == nil {
		return n.call(ctx, &r.state)
	}
	own := r.c.clone(r.state)
	return n.call(ctx, &own)
}

// breakDown notes that the run cannot go on though no node failed; the first
// reason counts.
func (s *session) breakDown(node int32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks(node, err)
}

// isBroken reports whether the run cannot go on.
func (s *session) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken != nil
}

// breaks is breakDown for who holds mu.
func (s *session) breaks(node int32, err error) {
	if s.broken == nil {
		s.broken, s.brokeBy = err, node
	}
}

// settle ends a visit and notes what came of it.
func (r *run[S]) settle(t *task, g *group, got attempted) {
	switch {
	case got.err != nil:
		r.lapse(t, g, got)
	case r.saver != nil:
		r.succeed(t, g, got)
	default:
		r.shut(t.frame)
		t.finish(got, nil)
	}
}

// lapse ends a visit that has no output. Until it has the lock others may be
// reading the task.
func (r *run[S]) lapse(t *task, g *group, got attempted) {
	end := r.judge(t, g, got)
	if end.phase == parked || end.phase == dropped {
		r.noteStop(t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.frame.close()
	r.hush()
	*t = end
	for _, ask := range t.asks {
		delete(r.answers, ask.ID()) // it is open again
		delete(r.memos, ask.ID())
	}
	r.saveSibling(t, g)
}

// succeed ends a visit that has an output to be saved.
func (r *run[S]) succeed(t *task, g *group, got attempted) {
	made, err := r.encodeOutput(got.out, g == nil)
	if err != nil {
		r.breakDown(t.node, err)
		g.abort(r.core.metas[t.node].id, err)
	}
	r.noteFinish(t.node, t.frame.number(), r.step, got.out)
	if g == nil { // nobody else is at work once it is shut
		r.shut(t.frame)
		t.finish(got, made)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.frame.close()
	r.hush()
	t.finish(got, made)
	r.saveSibling(t, g)
}

// finish notes the output of a visit. Its text is made, if there is a store.
func (t *task) finish(got attempted, made []byte) {
	t.phase, t.fresh, t.made, t.tries = done, got.out, made, got.tries
	t.retries += got.tries - 1
}

// saveSibling saves what one of several siblings finished, unless it is the
// last of them: then the frontier is saved in a moment. The caller holds mu.
func (r *run[S]) saveSibling(t *task, g *group) {
	if g == nil || g.left.Add(-1) == 0 || r.saver == nil || t.phase != done && t.phase != parked {
		return
	}
	if err := r.saver.saveRunning(); err != nil {
		r.breaks(t.node, err)
		g.abort(r.core.metas[t.node].id, err)
	}
}

// judge decides what the failure of a visit means for its task.
func (r *run[S]) judge(t *task, g *group, got attempted) task {
	end := *t
	end.fresh, end.err, end.tries, end.asks = got.out, got.err, got.tries, nil
	end.retries += max(got.tries-1, 0)
	if isZero(got.out) {
		end.fresh = nil
	}
	f := t.frame
	if hitl.Find(got.err) != nil {
		if end.asks, end.err = r.questions(f, got.err); end.err == nil {
			end.phase, end.fresh = parked, nil
			return end
		}
	}
	if f.run.Err() != nil {
		end.err = stopped(f.run, end.err)
	}
	if g != nil {
		end.rank = g.ranks.Add(1)
		if g.wasCancelled(f, got.err) {
			end.phase = cancelled
			return end
		}
	}
	if t.tolerant && !got.hook && f.run.Err() == nil {
		end.phase = dropped
		if r.store != nil {
			end.made = r.keepFailure(end.err, end.tries)
		}
		return end
	}
	end.phase = failed
	g.abort(r.core.metas[t.node].id, end.err)
	return end
}

// abort cancels the siblings. The first call counts.
func (g *group) abort(id string, err error) {
	if g != nil && g.first.CompareAndSwap(false, true) {
		g.cancel(&siblingError{id: id, err: err})
	}
}

// wasCancelled reports whether err is what a sibling's failure made of a visit.
func (g *group) wasCancelled(f *frame, err error) bool {
	if !g.first.Load() || f.run.Err() != nil {
		return false
	}
	return isAmong(err, context.Canceled, context.Cause(f))
}

func isZero(v any) bool { return v == nil || reflect.ValueOf(v).IsZero() }
