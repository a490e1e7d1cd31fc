package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Errors of [Compiled.Run] and [Compiled.Resume], and of stores. Test for them
// with errors.Is.
var (
	// ErrUnknownRun says that the store has no such run.
	ErrUnknownRun = errors.New("flow: unknown run")
	// ErrConflict says that somebody else has saved the run meanwhile.
	ErrConflict = errors.New("flow: the run was changed meanwhile")
	// ErrRunExists refuses to start a run whose id the store has already.
	ErrRunExists = errors.New("flow: the run exists already")
	// ErrFinished refuses to resume a run that has ended well.
	ErrFinished = errors.New("flow: the run is finished")
	// ErrGraphChanged refuses to resume a run of a graph that was different.
	ErrGraphChanged = errors.New("flow: the graph is not the one the run began with")
	// ErrUnknownAsk refuses an answer to a question that is not open.
	ErrUnknownAsk = errors.New("flow: no such open question")
	// ErrNotInNode says that a context is not that of a running node.
	ErrNotInNode = errors.New("flow: not in a running node")
)

// NodeError is how a run fails: in which node, and all that was achieved. Where
// no node failed by itself (a limit, a cancelled run, a store that fails) it
// names the node that was to run or had just run. It wraps the cause, which
// decides about the code that clients see. It must not be changed.
type NodeError struct {
	// Flow is the flow's name, Run the id of the run.
	Flow, Run string
	// Node is the id of the node, Kind its kind. A route from START that fails
	// has the id START and the kind start.
	Node, Kind string
	// Step counts the scheduler's rounds from 1, Visit the node's runs and
	// Attempt the tries in this visit; an attempt of 0 did not begin.
	Step, Visit, Attempt int
	// Retries counts the retries of all nodes in this run.
	Retries int
	// Completed are the ids of the nodes that completed, in the order in which
	// their outputs were applied; a node visited twice stands once.
	Completed []string
	// Outputs are their outputs in the order in which they were applied; a node
	// in a loop has one for each visit.
	Outputs []Output
	// Value is what the node returned together with the error, nil if that was
	// nothing or the zero value.
	Value any
	// Siblings are the failures of nodes that ran side by side with this one, and
	// those that a fan-out tolerated. They have no Completed, Outputs or Siblings.
	Siblings []*NodeError
	// Cancelled are the ids of the siblings that were cancelled because of it.
	Cancelled []string
	// Err is the cause.
	Err error

	superseded bool
}

func (e *NodeError) Error() string {
	return "run node " + e.Node + ": " + errtree.Text(e.Err)
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// Superseded reports whether the run was stopped because its store has a
// checkpoint of somebody else's, who goes on with it. Err has [ErrConflict] in it
// then; but so may an error that a node returned.
func (e *NodeError) Superseded() bool { return e.superseded }

// Inner is the failure of the run that was nested in the node (see [Nested]),
// nil if there was none.
func (e *NodeError) Inner() *NodeError {
	inner, ok := firstNodeError(e.Err)
	if !ok {
		return nil
	}
	if nth, own := strings.CutPrefix(inner.Run, visitID(e.Run, e.Node, e.Visit)); !own || nth != "" && !strings.HasPrefix(nth, "//") {
		return nil
	}
	return inner
}

// ErrorNode tells [errcode.Table] which node failed.
func (e *NodeError) ErrorNode() (id, kind string) { return e.Node, e.Kind }

// ErrorFlow tells [errcode.Table] how far the flow got.
func (e *NodeError) ErrorFlow() (id string, completed []string) {
	return e.Flow, slices.Clone(e.Completed)
}

// firstNodeError finds the error of a run in what somebody wrapped around it.
func firstNodeError(err error) (*NodeError, bool) {
	e, ok := errtree.As[*NodeError](err)
	return e, ok && e != nil
}

// LimitError says that a run was stopped because it went on for too long. To
// clients it is the limit of a tool loop.
type LimitError struct {
	// What is "steps" or "visits".
	What string
	// Limit is how many were allowed.
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("too many %s (limit %d)", e.What, e.Limit)
}

// Unwrap returns an [*errcode.MaxToolIterationsError].
func (e *LimitError) Unwrap() error { return &errcode.MaxToolIterationsError{Limit: e.Limit} }

// StoreError says that a checkpoint could not be written, read, encoded or
// decoded. It wraps the cause.
type StoreError struct {
	// Op is "save", "load", "delete", "encode" or "decode".
	Op string
	// Err is the cause.
	Err error
}

func (e *StoreError) Error() string { return e.Op + " checkpoint: " + errtree.Text(e.Err) }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// severalError is a cause with errors of which the first that the table knows
// decides.
type severalError struct {
	text string
	errs []error
}

func (e *severalError) Error() string   { return e.text }
func (e *severalError) Unwrap() []error { return e.errs }

// stopped is the error of a run whose context ended, with what the node said.
func stopped(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if isAmong(err, cause) {
		return err
	}
	e := &severalError{text: "run stopped: " + errtree.Text(cause), errs: []error{cause}}
	if !isAmong(cause, ctx.Err()) {
		e.errs = append(e.errs, ctx.Err())
	}
	if err != nil {
		e.errs = append(e.errs, err)
	}
	return e
}

// siblingError is why the context of a node ends when a sibling has failed.
type siblingError struct {
	id  string
	err error
}

func (e *siblingError) Error() string {
	return fmt.Sprintf("cancelled because node %s failed: %s", e.id, errtree.Text(e.err))
}
func (e *siblingError) Unwrap() error { return e.err }

// isAmong reports whether the tree of err has one of the targets, each a
// pointer or another comparable value. Unlike errors.Is it ends for any err.
func isAmong(err error, targets ...error) bool {
	found := false
	errtree.Walk(err, func(e error) bool {
		for _, t := range targets {
			found = found || same(e, t)
		}
		return !found
	})
	return found
}

func same(a, b error) (yes bool) {
	defer func() { _ = recover() }() // not comparable
	return a == b                    //nolint:errorlint // one node of a walk
}

// join makes one error of some that may be nil; the first decides.
func join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(e error) bool { return e == nil })
	if len(errs) <= 1 {
		return slices.Concat(errs, []error{nil})[0]
	}
	texts := make([]string, len(errs))
	for i, e := range errs {
		texts[i] = errtree.Text(e)
	}
	return &severalError{text: strings.Join(texts, "; "), errs: errs}
}
