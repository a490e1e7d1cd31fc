package flow

import (
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// merge applies the outputs of the frontier in order: all of them, or none.
func (r *run[S]) merge() (node int32, err error) {
	r.scratch = r.state
	if r.state, err = r.copied(); err != nil {
		r.state = r.scratch
		return r.front[0], err
	}
	for _, node := range r.front {
		if r.nodes[node].known().phase != done {
			continue
		}
		if err := r.apply(node); err != nil {
			r.state = r.scratch
			return node, err
		}
	}
	r.merged = true
	if r.store != nil {
		r.store.state = nil
	}
	for _, node := range r.front {
		d := r.nodes[node].known()
		r.count(node)
		switch d.phase {
		case done:
			r.complete(node)
		case dropped:
			r.failures = append(r.failures, r.nodeError(node, d.err))
		default:
		}
		r.forget(node)
	}
	return 0, nil
}

// apply puts one output into the state.
func (r *run[S]) apply(node int32) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	n := &r.c.nodes[node]
	if err := n.apply(&r.state, r.nodes[node].known().fresh); err != nil {
		return &errcode.MergeStrategyError{Key: n.id, Err: err}
	}
	return nil
}

// copied is a copy of the state.
func (r *run[S]) copied() (s S, err error) {
	if r.c.clone == nil {
		return r.state, nil
	}
	err = contain(func() error { s = r.c.clone(r.state); return nil })
	return s, err
}

// forget drops the answers and effects of a visit that is over.
func (s *session) forget(node int32) {
	if s.persist == nil {
		return // it is forgotten with the run
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil && s.effects == nil {
		return
	}
	scope := s.scope(node, s.nodes[node].visits)
	for key := range s.effects {
		if strings.HasPrefix(key, scope) {
			delete(s.effects, key)
		}
	}
	scope = s.id + "/" + scope
	for id := range s.answers {
		if strings.HasPrefix(id, scope) {
			delete(s.answers, id)
		}
	}
}
