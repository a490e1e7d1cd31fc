package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// run is one execution of a flow. The frontier, front, has the nodes whose turn
// it is, in order; all of them run, then their outputs are applied, then the
// next frontier is made.
type run[S any] struct {
	session
	c       *Compiled[S]
	state   S // what the frontier sees
	scratch S // the state from before, while outputs are applied
	front   []int32
	next    []int32
	waiting []bool       // the joins at which something arrived
	merged  bool         // the frontier's outputs were applied, its routes not taken yet
	ended   bool         // a branch has reached END
	store   *checkpoints // nil if there is no store
	at      stage        // of the plain path
	room    [8]int32     // for small frontiers
}

// Run runs the flow from START with the given state. It returns when the flow
// has ended, failed or paused, and no goroutine of it is left.
//
// The run id names the run in the store, in questions and in idempotency keys.
// Within an agent it is made from the task's id and the flow's name; elsewhere any
// text that is unique will do. It must not be empty.
//
// A run that pauses for answers returns no error and a result that is
// [Result.Paused]. A run that fails returns the result so far and a
// [*NodeError]. Only a run that could not begin returns another error: one with
// bad options, or with an id that the store knows ([ErrRunExists]).
func (c *Compiled[S]) Run(ctx context.Context, runID string, state S, opts ...RunOption) (Result[S], error) {
	r := &run[S]{c: c, state: state}
	defer r.letGo()
	if err := r.open(ctx, runID, opts); err != nil {
		return Result[S]{}, err
	}
	if len(r.cfg.answers) > 0 {
		return Result[S]{}, fmt.Errorf("%w: a run that begins has none", ErrUnknownAsk)
	}
	r.front, r.merged = append(r.front, 0), true // START, which has no output
	if _, err := r.advance(); err != nil {
		return r.result(), r.fail(0, err)
	}
	if err := r.save(ctx, r.status()); err != nil {
		if isAmong(err, ErrConflict) {
			return Result[S]{}, fmt.Errorf("start run %q: %w", runID, ErrRunExists)
		}
		return r.result(), r.fail(r.nextNode(), err)
	}
	return r.drive(ctx)
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
	r.nodes = make([]progress, len(c.nodes))
	if r.order = r.orderRoom[:0:len(r.orderRoom)]; len(c.nodes) > len(r.orderRoom) {
		r.order = make([]int32, 0, len(c.nodes))
	}
	r.front, r.next = r.room[0:0:4], r.room[4:4:8]
	if len(c.joins) > 0 {
		r.waiting = make([]bool, len(c.joins))
	}
	if r.cfg.store != nil {
		r.persist = r.saveRunning
		r.store = &checkpoints{ctx: context.WithoutCancel(ctx)}
		stock := make([]details, len(r.nodes))
		for i := range r.nodes {
			r.nodes[i].cell = &stock[i]
		}
	}
	return nil
}

// drive runs one frontier after the other.
func (r *run[S]) drive(ctx context.Context) (Result[S], error) {
	b := &r.base
	b.Context, b.s, b.run = ctx, &r.session, ctx
	plain := r.cfg.store == nil && r.cfg.hook == nil
	for len(r.front) > 0 {
		if plain && !r.merged && len(r.front) == 1 {
			r.strides(b) //nolint:contextcheck // b is the context
			if len(r.front) == 0 {
				break
			}
		}
		if !r.merged {
			stop, err := r.round(ctx, b)
			if stop || err != nil {
				return r.result(), err
			}
		}
		if err := r.turn(ctx); err != nil {
			return r.result(), err
		}
	}
	if err := r.discard(ctx); err != nil {
		return r.result(), r.fail(r.lastNode(), err)
	}
	return r.result(), nil
}

// round runs the frontier and applies its outputs. It stops the run when that
// has paused.
func (r *run[S]) round(ctx context.Context, b *base) (stop bool, err error) {
	if r.store != nil || r.first(ready) >= 0 { // else the plain path stumbled: see why
		if node, err := r.refused(ctx); err != nil {
			return true, r.fail(node, err)
		}
	}
	switch {
	case len(r.front) > 1:
		r.runAll(b)
	case r.nodes[r.front[0]].known().phase == ready:
		r.visit(r.enter(b, r.front[0]), nil) //nolint:contextcheck // b is the context
	}
	if node, err := r.verdict(); err != nil {
		return true, r.abandon(ctx, node, err)
	}
	if r.isParked() {
		return true, r.pause(ctx)
	}
	if node, err := r.merge(); err != nil {
		d := r.nodes[node].detail()
		d.phase, d.err = failed, err
		return true, r.abandon(ctx, node, err)
	}
	return false, nil
}

// turn goes from an applied frontier to the next.
func (r *run[S]) turn(ctx context.Context) error {
	last := r.front[0]
	if node, err := r.advance(); err != nil {
		return r.fail(node, join(err, r.save(ctx, statusFailed)))
	}
	if r.cfg.store == nil {
		return nil
	}
	if err := r.save(ctx, r.status()); err != nil {
		r.step-- // it belongs to the round before
		return r.fail(last, err)
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
		return r.front[0], &LimitError{What: "steps", Limit: r.cfg.steps}
	}
	for _, node := range r.front {
		if limit := r.core.metas[node].visits; limit > 0 && int(r.nodes[node].visits) > limit {
			return node, &LimitError{What: "visits", Limit: limit}
		}
	}
	if ctx.Err() != nil {
		return r.front[0], stopped(ctx, nil)
	}
	return 0, nil
}

// verdict finds what fails the run, and which node is to blame: the first
// failure in time, unless it is tolerated and something is left to go on with.
func (r *run[S]) verdict() (node int32, err error) {
	if r.broken != nil {
		return r.brokeBy, r.broken
	}
	if first := r.first(failed); first >= 0 {
		return first, r.nodes[first].known().err
	}
	lost := r.first(dropped)
	if lost < 0 || r.ended || slices.Contains(r.waiting, true) {
		return 0, nil
	}
	for _, node := range r.front {
		if r.nodes[node].known().phase != dropped {
			return 0, nil
		}
	}
	for _, node := range r.front {
		r.nodes[node].detail().phase = failed
	}
	return lost, r.nodes[lost].known().err
}

// first is the node of the frontier that came into a phase first, -1 if none did.
func (r *run[S]) first(ph phase) int32 {
	found := int32(-1)
	for _, node := range r.front {
		d := r.nodes[node].known()
		if d.phase == ph && (found < 0 || d.rank < r.nodes[found].known().rank) {
			found = node
		}
	}
	return found
}

func (r *run[S]) isParked() bool { return r.first(parked) >= 0 }

// pause ends the run until somebody answers.
func (r *run[S]) pause(ctx context.Context) error {
	if err := r.save(ctx, statusPaused); err != nil {
		return r.fail(r.first(parked), err)
	}
	r.conclude()
	return nil
}
