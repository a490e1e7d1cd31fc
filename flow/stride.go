package flow

import (
	"math"
	"slices"

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
	if c.clone == nil && n.simple() && !n.isJoin && !n.tolerant && len(n.edges) <= 1 && !meetsJoin {
		h.stride = n.stride
	}
	return h
}

// strides is the plain path from a frontier of one node: it runs one after the
// other as long as each is alone, has nothing special about it, and succeeds.
// Without a store and a hook nobody can tell the difference, and one recover
// serves all of them. What stopped it is left for the general path to see.
func (r *run[S]) strides(b *base) {
	defer func() {
		if v := recover(); v != nil {
			r.stumble(b, attempted{err: recovered(v)})
		}
	}()
	ctx, hops, steps := b.run, r.c.hops, r.cfg.steps
	node := r.front[0]
	p := &r.nodes[node]
	if !p.isPlain() {
		return
	}
	for {
		h := &hops[node]
		if h.stride == nil || p.visits > h.visits || r.step > steps || ctx.Err() != nil {
			return
		}
		r.scratch = r.state
		out, err := h.stride(r.enter(b, node), &r.state, &r.at)
		if err != nil {
			r.stumble(b, attempted{out: out, err: err})
			return
		}
		if p.visit == 0 {
			r.order = append(r.order, node)
		}
		p.cell, p.visit = out, p.visits
		to := h.only
		if h.pick != nil {
			r.at = picking
			if to = r.choose(h, node); to == atNone {
				return
			}
		}
		r.at = scheduling
		r.step++
		if to < 0 {
			r.ended, r.front = true, r.front[:0]
			return
		}
		node, r.front[0] = to, to
		p = &r.nodes[to]
		p.visits++
		if !p.isPlain() {
			p.detail().begin(false)
			return
		}
	}
}

// choose asks the route of a node where to go, atNone if that is nowhere.
func (r *run[S]) choose(h *hop[S], node int32) (to int32) {
	ref := h.pick(r.state)
	if ref.owner == r.c.owner && ref.at > atNone && h.routes>>uint(ref.at)&1 != 0 { //nolint:gosec // positive
		return ref.at
	}
	to, err := r.picked(&r.c.nodes[node], ref)
	if err != nil {
		r.astray(node)
		return atNone
	}
	return to
}

// astray leaves a route that failed to the general path, which asks it again.
func (r *run[S]) astray(node int32) {
	r.merged = true
	r.nodes[node].detail().phase = done
}

// stumble notes how the plain path was stopped.
func (r *run[S]) stumble(b *base, got attempted) {
	node := r.front[0]
	got.tries = 1
	switch r.at {
	case calling:
		r.settle(r.enter(b, node), nil, got)
	case applying:
		r.state = r.scratch
		d := r.nodes[node].detail()
		d.fresh, d.err = got.out, got.err
		if !isPanic(d.err) {
			d.err = &errcode.MergeStrategyError{Key: r.core.metas[node].id, Err: d.err}
		}
		d.phase, d.tries = failed, 1
	case picking:
		r.astray(node)
	case scheduling:
		r.breakDown(node, got.err)
		r.nodes[node].detail().phase = failed
	}
}
