package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// run is one execution of a flow. The frontier, front, has the nodes whose turn
// it is, in order; all of them run, then their outputs are applied, then the
// next frontier is made.
type run[S any] struct {
	session
	c       *Compiled[S]
	state   S // what the frontier sees
	scratch S // the state from before, while outputs are applied
	front   []task
	merged  bool  // the frontier's outputs were applied, its routes not taken yet
	ended   bool  // a branch has reached END
	at      stage // of the plain path
	busy    int32 // the node whose code the scheduler runs
}

// Run runs the flow from START with the given state. It returns when the flow
// has ended, failed or paused, and no goroutine of it is left.
//
// The run id names the run in the store, in questions and in idempotency keys.
// Within an agent it is made from the task's id and the flow's name; elsewhere any
// text that is unique will do. It must be UTF-8 and not be empty.
//
// When ctx ends, nodes are awaited, but the store only for a second, and, when its
// own context has ended then, for another: the run fails with a [*StoreError] that
// wraps why ctx has ended, in the node whose checkpoint was to be saved. Its result
// has what was done; whether that was saved a resume will tell. The
// call is left behind.
//
// A run that pauses for answers returns no error and a result that is
// [Result.Paused]. A run that fails returns the result so far and a
// [*NodeError]. Only a run that could not begin returns another error: one with
// bad options, or with an id that the store knows ([ErrRunExists]).
func (c *Compiled[S]) Run(ctx context.Context, runID string, state S, opts ...RunOption) (Result[S], error) {
	r := &run[S]{c: c, state: state}
	r.aside = nothing
	defer r.letGo()
	if err := r.open(ctx, runID, opts); err != nil {
		return Result[S]{}, err
	}
	if len(r.cfg.answers) > 0 {
		return Result[S]{}, fmt.Errorf("%w: a run that begins has none", ErrUnknownAsk)
	}
	if r.cfg.isolated {
		return r.apart(func() (Result[S], error) { return r.start(ctx) })
	}
	return r.start(ctx)
}

// start goes from START to the end.
func (r *run[S]) start(ctx context.Context) (Result[S], error) {
	if node := r.plainStart(); node > 0 {
		return r.drive(ctx, node)
	}
	if err := r.leaveStart(); err != nil {
		return r.failed(0, err)
	}
	if err := r.save(r.status()); err != nil {
		if isAmong(err, ErrConflict) {
			return Result[S]{}, fmt.Errorf("start run %q: %w", r.id, ErrRunExists)
		}
		return r.failed(r.nextNode(), err)
	}
	return r.drive(ctx, atNone)
}

// open prepares an empty run.
func (r *run[S]) open(ctx context.Context, runID string, opts []RunOption) error {
	c := r.c
	r.cfg, r.id, r.core = &c.cfg, runID, &c.core
	if len(opts) > 0 {
		own := c.cfg
		if err := optionError(own.configure(opts)); err != nil {
			return err
		}
		r.cfg = &own
	}
	if runID == "" {
		return errors.New("flow: the run id is empty")
	}
	if !utf8.ValidString(runID) {
		return fmt.Errorf("flow: the run id %q is not UTF-8", runID)
	}
	if c.cyclic {
		r.visits = make([]int32, len(c.nodes))
	}
	b := &r.base
	b.Context, b.s, b.run = ctx, &r.session, ctx
	if r.cfg.store != nil {
		r.remember(ctx)
		r.saver = r
	}
	if len(c.joins) > 0 {
		r.own()
		r.waiting = make([]bool, len(c.joins))
	}
	return nil
}

// drive runs one frontier after the other. The first is a plain node, or front.
func (r *run[S]) drive(ctx context.Context, plain int32) (Result[S], error) {
	if plain != atNone {
		r.strides(plain) //nolint:contextcheck // it is in the base
	}
	for len(r.front) > 0 {
		r.own()
		if !r.merged {
			stop, err := r.round(ctx)
			if stop || err != nil {
				return r.result(), err
			}
		}
		if err := r.turn(); err != nil {
			return r.result(), err
		}
		if r.isPlain() && len(r.front) == 1 && !r.front[0].tolerant && !slices.Contains(r.waiting, true) {
			r.strides(r.front[0].node) //nolint:contextcheck // it is in the base
		}
	}
	if err := r.discard(); err != nil { //nolint:contextcheck // it is in the base
		return r.failed(r.lastNode(), err)
	}
	return r.result(), nil
}

