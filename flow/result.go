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
	// NoArtifact says that it is not for the client. Then Value is nil once the
	// run was resumed.
	NoArtifact bool
}

// trace is what a run leaves behind.
type trace struct {
	core     *core
	nodes    []progress // by number
	order    []int32    // the completed nodes, each once
	retries  int
	asks     []*hitl.Interrupt
	failures []*NodeError // that were tolerated
	revised  bool         // a node in order completed again

	orderRoom [16]int32 // for the order of a small graph
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

// Outputs are the last outputs of the completed nodes, in the same order. The
// slice is the caller's, the values are not to be changed.
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
// After a resume, the failures from before have only their texts left.
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
	ids := make([]string, len(t.order))
	for i, n := range t.order {
		ids[i] = t.core.metas[n].id
	}
	return ids
}

func (t *trace) outputs() []Output {
	outs := make([]Output, len(t.order))
	for i, n := range t.order {
		m, p := t.core.metas[n], &t.nodes[n]
		outs[i] = Output{Node: m.id, Kind: m.kind, Visit: int(p.visit), Value: p.output(), NoArtifact: m.noArtifact}
	}
	return outs
}
