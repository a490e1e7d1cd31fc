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
func (r *run[S]) runAll(b *base) {
	groupCtx, cancel := context.WithCancelCause(b.Context)
	defer cancel(nil)
	b = &base{Context: groupCtx, s: b.s, run: b.run}
	g := &group{cancel: cancel}
	willRun := make([]bool, len(r.front)) // noted before the first begins
	for i, node := range r.front {
		if r.nodes[node].known().phase == ready {
			willRun[i] = true
			g.left.Add(1)
		}
	}
	r.detailAll(r.front)
	var wg sync.WaitGroup
	for i, node := range r.front {
		if willRun[i] {
			f := r.enter(b, node)
			wg.Go(func() { r.member(f, g) })
		}
	}
	wg.Wait()
}

// errExited is the failure of a node that ended its goroutine.
var errExited = errors.New("the node ended its goroutine (runtime.Goexit)")

// member runs one of several siblings.
func (r *run[S]) member(f *frame, g *group) {
	returned := false
	defer func() {
		if !returned {
			r.settle(f, g, attempted{tries: 1, err: errExited})
		}
	}()
	r.visit(f, g)
	returned = true
}

// attempted is what came of a visit.
type attempted struct {
	out   any
	err   error
	tries int32
}

// visit runs one node, with its retries, and notes what came of it.
func (r *run[S]) visit(f *frame, g *group) {
	n := &r.c.nodes[f.node]
	if n.simple() && r.cfg.hook == nil {
		out, err := r.call(f, n)
		r.settle(f, g, attempted{out, err, 1})
		return
	}
	r.visitSlowly(f, g, n)
}

// visitSlowly is visit where there are retries, a timeout or a hook. It is apart
// since it needs much of a new goroutine's small stack.
func (r *run[S]) visitSlowly(f *frame, g *group, n *node[S]) {
	if err := r.emit(f, f.about(Event{Kind: NodeStarted, Attempt: 1})); err != nil {
		r.settle(f, g, attempted{nil, err, 0})
		return
	}
	got := r.attempts(f, n)
	e := Event{Kind: NodeEnded, Attempt: int(got.tries), Err: got.err}
	if got.err == nil {
		e.Output = got.out
	}
	if err := r.emit(f, f.about(e)); err != nil {
		r.breakDown(f.node, err)
	}
	r.settle(f, g, got)
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
	if s.broken == nil {
		s.broken, s.brokeBy = err, node
	}
}

// settle ends a visit and notes what came of it.
func (r *run[S]) settle(f *frame, g *group, got attempted) {
	if r.persist == nil && got.err == nil { // without a store it does no harm to leave f open
		d := r.nodes[f.node].detail()
		d.phase, d.fresh, d.tries = done, got.out, got.tries
		d.retries += int(got.tries - 1)
		return
	}
	r.settleSlowly(f, g, got)
}

// settleSlowly is settle where something failed or is to be saved. Until it has
// the lock others may be reading what is known about the node.
func (r *run[S]) settleSlowly(f *frame, g *group, got attempted) {
	var d details
	ph, out := r.judge(f, g, got, &d)
	if ph == done {
		var err error
		if d.made, err = r.encodeOutput(out); err != nil {
			r.breakDown(f.node, err)
			g.abort(r.core.metas[f.node].id, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f.close()
	own := r.nodes[f.node].detail()
	own.retries += max(int(got.tries)-1, 0)
	own.phase, own.tries, own.rank = ph, got.tries, d.rank
	own.fresh, own.made = out, d.made
	if d.err != nil || len(d.asks) > 0 || len(own.asks) > 0 {
		own.err, own.asks = d.err, d.asks
	}
	for _, ask := range d.asks {
		delete(r.answers, ask.ID()) // it is open again
	}
	r.saveSibling(f, g, ph)
}

// saveSibling saves what one of several siblings finished, unless it is the
// last of them: then the frontier is saved in a moment. The caller holds mu.
func (r *run[S]) saveSibling(f *frame, g *group, ph phase) {
	if g == nil || g.left.Add(-1) == 0 || r.persist == nil || ph != done && ph != parked || r.broken != nil {
		return
	}
	if err := r.persist(f.run); err != nil {
		r.broken, r.brokeBy = err, f.node
		g.abort(r.core.metas[f.node].id, err)
	}
}

// judge decides what the end of a visit means.
func (r *run[S]) judge(f *frame, g *group, got attempted, d *details) (phase, any) {
	if got.err == nil {
		return done, got.out
	}
	out, err := got.out, got.err
	if isZero(out) {
		out = nil
	}
	d.err = err
	if hitl.Find(err) != nil {
		if d.asks, d.err = r.questions(f, err); d.err == nil {
			return parked, nil
		}
	}
	if f.run.Err() != nil {
		d.err = stopped(f.run, d.err)
	}
	if g != nil {
		d.rank = g.ranks.Add(1)
		if g.wasCancelled(f, err) {
			return cancelled, out
		}
	}
	if r.nodes[f.node].known().tolerant && f.run.Err() == nil {
		return dropped, out
	}
	g.abort(r.core.metas[f.node].id, d.err)
	return failed, out
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
