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
	only   int32 // its one target, if it has edges
	visits int32 // at most, 0: any number
}

// hop tells how a frontier that is only this node may take the plain path.
func (c *Compiled[S]) hop(n *node[S]) hop[S] {
	h := hop[S]{pick: n.pick, visits: int32(min(n.visits, math.MaxInt32))} //nolint:gosec // it fits
	if len(n.edges) == 1 {
		h.only = n.edges[0]
	}
	meetsJoin := slices.ContainsFunc(n.targets(), func(t int32) bool { return c.metas[t].isJoin })
	if c.clone == nil && n.simple() && !n.isJoin && !n.tolerant && len(n.edges) <= 1 && !meetsJoin {
		h.stride = n.stride
	}
	return h
}

// strides is the plain path: it runs one node after the other as long as each
// is alone, has nothing special about it, and succeeds. Without a store and a
// hook nobody can tell the difference, and one recover serves all of them.
// What stopped it is left for the general path to see.
func (r *run[S]) strides(b *base) {
	ctx := b.run
	defer func() {
		if v := recover(); v != nil {
			r.stumble(b, attempted{err: recovered(v)})
		}
	}()
	for len(r.front) == 1 {
		node := r.front[0]
		h, p := &r.c.hops[node], &r.nodes[node]
		if h.stride == nil || p.phase != ready || ctx.Err() != nil || r.step > r.cfg.steps ||
			h.visits > 0 && p.visits > h.visits {
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
		p.phase, p.out, p.visit = done, out, p.visits
		to := h.only
		if h.pick != nil {
			r.at = picking
			if to, err = r.picked(&r.c.nodes[node], h.pick(r.state)); err != nil {
				r.merged = true
				return
			}
		}
		r.at = scheduling
		r.step++
		if to < 0 {
			r.ended, r.front = true, r.front[:0]
			return
		}
		r.front[0] = to
		r.nodes[to].begin(p.tolerant)
	}
}

// stumble notes how the plain path was stopped.
func (r *run[S]) stumble(b *base, got attempted) {
	node := r.front[0]
	p := &r.nodes[node]
	p.tries, got.tries = 1, 1
	switch r.at {
	case calling:
		r.settle(r.enter(b, node), nil, got)
	case applying:
		r.state = r.scratch
		d := p.detail()
		d.fresh, d.err = got.out, got.err
		if !isPanic(d.err) {
			d.err = &errcode.MergeStrategyError{Key: r.core.metas[node].id, Err: d.err}
		}
		p.phase = failed
	case picking:
		r.merged = true // the general path asks the route again
	case scheduling:
		r.breakDown(node, got.err)
	}
}
