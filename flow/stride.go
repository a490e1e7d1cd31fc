package flow

import (
	"context"
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

// plainNode reports whether a frontier that is only this node may take the plain path.
func (c *Compiled[S]) plainNode(n *node[S]) bool {
	if c.clone != nil || !n.simple() || n.isJoin || n.tolerant || len(n.edges) > 1 {
		return false
	}
	return !slices.ContainsFunc(n.targets(), func(t int32) bool { return c.metas[t].isJoin })
}

// strides is the plain path: it runs one node after the other as long as each
// is alone, has nothing special about it, and succeeds. Without a store and a
// hook nobody can tell the difference, and one recover serves all of them.
// What stopped it is left for the general path to see.
func (r *run[S]) strides(ctx context.Context, b *base) {
	at := scheduling
	defer func() {
		if v := recover(); v != nil {
			r.stumble(ctx, b, at, attempted{err: recovered(v)})
		}
	}()
	for len(r.front) == 1 {
		node := r.front[0]
		n, p := &r.c.nodes[node], &r.nodes[node]
		if !n.plain || p.phase != ready || ctx.Err() != nil || r.step > r.cfg.steps ||
			n.visits > 0 && int(p.visits) > n.visits {
			return
		}
		r.scratch = r.state
		out, err := n.stride(r.enter(b, node), &r.state, &at)
		if err != nil {
			r.stumble(ctx, b, at, attempted{out: out, err: err})
			return
		}
		if p.visit == 0 {
			r.order = append(r.order, node)
		}
		p.phase, p.out, p.visit = done, out, p.visits
		to := n.only
		if n.pick != nil {
			at = picking
			if to, err = r.picked(n, n.pick(r.state)); err != nil {
				r.merged = true
				return
			}
		}
		at = scheduling
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
func (r *run[S]) stumble(ctx context.Context, b *base, at stage, got attempted) {
	node := r.front[0]
	p := &r.nodes[node]
	p.tries, got.tries = 1, 1
	switch at {
	case calling:
		r.settle(ctx, r.enter(b, node), nil, got)
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
