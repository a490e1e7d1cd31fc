package flow

import (
	"context"
	"errors"
	"fmt"
)

var errNoKey = errors.New("flow: a side effect needs a key")

// effect is a side effect of a node.
type effect struct {
	settled chan struct{} // closed when the function has returned
	ok      bool
	data    []byte // its result
	retries int    // of a nested run
	calls   int    // of nested runs in this attempt, with the first of them
}

// Once runs fn and stores its result with the run, at once, so that the node
// gets the stored result instead of a second side effect when it runs again: in
// a retry, after a question, after a crash. An error is not stored. Between
// fn's return and the store a crash can still come: give fn an
// [IdempotencyKey] where that matters.
//
// The key tells apart the effects of one visit; it must not be empty. A T must
// survive the run's [Codec]. Two calls with the same key at once run fn once; so
// within fn the same key waits for itself, until ctx ends.
// Outside of a running node the error is [ErrNotInNode].
func Once[T any](ctx context.Context, key string, fn func(context.Context) (T, error)) (T, error) {
	var v T
	f, err := frameOf(ctx)
	if err != nil {
		return v, err
	}
	if key == "" {
		return v, errNoKey
	}
	e, mine, err := f.claim(ctx, key)
	if err != nil {
		return v, err
	}
	if !mine {
		err = contain(func() error { return f.s.cfg.codec.Decode(e.data, &v) })
		if err != nil {
			return v, fmt.Errorf("recall effect %q: %w", key, err)
		}
		return v, nil
	}
	defer f.release(key, e)
	v, err = fn(ctx)
	if err != nil {
		return v, err
	}
	return v, f.record(e, v)
}

// saveEffect saves the run with an effect that has just come about. If that fails,
// the effect is as before. The caller holds mu.
func (s *session) saveEffect(e *effect, before effect) error {
	last := s.store.seq
	defer func() { // also when the store ends the goroutine, or, once it is saved, the hook
		if s.store.seq == last {
			*e = before
		}
	}()
	return s.saver.saveRunning()
}

// claim finds a stored effect, or makes it the caller's to cause.
func (f *frame) claim(ctx context.Context, key string) (e *effect, mine bool, err error) {
	key = f.key(key)
	for {
		f.s.mu.Lock()
		if f.closed() {
			f.s.mu.Unlock()
			return nil, false, ErrNotInNode
		}
		if err := f.s.broken; err != nil && f.s.saver != nil { // what is done now could not be stored
			f.s.mu.Unlock()
			return nil, false, err
		}
		e = f.s.effects[key]
		if e == nil {
			if f.s.effects == nil {
				f.s.effects = map[string]*effect{}
			}
			e = &effect{settled: make(chan struct{})}
			f.s.effects[key] = e
			f.s.mu.Unlock()
			return e, true, nil
		}
		stored := e.ok
		f.s.mu.Unlock()
		if stored {
			return e, false, nil
		}
		select {
		case <-e.settled:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// release lets others try if the effect did not come about.
func (f *frame) release(key string, e *effect) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if !e.ok {
		delete(f.s.effects, f.key(key))
	}
	close(e.settled)
}

// record stores the result of an effect. If that fails, so will the run.
func (f *frame) record(e *effect, v any) error {
	data, err := encode(f.s.cfg.codec, v)
	if err != nil {
		err = &StoreError{Op: "encode", Err: err}
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed() {
		return ErrNotInNode
	}
	if err == nil {
		e.ok, e.data = true, data
		if f.s.saver == nil {
			return nil
		}
		err = f.s.saveEffect(e, effect{settled: e.settled})
	}
	if err != nil && f.s.saver != nil {
		f.s.breaks(f.node, err)
	}
	return err
}
