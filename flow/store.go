package flow

import "context"

// Checkpoint is the state of a run between two moments of its execution.
type Checkpoint struct {
	// Run is the id of the run.
	Run string
	// Seq numbers the checkpoints of a run, from 1.
	Seq uint64
	// Data is the content, private to this package. It may hold secrets: what
	// is in states and outputs.
	Data []byte
	// Keep is how many of the run's checkpoints should be kept, this one
	// included, 0 for all. A store that only ever keeps the last may ignore it.
	Keep int
}

// Store keeps checkpoints. It must be safe for concurrent use, from several
// processes too if runs may be resumed elsewhere. Package flowtest checks one.
type Store interface {
	// Save stores a checkpoint as a whole or not at all, if and only if the last
	// one of the run has the number before (0: there is none). Otherwise it
	// returns an error that wraps ErrConflict. When it returns nil the checkpoint is as
	// durable as the store is. The store may keep Data, which nobody changes.
	Save(ctx context.Context, c Checkpoint) error
	// Load returns the last checkpoint of a run, or an error that wraps
	// ErrUnknownRun if there is none. Data is the store's: it is not changed.
	Load(ctx context.Context, run string) (Checkpoint, error)
	// Delete removes all checkpoints of a run. An unknown run is no error.
	Delete(ctx context.Context, run string) error
}
