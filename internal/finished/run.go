package finished

import (
	"slices"

	"github.com/a2aexec/a2aexec/stream"
)

// Run is what one run of a flow has finished. The methods of a nil Run do nothing.
type Run struct {
	work    *Work
	root    *Run // that it is nested in, or itself
	retries int  // of a root
	id      string
	flow    string
	path    string // of the nodes that it is nested in, each with a slash after it
	outputs []Output
	running []Visit // or that failed the run,  // in the order of the nodes
	deleted bool    // from its store
	kept    bool
	nested  []nested // in the order of the nodes and of the calls
}

// Visit is one run of a node.
type Visit struct {
	// Node is the node's number, by which siblings are in order.
	Node int32
	// ID and Kind are the node's.
	ID, Kind string
	// Number counts the node's runs, from 1.
	Number int
	// Step counts the rounds of the scheduler.
	Step int
	// Hidden says that the output is not for clients.
	Hidden bool
}

// Output is what a visit came to.
type Output struct {
	Visit
	// Path are the nodes that the run is nested in, each with a slash after it.
	Path string
	// Part is the output as clients get it.
	Part    stream.Part
	applied bool
}

// nested is a run within a visit that has not finished.
type nested struct {
	node int32
	call int
	run  *Run
}

// Nested notes that a visit begins a run of another flow, its nth. What was known
// of that run is forgotten.
func (r *Run) Nested(node int32, id string, nth int, flow string) *Run {
	if r == nil {
		return nil
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	inner := &Run{work: r.work, root: r.root, flow: flow, path: r.path + id + "/"}
	at, again := slices.BinarySearchFunc(r.nested, nested{node: node, call: nth}, nested.compare)
	if again {
		r.nested[at].run = inner
	} else {
		r.nested = slices.Insert(r.nested, at, nested{node, nth, inner})
	}
	return inner
}

func (n nested) compare(other nested) int {
	if n.node != other.node {
		return int(n.node) - int(other.node)
	}
	return n.call - other.call
}

// Start notes that a node runs.
func (r *Run) Start(v Visit) {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	at := slices.IndexFunc(r.running, func(other Visit) bool { return other.Node >= v.Node })
	if at < 0 {
		at = len(r.running)
	}
	r.running = slices.Insert(r.running, at, v)
}

// Stop notes that a node has ended without an output, and the run goes on. One
// that fails the run stays what runs, for those who ask where it was.
func (r *Run) Stop(node int32) {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	r.stop(node)
}

func (r *Run) stop(node int32) {
	r.running = slices.DeleteFunc(r.running, func(v Visit) bool { return v.Node == node })
}

// Retry notes that nodes were tried again n times.
func (r *Run) Retry(n int) {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	r.root.retries += n
}

// Finish notes what a node returned, which stands for what was nested in it. To
// make a part of it calls the value's methods.
func (r *Run) Finish(v Visit, value any) {
	if r == nil {
		return
	}
	out := Output{Visit: v, Path: r.path}
	if !v.Hidden {
		out.Part = partOf(value)
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	r.stop(v.Node)
	r.nested = slices.DeleteFunc(r.nested, func(n nested) bool { return n.node == v.Node })
	at := len(r.outputs) // siblings may finish in any order
	for at > 0 && r.outputs[at-1].Step == v.Step && r.outputs[at-1].Node > v.Node {
		at--
	}
	r.outputs = slices.Insert(r.outputs, at, out)
}

// Apply notes that a node's last output is in the state: the node has completed.
func (r *Run) Apply(node int32) {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	for i := len(r.outputs) - 1; i >= 0; i-- {
		if o := &r.outputs[i]; o.Node == node {
			o.applied = true
			return
		}
	}
}

// End notes that the run is over, because of the visits that failed: what was not
// applied by now will not be.
func (r *Run) End(failed ...Visit) {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	r.running = failed
	r.outputs = slices.DeleteFunc(r.outputs, func(o Output) bool { return !o.applied })
}

// Delete notes that the run has ended well and is not in its store any more.
func (r *Run) Delete() {
	if r == nil {
		return
	}
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	r.deleted = true
}

// collect adds the outputs for clients. The caller holds the lock.
func (r *Run) collect(to []Output) []Output {
	for _, o := range r.outputs {
		if !o.Hidden {
			to = append(to, o)
		}
	}
	for _, n := range r.nested {
		to = n.run.collect(to)
	}
	return to
}

// partOf is a node's output as clients get it.
func partOf(v any) stream.Part {
	switch v := v.(type) {
	case string:
		return stream.TextPart(v)
	case []byte:
		return stream.FilePart(stream.File{Bytes: v})
	case stream.File:
		return stream.FilePart(v)
	case *stream.File:
		if v != nil {
			return stream.FilePart(*v)
		}
	}
	return stream.DataPart(v)
}
