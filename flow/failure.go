package flow

import "context"

// abandon saves what siblings achieved, then fails the run. A single node that
// failed changes nothing worth saving.
func (r *run[S]) abandon(ctx context.Context, node int32, err error) error {
	if len(r.front) > 1 && r.broken == nil {
		err = join(err, r.save(ctx, statusFailed))
	}
	return r.fail(node, err)
}

// conclude adds to the result what siblings finished whose outputs were not
// applied. The stored state stays the one from before.
func (r *run[S]) conclude() {
	for _, node := range r.front {
		p := &r.nodes[node]
		r.count(node)
		r.asks = append(r.asks, p.known().asks...)
		if p.known().phase != done || r.merged {
			continue
		}
		before := r.state
		if own, err := r.copied(); err == nil {
			r.state = own
		}
		if r.apply(node) != nil {
			r.state = before
			continue
		}
		r.complete(node)
	}
}

func (r *run[S]) result() Result[S] { return Result[S]{State: r.state, trace: &r.trace} }

// lastNode is the node that completed last, START if none did.
func (r *run[S]) lastNode() int32 {
	if len(r.order) == 0 {
		return 0
	}
	return r.order[len(r.order)-1]
}

// nextNode is the first node whose turn it is.
func (r *run[S]) nextNode() int32 {
	if len(r.front) == 0 {
		return r.lastNode()
	}
	return r.front[0]
}

// fail makes the run's error.
func (r *run[S]) fail(culprit int32, err error) error {
	r.conclude()
	e := r.nodeError(culprit, err)
	e.Retries, e.Completed, e.Outputs = r.retries, r.completed(), r.outputs()
	for _, node := range r.front {
		switch d := r.nodes[node].known(); {
		case node == culprit:
		case d.phase == cancelled:
			e.Cancelled = append(e.Cancelled, r.core.metas[node].id)
		case d.phase == failed || d.phase == dropped:
			e.Siblings = append(e.Siblings, r.nodeError(node, d.err))
		}
	}
	e.Siblings = append(e.Siblings, r.failures...)
	return e
}

// nodeError makes an error of one node by itself.
func (s *session) nodeError(node int32, err error) *NodeError {
	m, p := s.core.metas[node], &s.nodes[node]
	d := p.known()
	e := &NodeError{
		Flow: s.core.name, Run: s.id, Node: m.id, Kind: m.kind,
		Step: s.step, Visit: int(p.visits), Attempt: int(d.tries), Err: err,
	}
	if d.phase == failed || d.phase == dropped {
		e.Value = d.fresh
	}
	return e
}
