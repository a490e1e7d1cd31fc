package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/a2aexec/a2aexec/hitl"
)

var errNoStore = errors.New("flow: a run is resumed from a store, see WithStore")

// Resume continues a run from its last checkpoint: after a failure, a pause, a
// crash. Nodes that have completed do not run again; a node that had failed, or whose
// questions now all have answers, runs again from its start with the state it
// saw first. A node with an open question stays where it is.
//
// Besides what [Compiled.Run] returns there are errors of a run that was not
// resumed: [ErrUnknownRun] and other errors of the store, [ErrFinished],
// [ErrGraphChanged], [ErrUnknownAsk] for an answer nobody waits for, and
// [ErrConflict] when somebody else resumed it at the same time. They leave the
// run as it was.
func (c *Compiled[S]) Resume(ctx context.Context, runID string, opts ...RunOption) (Result[S], error) {
	r := &run[S]{c: c}
	r.aside = nothing
	defer r.letGo()
	if err := r.reopen(ctx, runID, opts); err != nil {
		return Result[S]{}, fmt.Errorf("resume run %q: %w", runID, err)
	}
	if r.cfg.isolated {
		return r.apart(func() (Result[S], error) { return r.proceed(ctx) })
	}
	return r.proceed(ctx)
}

// proceed goes on from a checkpoint.
func (r *run[S]) proceed(ctx context.Context) (Result[S], error) {
	if len(r.front) == 0 { // nested, and at its end
		return r.result(), nil
	}
	if !r.merged && r.first(ready) == nil && len(r.cfg.answers) == 0 && r.first(parked) != nil {
		r.halt()
		return r.result(), nil
	}
	r.busy = r.nextNode()
	if err := r.save(statusRunning); err != nil {
		if isAmong(err, ErrConflict) {
			return Result[S]{}, fmt.Errorf("resume run %q: %w", r.id, err)
		}
		return r.failed(r.nextNode(), err)
	}
	return r.drive(ctx, atNone)
}

// Load gives what a run has achieved according to its last checkpoint, of a
// finished run too, and runs nothing. The errors are those of a run that is not
// resumed, see [Compiled.Resume]; answers are ignored.
func (c *Compiled[S]) Load(ctx context.Context, runID string, opts ...RunOption) (Result[S], error) {
	r := &run[S]{c: c}
	r.aside = nothing
	defer r.letGo()
	if err := r.read(ctx, runID, opts, true); err != nil {
		return Result[S]{}, fmt.Errorf("load run %q: %w", runID, err)
	}
	r.halt()
	return r.result(), nil
}

// reopen loads a run that has not finished and takes in the answers.
func (r *run[S]) reopen(ctx context.Context, runID string, opts []RunOption) error {
	if err := r.read(ctx, runID, opts, false); err != nil {
		return err
	}
	return r.hear(r.cfg.answers)
}

// read loads a run.
func (r *run[S]) read(ctx context.Context, runID string, opts []RunOption, finished bool) error {
	if err := r.open(ctx, runID, opts); err != nil {
		return err
	}
	if r.cfg.store == nil {
		return errNoStore
	}
	var last Checkpoint
	err := r.ask(func(context.Context) (err error) { //nolint:contextcheck // it is in the base
		last, err = r.cfg.store.Load(ctx, runID)
		return err
	})
	if err != nil {
		return &StoreError{Op: "load", Err: err}
	}
	in, err := r.parse(last.Data, finished)
	if err != nil {
		return err
	}
	r.store.seq, r.store.retries = last.Seq, in.Retries
	if err := r.restore(in); err != nil {
		return &StoreError{Op: "decode", Err: err}
	}
	return nil
}

// hear accepts answers to open questions. A node whose questions are all
// answered is ready to run again.
func (r *run[S]) hear(answers []answer) error {
	for _, a := range answers {
		if !r.answer(a) {
			return fmt.Errorf("%w: %q", ErrUnknownAsk, a.id)
		}
	}
	if r.cfg.nest != nil {
		r.hearOuter()
	}
	for i := range r.front {
		if t := &r.front[i]; t.phase == parked && len(t.asks) == 0 {
			t.phase = ready
		}
	}
	return nil
}

// hearOuter accepts the answers that the outer run has.
func (r *run[S]) hearOuter() {
	for i := range r.front {
		for _, ask := range slices.Clone(r.front[i].asks) {
			if data, ok := r.cfg.nest.answer(ask.ID()); ok {
				r.answer(answer{ask.ID(), data})
			}
		}
	}
}

func (r *run[S]) answer(a answer) bool {
	for i := range r.front {
		t := &r.front[i]
		at := slices.IndexFunc(t.asks, func(ask *hitl.Interrupt) bool { return ask.ID() == a.id })
		if at < 0 {
			continue
		}
		if memo := t.asks[at].Memo(); memo != nil {
			if r.memos == nil {
				r.memos = map[string]map[string]any{}
			}
			r.memos[a.id] = memo
		}
		t.asks = slices.Delete(t.asks, at, at+1)
		if r.answers == nil {
			r.answers = map[string]json.RawMessage{}
		}
		r.answers[a.id] = a.data
		return true
	}
	return false
}
