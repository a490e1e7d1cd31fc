package flow

import (
	"bytes"
	"context"

	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/finished"
)

// status is what a checkpoint says about a run.
type status string

const (
	statusRunning status = "" // left out
	statusPaused  status = "paused"
	statusFailed  status = "failed"
	statusDone    status = "done"
)

// checkpoints is what a run remembers from one checkpoint to the next.
type checkpoints struct {
	seq     uint64
	retries int           // as stored
	state   []byte        // the state as stored, nil if it is to be encoded
	out     []byte        // room for the output of a node that runs alone
	text    *draft        // where it is written
	work    *finished.Run // nil unless somebody else may end the run
	copies  bool          // the store keeps nothing it is given
	returns bool          // see storeReturns

	longer     context.Context //nolint:containedctx // that of the run, but it does not end: what was done is to be kept
	lost       error           // what the store said when it failed; it may have gone on without this run
	superseded bool            // the store has one of somebody else's
}

// remember makes what a run with a store has aside, and its checkpoints with it.
func (s *session) remember(ctx context.Context) {
	both := &struct {
		aside
		checkpoints
	}{checkpoints: checkpoints{
		text: newDraft(s), work: s.noted(ctx), longer: context.WithoutCancel(ctx),
		copies: s.isMemory(), returns: s.storeReturns(ctx),
	}}
	s.aside = &both.aside
	s.store = &both.checkpoints
}

// save makes a checkpoint if there is a store.
func (r *run[S]) save(st status) error {
	if r.cfg.store == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.saveLocked(st)
}

// saveRunning implements saver.
func (r *run[S]) saveRunning() error { return r.saveLocked(statusRunning) }

// saveLocked saves. The caller holds mu.
func (r *run[S]) saveLocked(st status) error {
	if r.store.lost != nil {
		return r.store.lost
	}
	if r.store.state == nil {
		if err := r.encodeState(); err != nil {
			return &StoreError{Op: "encode", Err: err}
		}
	}
	c := Checkpoint{Run: r.id, Seq: r.store.seq + 1, Keep: r.cfg.keep}
	if err := r.write(st); err != nil {
		return &StoreError{Op: "encode", Err: err}
	}
	if c.Data = r.store.text.buf; !r.store.copies {
		c.Data = bytes.Clone(c.Data)
	}
	r.store.lost = errHookExited // should it end the goroutine
	err := r.put(c)
	if err != nil && !isUnheard(err) {
		r.store.superseded = isAmong(err, ErrConflict)
		r.store.lost = &StoreError{Op: "save", Err: err}
		return r.store.lost
	}
	r.store.lost = nil
	r.store.seq++
	r.store.retries = r.retries
	if err != nil || r.cfg.hook == nil || r.cfg.nest != nil { // then it is the outer run that was saved
		return err
	}
	if err := r.emit(Event{Kind: RunSaved, Seq: r.store.seq}); err != nil {
		return &unheardError{err}
	}
	return nil
}

// unheardError says that a checkpoint was saved, but that the hook failed to hear
// of it.
type unheardError struct{ error }

func (e *unheardError) Unwrap() error { return e.error }

func isUnheard(err error) bool {
	_, yes := errtree.As[*unheardError](err)
	return yes
}

// discard removes the checkpoints of a run that has ended well.
func (r *run[S]) discard() error {
	if r.cfg.store == nil || !r.cfg.discard {
		return nil
	}
	if err := r.remove(); err != nil {
		return &StoreError{Op: "delete", Err: err}
	}
	r.noteDeletion()
	return nil
}

// encodeState makes the state as it is stored.
func (r *run[S]) encodeState() (err error) {
	if d := r.store.text; d.plain {
		if err = d.state.encode(&r.state); err == nil {
			r.store.state = d.state.text
		}
		return err
	}
	r.store.state, err = encode(r.cfg.codec, &r.state)
	return err
}

// encodeOutput is an output as it is stored, nil if there is no store. That of
// a node that runs alone is only valid until the next one.
func (r *run[S]) encodeOutput(out any, alone bool) (data []byte, err error) {
	switch {
	case r.store == nil:
		return nil, nil
	case alone:
		data, err = encodeTo(r.store.out[:0], r.cfg.codec, out)
		r.store.out = data
	default:
		data, err = encodeTo(nil, r.cfg.codec, out)
	}
	switch {
	case err != nil:
		return nil, &StoreError{Op: "encode", Err: err}
	case data == nil:
		return []byte{}, nil // nil would be no output
	default:
		return data, nil
	}
}
