package flow

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/errcode"
)

// stage is what the plain path is doing, for its one recover.
type stage uint8

const (
	scheduling stage = iota
	calling
	applying
	picking
)

// hop is what the plain path needs of a node, side by side in memory.
type hop[S any] struct {
	stride strider[S] // nil where the node may not take the plain path
	pick   func(S) Ref
	routes uint64 // the targets of pick with small numbers
	only   int32  // its one target, if it has edges
	visits int32  // at most
}

// hop tells how a frontier that is only this node may take the plain path.
func (c *Compiled[S]) hop(n *node[S]) hop[S] {
	h := hop[S]{pick: n.pick, visits: math.MaxInt32}
	for _, to := range n.routes {
		if to > 0 {
			h.routes |= 1 << to // nothing where it is too large
		}
	}
	if n.visits > 0 {
		h.visits = int32(min(n.visits, math.MaxInt32)) //nolint:gosec // it fits
	}
	if len(n.edges) == 1 {
		h.only = n.edges[0]
	}
	meetsJoin := slices.ContainsFunc(n.targets(), func(t int32) bool { return c.metas[t].isJoin })
	special := n.isJoin || n.tolerant || n.noArtifact || !n.simple()
	if c.clone == nil && !special && !meetsJoin && len(n.edges) <= 1 {
		h.stride = n.stride
	}
	return h
}

// isPlain reports whether nobody looks at a run before it is over.
func (r *run[S]) isPlain() bool { return r.cfg.store == nil && r.cfg.hook == nil }

// plainStart is the one node that START leads to if that may take the plain
// path, atNone otherwise.
func (r *run[S]) plainStart() int32 {
	first := r.c.hops[0].only
	if !r.isPlain() || first <= 0 || r.c.hops[first].stride == nil || r.core.metas[0].tolerant {
		return atNone
	}
	r.begin(first)
	r.step = 1
	return first
}

// strides is the plain path from a frontier of one node: it runs one after the
// other as long as each is alone, has nothing special about it, and succeeds.
// Without a store and a hook nobody can tell the difference, and one recover
// serves all of them. What stopped it is left for the general path to see.
func (r *run[S]) strides(node int32) {
	r.busy, r.front = node, r.front[:0]
	defer func() {
		if v := recover(); v != nil {
			r.stumble(attempted{err: recovered(v)})
		}
	}()
	for {
		h := &r.c.hops[node]
		visit := r.begun(node)
		if h.stride == nil || visit > h.visits || r.step > r.cfg.steps || r.base.run.Err() != nil {
			r.front = append(r.front, task{node: node})
			return
		}
		r.scratch = r.state
		n := len(r.last) // another frame, by hand: the compiler would call for it
		if n == cap(r.last) {
			n = r.grow()
		}
		r.last = r.last[:n+1]
		f := &r.last[n]
		f.base, f.node, f.visit = &r.base, node, visit
		out, err := h.stride(f, &r.state, &r.at)
		atomic.StoreInt32(&f.visit, -visit)
		if r.used.Load() {
			r.drain()
		}
		if err != nil {
			r.stumble(attempted{out: out, err: err})
			return
		}
		f.out = out
		node = h.only
		if h.pick != nil {
			r.at = picking
			if node = r.choose(h); node == atNone {
				return
			}
		}
		r.at = scheduling
		r.step++
		if node < 0 {
			r.ended = true
			return
		}
		r.busy = node
		r.begin(node)
	}
}

// choose asks the route of a node where to go, atNone if that is nowhere, which
// is noted.
func (r *run[S]) choose(h *hop[S]) (to int32) {
	ref := h.pick(r.state)
	if ref.owner == r.c.owner && ref.at > atNone && h.routes>>uint(ref.at)&1 != 0 { //nolint:gosec // positive
		return ref.at
	}
	to, err := r.picked(&r.c.nodes[r.busy], ref)
	if err != nil {
		r.astray(err)
		return atNone
	}
	return to
}

// astray leaves a route that failed to the general path, which does not ask it
// again.
func (r *run[S]) astray(err error) {
	r.own()
	r.merged, r.misled = true, err
	r.front = append(r.front, task{node: r.busy, phase: done})
}

// stumble notes how the plain path was stopped.
func (r *run[S]) stumble(got attempted) {
	if r.at == picking {
		r.astray(got.err)
		return
	}
	r.own()
	r.front = append(r.front, task{node: r.busy})
	t := &r.front[0]
	got.tries = 1
	switch r.at {
	case calling:
		t.frame = r.unfinished()
		r.settle(t, nil, got)
	case applying:
		t.frame = r.unfinished()
		r.shut(t.frame)
		r.state = r.scratch
		t.fresh, t.err = got.out, got.err
		if !isPanic(t.err) {
			t.err = &errcode.MergeStrategyError{Key: r.core.metas[t.node].id, Err: t.err}
		}
		t.phase, t.tries = failed, 1
	default:
		r.breakDown(t.node, got.err)
		t.phase = failed
	}
}
