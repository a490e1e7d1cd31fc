package flow

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Memory is a [Store] in the memory of this process, for tests and for agents
// that may forget their runs when they stop. It forgets a run only by Delete, see
// [DeleteOnSuccess]. Make one with [NewMemory].
type Memory struct {
	mu   sync.Mutex
	runs map[string][]Checkpoint
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{runs: map[string][]Checkpoint{}} }

// Save implements [Store].
func (m *Memory) Save(ctx context.Context, c Checkpoint) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.runs[c.Run]
	last := uint64(0)
	if len(kept) > 0 {
		last = kept[len(kept)-1].Seq
	}
	if c.Seq != last+1 {
		return fmt.Errorf("%w: checkpoint %d after %d", ErrConflict, c.Seq, last)
	}
	if c.Keep == 1 && len(kept) == 1 {
		kept[0] = c
		return nil
	}
	kept = append(kept, c)
	if c.Keep > 0 && len(kept) > c.Keep {
		kept = slices.Clone(kept[len(kept)-c.Keep:])
	}
	m.runs[c.Run] = kept
	return nil
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
	delete(m.runs, run)
	return nil
}

// History lists the checkpoints of a run that were kept, see [KeepLast], the
// last one last. Their data must not be changed.
func (m *Memory) History(run string) []Checkpoint {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs[run])
}
