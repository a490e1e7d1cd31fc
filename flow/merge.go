package flow

import (
	"maps"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// merge applies the outputs of the frontier in order: all of them, or none. It
// returns the task at which it failed.
func (r *run[S]) merge() (failed *task, err error) {
	r.scratch, r.busy = r.state, r.front[0].node
	r.at = applying // still, if the goroutine is ended
	failed, err = r.applyAll()
	r.at = scheduling
	if err != nil {
		r.state = r.scratch
		return failed, err
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
			r.lost = append(r.lost, t.made)
		default:
		}
	}
	r.forget()
	return nil, nil
}

// applyAll puts the outputs of the frontier into a copy of the state.
func (r *run[S]) applyAll() (failed *task, err error) {
	own, err := r.copied()
	if err != nil {
		return &r.front[0], err
	}
	r.state = own
	for i := range r.front {
		t := &r.front[i]
		if t.phase != done {
			continue
		}
		if err := r.apply(t); err != nil {
			return t, err
		}
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
	r.busy = t.node
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

// forget drops the answers, memos and effects of the visits that are over.
func (r *run[S]) forget() {
	if r.store == nil {
		return // they are forgotten with the run
	}
	if r.answers == nil && r.memos == nil && r.effects == nil {
		return // and so it stays: the visits are closed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.front {
		scope := r.scope(r.front[i].node, r.begun(r.front[i].node))
		dropFrom(r.effects, scope)
		dropFrom(r.answers, r.id+"/"+scope)
		dropFrom(r.memos, r.id+"/"+scope)
	}
}

func dropFrom[V any](m map[string]V, scope string) {
	maps.DeleteFunc(m, func(key string, _ V) bool { return strings.HasPrefix(key, scope) })
}
