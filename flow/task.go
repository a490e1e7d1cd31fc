package flow

import "github.com/a2aexec/a2aexec/hitl"

// task is a node of the frontier, and how far its visit is.
type task struct {
	frame    *frame // nil where the plain path ran it
	fresh    any    // what the visit returned
	made     []byte // fresh as it is stored, or the failure if it was tolerated
	err      error
	asks     []*hitl.Interrupt
	node     int32
	retries  int32 // in the visit
	tries    int32 // attempts in the visit
	rank     int32 // among the failures of siblings, by time
	phase    phase
	tolerant bool // a failure of the visit ends only its branch
}

// phase is how far a visit is.
type phase uint8

const (
	ready     phase = iota
	done            // its output waits to be applied
	parked          // it has open questions
	failed          // it fails the run
	cancelled       // it ended because a sibling failed
	dropped         // it failed and was tolerated
)

// first is the task that came into a phase first, nil if none did.
func (r *run[S]) first(ph phase) *task {
	var found *task
	for i := range r.front {
		if t := &r.front[i]; t.phase == ph && (found == nil || t.rank < found.rank) {
			found = t
		}
	}
	return found
}

// complete notes that a task's output was applied.
func (r *run[S]) complete(t *task) {
	m := r.core.metas[t.node]
	out := t.fresh
	if m.noArtifact {
		out, t.made = nil, nil
	}
	if t.frame == nil { // it finished before the run was resumed
		t.frame = r.enter(&r.base, t.node, r.begun(t.node))
		t.frame.close()
	}
	t.frame.out = out
	if r.store != nil {
		r.store.text.completed(m, t.frame.number(), t.made)
		r.store.work.Apply(t.node)
	}
}

// count adds the retries of a visit to those of the run.
func (r *run[S]) count(t *task) {
	r.retries += int(t.retries)
	t.retries = 0
}