// round runs the frontier and applies its outputs. It stops the run when that
// has paused.
func (r *run[S]) round(ctx context.Context) (stop bool, err error) {
	if r.store != nil || r.first(ready) != nil { // else the plain path stumbled: see why
		if node, err := r.refused(ctx); err != nil {
			return true, r.fail(node, err)
		}
	}
	switch t := &r.front[0]; {
	case len(r.front) > 1:
		r.runAll()
	case t.phase == ready:
		r.busy = t.node
		r.take(&r.base, t)
		r.visit(t, nil) //nolint:contextcheck // it is in the base
	}
	if !r.isDone() {
		if node, err := r.verdict(); err != nil {
			return true, r.abandon(node, err)
		}
		if r.first(parked) != nil {
			return true, r.pause()
		}
	}
	if t, err := r.merge(); err != nil {
		t.phase, t.err = failed, err
		return true, r.abandon(t.node, err)
	}
	return false, nil
}

// turn goes from an applied frontier to the next.
func (r *run[S]) turn() error {
	last, visit := r.front[0].node, int(r.begun(r.front[0].node))
	if node, err := r.advance(); err != nil {
		return r.fail(node, join(err, r.save(statusFailed)))
	}
	if r.cfg.store == nil {
		return nil
	}
	if err := r.save(r.status()); err != nil {
		r.step-- // it belongs to the round before
		e := r.fail(last, err)
		e.Visit = visit // if it is its turn again
		return e
	}
	return nil
}

// status is that of a run between two frontiers.
func (r *run[S]) status() status {
	if len(r.front) == 0 {
		return statusDone
	}
	return statusRunning
}

// refused tells why the frontier may not run, and which node is to blame.
func (r *run[S]) refused(ctx context.Context) (node int32, err error) {
	if r.step > r.cfg.steps {
		return r.front[0].node, &LimitError{What: "steps", Limit: r.cfg.steps}
	}
	for i := range r.front {
		node := r.front[i].node
		if limit := r.core.metas[node].visits; limit > 0 && int(r.begun(node)) > limit {
			return node, &LimitError{What: "visits", Limit: limit}
		}
	}
	if ctx.Err() != nil {
		return r.front[0].node, stopped(ctx, nil)
	}
	return 0, nil
}

// isDone reports whether each node of the frontier has an output.
func (r *run[S]) isDone() bool {
	for i := range r.front {
		if r.front[i].phase != done {
			return false
		}
	}
	return r.broken == nil
}

// verdict finds what fails the run, and which node is to blame: the first
// failure in time, unless it is tolerated and something is left to go on with.
func (r *run[S]) verdict() (node int32, err error) {
	if r.broken != nil {
		return r.brokeBy, r.broken
	}
	if t := r.first(failed); t != nil {
		return t.node, t.err
	}
	lost := r.first(dropped)
	if lost == nil || r.ended || slices.Contains(r.waiting, true) {
		return 0, nil
	}
	for i := range r.front {
		if r.front[i].phase != dropped {
			return 0, nil
		}
	}
	for i := range r.front {
		r.front[i].phase = failed
	}
	return lost.node, lost.err
}

// pause ends the run until somebody answers.
func (r *run[S]) pause() error {
	if err := r.save(statusPaused); err != nil {
		return r.fail(r.first(parked).node, err)
	}
	r.halt()
	r.notePause()
	return nil
}

// halt makes the result of a run that goes on later.
func (r *run[S]) halt() {
	r.conclude()
	for i := range r.front {
		if t := &r.front[i]; t.phase == dropped && !r.merged {
			r.failures = append(r.failures, r.nodeError(t.node, t, t.err))
			r.lost = append(r.lost, t.made)
		}
	}
}
