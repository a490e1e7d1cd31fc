package flow

import (
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// merge applies the outputs of the frontier in order: all of them, or none. It
// returns the task at which it failed.
func (r *run[S]) merge() (failed *task, err error) {
	r.scratch = r.state
	if r.state, err = r.copied(); err != nil {
		r.state = r.scratch
		return &r.front[0], err
	}
	for i := range r.front {
		t := &r.front[i]
		if t.phase != done {
			continue
		}
		if err := r.apply(t); err != nil {
			r.state = r.scratch
			return t, err
		}
	}
	r.merged = true
	if r.store != nil {
		r.store.state = nil
	}
	for i := range r.front {
		t := &r.front[i]
		r.count(t)
		switch t.phase {
		case done:
			r.complete(t)
		case dropped:
			r.failures = append(r.failures, r.nodeError(t.node, t, t.err))
		default:
		}
		r.forget(t.node)
	}
	return nil, nil
}

// apply puts one output into the state.
func (r *run[S]) apply(t *task) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	n := &r.c.nodes[t.node]
	if err := n.apply(&r.state, t.fresh); err != nil {
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
	scope := s.scope(node, s.begun(node))
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
