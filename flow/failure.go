package flow

// abandon saves what siblings achieved, what a node did that did not fail itself,
// and how often was retried, then fails the run. A single node that failed at once
// changes nothing worth saving.
func (r *run[S]) abandon(node int32, err error) error {
	if r.store != nil && r.store.lost == nil &&
		(len(r.front) > 1 || r.front[0].phase != failed || r.front[0].retries > 0 || r.retries != r.store.retries) {
		err = join(err, r.save(statusFailed))
	}
	return r.fail(node, err)
}

// conclude adds to the result what siblings finished whose outputs were not
// applied. The stored state stays the one from before.
func (r *run[S]) conclude() {
	r.own()
	for i := range r.front {
		t := &r.front[i]
		r.count(t)
		r.asks = append(r.asks, t.asks...)
		if t.phase != done || r.merged {
			continue
		}
		before := r.state
		if own, err := r.copied(); err == nil {
			r.state = own
		}
		if r.apply(t) != nil {
			r.state = before
			continue
		}
		r.complete(t)
	}
}

// failed is what a run returns that fails between two frontiers.
func (r *run[S]) failed(culprit int32, err error) (Result[S], error) {
	e := r.fail(culprit, err) // first: it completes the result
	return r.result(), e
}

func (r *run[S]) result() Result[S] { return Result[S]{State: r.state, trace: &r.trace} }

// lastNode is the node that completed last, START if none did.
func (r *run[S]) lastNode() (node int32) {
	for f := range r.visitLog.completed {
		node = f.node
	}
	return node
}

// nextNode is the first node whose turn it is.
func (r *run[S]) nextNode() int32 {
	if len(r.front) == 0 {
		return r.lastNode()
	}
	return r.front[0].node
}

// fail makes the run's error.
func (r *run[S]) fail(culprit int32, err error) *NodeError {
	r.conclude()
	r.noteFailure(culprit)
	var own *task
	for i := range r.front {
		if r.front[i].node == culprit {
			own = &r.front[i]
		}
	}
	e := r.nodeError(culprit, own, err)
	e.Retries, e.Completed, e.Outputs = r.retries, r.completed(), r.outputs()
	e.superseded = r.store != nil && r.store.superseded
	for i := range r.front {
		switch t := &r.front[i]; {
		case t == own:
		case t.phase == cancelled:
			e.Cancelled = append(e.Cancelled, r.core.metas[t.node].id)
		case t.phase == failed || t.phase == dropped:
			e.Siblings = append(e.Siblings, r.nodeError(t.node, t, t.err))
		}
	}
	e.Siblings = append(e.Siblings, r.failures...)
	return e
}

// nodeError makes an error of one node by itself. t is nil if it is not in the
// frontier any more.
func (s *session) nodeError(node int32, t *task, err error) *NodeError {
	m := s.core.metas[node]
	e := &NodeError{
		Flow: s.core.name, Run: s.id, Node: m.id, Kind: m.kind,
		Step: s.step, Visit: int(s.begun(node)), Err: err,
	}
	if t == nil {
		return e
	}
	e.Attempt = int(t.tries)
	if t.phase == failed || t.phase == dropped {
		e.Value = t.fresh
	}
	return e
}
