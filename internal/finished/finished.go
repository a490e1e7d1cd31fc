// Package finished knows how far the flows of an agent's run have come, for
// whoever ends the run before its code has returned: after a timeout, a cancel, a
// panic. It calls nothing of the user's but where an output is noted, which is the
// goroutine of the node that made it.
package finished

import (
	"context"
	"slices"
	"sync"
)

// Work is what the flows of one run of an agent have finished. It is safe for
// concurrent use, as are the Runs in it.
type Work struct {
	mu   sync.Mutex
	runs []*Run // in the order in which they began
}

type (
	workKey struct{}
	runKey  struct{}
)

// NewContext returns a context in which w is the work.
func (w *Work) NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// named is what a context has of a flow's run that is to be noted.
type named struct {
	id   string
	work *Work
}

// Track returns a context in which the flow's run of that id is noted in the
// work of ctx, if there is one. Other runs in the context are not.
func Track(ctx context.Context, id string) context.Context {
	w, ok := ctx.Value(workKey{}).(*Work)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, runKey{}, named{id, w})
}

// Begin notes that a flow's run of that id begins, or begins again: what was
// known of it is forgotten. It returns nil, which takes any call, if the run is
// not tracked.
func Begin(ctx context.Context, id, flow string) *Run {
	n, ok := ctx.Value(runKey{}).(named)
	if !ok || n.id != id {
		return nil
	}
	n.work.mu.Lock()
	defer n.work.mu.Unlock()
	r := &Run{work: n.work, id: id, flow: flow}
	r.root = r
	n.work.runs = slices.DeleteFunc(n.work.runs, func(r *Run) bool { return r.id == id })
	n.work.runs = append(n.work.runs, r)
	return r
}

// Keep notes that the run of ctx is over for now, and stays in its store while the
// task goes on.
func Keep(ctx context.Context) {
	if n, ok := ctx.Value(runKey{}).(named); ok {
		n.work.keep(n.id, true)
	}
}

// Drop notes that a run is not in its store any more.
func Drop(ctx context.Context, id string) {
	if w, ok := ctx.Value(workKey{}).(*Work); ok {
		w.keep(id, false)
	}
}

func (w *Work) keep(id string, kept bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.id == id {
			r.kept = kept && !r.deleted
		}
	}
}

// Report is what was known at one moment.
type Report struct {
	// Outputs are those for clients in the order of the scheduler: of each run its
	// own, then those of the runs nested in nodes that have not finished.
	Outputs []Output
	// Flow is the name of the flow that runs, or ran last; "" if none has come to a node.
	Flow string
	// Completed are the ids of its completed nodes, in order, with repetitions.
	Completed []string
	// Kept says of each run, by its id, whether it stays in its store, see Keep.
	Kept map[string]bool
	// Retries is how often nodes were tried again.
	Retries int
	// Node and Kind are the node that runs, or at which the flow has failed, the
	// first of several; "" if there is none.
	Node, Kind string
}

// Report tells what the flows have finished by now. The slices are the caller's.
func (w *Work) Report() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	rep := Report{Kept: map[string]bool{}}
	for _, r := range w.runs {
		rep.Outputs = r.collect(rep.Outputs)
		rep.Retries += r.retries
		rep.Kept[r.id] = r.kept
		if len(r.running) == 0 && (rep.Node != "" || len(r.outputs) == 0) {
			continue
		}
		rep.Flow, rep.Completed, rep.Node, rep.Kind = r.flow, nil, "", ""
		for _, o := range r.outputs {
			rep.Completed = append(rep.Completed, o.ID)
		}
		if len(r.running) > 0 {
			rep.Node, rep.Kind = r.running[0].ID, r.running[0].Kind
		}
	}
	return rep
}
