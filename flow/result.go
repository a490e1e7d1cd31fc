package flow

import (
	"slices"

	"github.com/a2aexec/a2aexec/hitl"
)

// Result is what a run has achieved when it ends, well or badly, or pauses. The
// zero value is that of a run which did not begin.
type Result[S any] struct {
	// State is the state with the outputs of all completed nodes applied.
	State S
	trace *trace
}

// Output is what a node returned.
type Output struct {
	// Node is the node's id, Kind its kind.
	Node, Kind string
	// Visit counts the node's runs, from 1.
	Visit int
	// Value is what the node returned, of its own type.
	Value any
	// NoArtifact says that it is not for the client. It is in the state, and
	// Value is nil.
	NoArtifact bool
}

// trace is what a run leaves behind.
type trace struct {
	visitLog
	*aside
	core    *core
	visits  []int32 // begun, by node; nil where no node runs twice
	retries int
}

// begun is how often a node's turn has come.
func (t *trace) begun(node int32) int32 {
	if t.visits == nil {
		return min(node, 1) // START has none
	}
	return t.visits[node]
}

// begin is the turn of a node.
func (t *trace) begin(node int32) {
	if t.visits != nil {
		t.visits[node]++
	}
}

// Completed are the ids of the completed nodes in the order in which their
// outputs were applied; a node visited twice stands once. The slice is the
// caller's.
func (r Result[S]) Completed() []string {
	if r.trace == nil {
		return nil
	}
	return r.trace.completed()
}

// Outputs are the outputs in the order in which they were applied; a node in a
// loop has one for each visit. The slice is the caller's, the values are not to
// be changed.
func (r Result[S]) Outputs() []Output {
	if r.trace == nil {
		return nil
	}
	return r.trace.outputs()
}

// Paused reports whether the run waits for answers.
func (r Result[S]) Paused() bool { return r.trace != nil && len(r.trace.asks) > 0 }

// Asks are the open questions: those that a paused run waits for, or that were
// asked beside a failure and survive it. Their ids are for [Answer].
func (r Result[S]) Asks() []*hitl.Interrupt {
	if r.trace == nil {
		return nil
	}
	return slices.Clone(r.trace.asks)
}

// Failures are those that a fan-out tolerated, see [Graph.ContinueOnError].
// After a resume, the failures from before have their class and their text,
// but neither the error's type nor the value that was returned with it.
func (r Result[S]) Failures() []*NodeError {
	if r.trace == nil {
		return nil
	}
	return slices.Clone(r.trace.failures)
}

// Retries counts the retries of all nodes.
func (r Result[S]) Retries() int {
	if r.trace == nil {
		return 0
	}
	return r.trace.retries
}

func (t *trace) completed() []string {
	ids := []string{}
	seen := newBitset(len(t.core.metas))
	for f := range t.visitLog.completed {
		if !seen.has(int(f.node)) {
			seen.add(int(f.node))
			ids = append(ids, t.core.metas[f.node].id)
		}
	}
	return ids
}

func (t *trace) outputs() []Output {
	outs := []Output{}
	for f := range t.visitLog.completed {
		m := t.core.metas[f.node]
		outs = append(outs, Output{Node: m.id, Kind: m.kind, Visit: int(f.number()), Value: f.out, NoArtifact: m.noArtifact})
	}
	return outs
}
