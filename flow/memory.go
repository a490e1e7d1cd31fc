package flow

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Memory is a [Store] in the memory of this process, for tests and for agents
// that may forget their runs when they stop. It forgets a run only by Delete, see
// [DeleteOnSuccess]. It copies what it is given. Make one with [NewMemory].
type Memory struct {
	mu    sync.Mutex
	runs  map[string]*record
	spare *record // of a run that was deleted, empty; nil if there is none
}

// record is what is kept of a run.
type record struct {
	kept []Checkpoint
	room []byte // for the data where only the last is kept
	lent bool   // the data was handed out, so it stays as it is
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{runs: map[string]*record{}} }

// Save implements [Store].
func (m *Memory) Save(ctx context.Context, c Checkpoint) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[c.Run]
	last := uint64(0)
	if r != nil {
		last = r.kept[len(r.kept)-1].Seq
	}
	if c.Seq != last+1 {
		return fmt.Errorf("%w: checkpoint %d after %d", ErrConflict, c.Seq, last)
	}
	if r == nil {
		r = m.begin(c.Run)
	}
	r.add(c)
	return nil
}

// begin makes the record of a run. The caller holds mu.
func (m *Memory) begin(run string) *record {
	r := m.spare
	if r == nil {
		r = &record{}
	}
	m.spare, m.runs[run] = nil, r
	return r
}

// add keeps one more checkpoint. Where only the last is kept, its data is written
// over that of the one before, unless somebody has that.
func (r *record) add(c Checkpoint) {
	if c.Keep == 1 && len(r.kept) <= 1 {
		if r.lent {
			r.room, r.lent = nil, false
		}
		r.room = append(r.room[:0], c.Data...)
		c.Data = r.room
		r.kept = append(r.kept[:0], c)
		return
	}
	c.Data = bytes.Clone(c.Data)
	r.kept = append(r.kept, c)
	if c.Keep > 0 && len(r.kept) > c.Keep {
		r.kept = slices.Clone(r.kept[len(r.kept)-c.Keep:])
	}
}

// clear empties the record for another run. It reports whether it can be used for
// one: nobody has its data, and it is not large.
func (r *record) clear() bool {
	if r.lent || len(r.kept) > 1 || cap(r.room) > maxDraft {
		return false
	}
	clear(r.room[:cap(r.room)]) // it may hold secrets
	clear(r.kept)
	r.kept = r.kept[:0]
	return true
}

// Load implements [Store].
func (m *Memory) Load(ctx context.Context, run string) (Checkpoint, error) {
	kept := m.History(run)
	if err := ctx.Err(); err != nil {
		return Checkpoint{}, err
	}
	if len(kept) == 0 {
		return Checkpoint{}, fmt.Errorf("%w: %q", ErrUnknownRun, run)
	}
	return kept[len(kept)-1], nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, run string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	if r == nil {
		return nil
	}
	delete(m.runs, run)
	if r.clear() {
		m.spare = r
	}
	return nil
}

// History lists the checkpoints of a run that were kept, see [KeepLast], the
// last one last. Their data must not be changed.
func (m *Memory) History(run string) []Checkpoint {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	if r == nil {
		return nil
	}
	r.lent = true
	return slices.Clone(r.kept)
}
