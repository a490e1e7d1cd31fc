package flow

import (
	"bytes"
	"context"
)

// status is what a checkpoint says about a run.
type status string

const (
	statusRunning status = "running"
	statusPaused  status = "paused"
	statusFailed  status = "failed"
	statusDone    status = "done"
)

// checkpoints is what a run remembers from one checkpoint to the next.
type checkpoints struct {
	seq   uint64
	state []byte          // the state as stored, nil if it is to be encoded
	text  *draft          // where it is written
	ctx   context.Context //nolint:containedctx // that of the run, but it does not end: what was done is to be kept
}

func newCheckpoints(ctx context.Context, s *session) *checkpoints {
	return &checkpoints{ctx: context.WithoutCancel(ctx), text: newDraft(s)}
}

// save makes a checkpoint if there is a store.
func (r *run[S]) save(ctx context.Context, st status) error {
	if r.cfg.store == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.saveLocked(ctx, st)
}

// saveRunning is session.persist.
func (r *run[S]) saveRunning(ctx context.Context) error { return r.saveLocked(ctx, statusRunning) }

// saveLocked saves even if ctx has ended: what was done is to be kept. The
// caller holds mu.
func (r *run[S]) saveLocked(ctx context.Context, st status) error {
	if r.broken != nil {
		return r.broken // the store may have gone on without this run
	}
	if r.store.state == nil {
		data, err := encode(r.cfg.codec, &r.state)
		if err != nil {
			return &StoreError{Op: "encode", Err: err}
		}
		r.store.state = data
	}
	c := Checkpoint{Run: r.id, Seq: r.store.seq + 1, Keep: r.cfg.keep}
	if err := r.write(c.Seq, st); err != nil {
		return &StoreError{Op: "encode", Err: err}
	}
	c.Data = bytes.Clone(r.store.text.buf)                   // the store may keep it
	if err := put(r.store.ctx, r.cfg.store, c); err != nil { //nolint:contextcheck // see there
		return &StoreError{Op: "save", Err: err}
	}
	r.store.seq++
	if r.cfg.hook == nil {
		return nil
	}
	return r.emit(ctx, Event{Kind: RunSaved, Seq: r.store.seq})
}

// put is Store.Save with panics contained.
func put(ctx context.Context, s Store, c Checkpoint) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return s.Save(ctx, c)
}

// discard removes the checkpoints of a run that has ended well.
func (r *run[S]) discard(ctx context.Context) error {
	if r.cfg.store == nil || !r.cfg.discard {
		return nil
	}
	err := contain(func() error { return r.cfg.store.Delete(context.WithoutCancel(ctx), r.id) })
	if err != nil {
		return &StoreError{Op: "delete", Err: err}
	}
	return nil
}

// encodeOutput is an output as it is stored, nil if there is no store.
func (r *run[S]) encodeOutput(out any) ([]byte, error) {
	if r.cfg.store == nil {
		return nil, nil
	}
	data, err := encode(r.cfg.codec, out)
	if err != nil {
		return nil, &StoreError{Op: "encode", Err: err}
	}
	return data, nil
}
