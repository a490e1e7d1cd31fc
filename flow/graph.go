package flow

import (
	"context"
	"fmt"
)

// Graph is a flow under construction, see [New]. It is for one goroutine. Its
// methods never fail: [Graph.Compile] reports every fault at once.
type Graph[S any] struct {
	owner  *owner
	name   string
	nodes  []*node[S] // nodes[0] is START
	clone  func(S) S
	faults []string // of what cannot be kept until Compile
}

// owner tells the graphs apart that handles belong to.
type owner struct{ _ byte }

// Ref is a handle on a node, returned by [Node]. The zero value is no node.
type Ref struct {
	owner *owner
	at    int32 // the node's number from 1, or one of those below
}

const (
	atNone  = 0
	atStart = -1
	atEnd   = -2
)

// The two ends of every graph. They are not nodes and do not run.
var (
	// START is where a run begins. Several edges from it begin side by side.
	START = Ref{at: atStart}
	// END is where a run's branches end. It needs no join.
	END = Ref{at: atEnd}
)

// New begins a graph over the state S. The name identifies the flow to clients
// and in ids; it must not be empty nor contain a slash.
func New[S any](name string) *Graph[S] {
	start := &node[S]{meta: meta{id: startID, kind: startKind, limits: noLimits}}
	return &Graph[S]{owner: &owner{}, name: name, nodes: []*node[S]{start}}
}

const (
	startID   = "START"
	endID     = "END"
	startKind = "start"
)

// Edge leads from a node to others, unconditionally. Several targets, in one
// call or more, are a fan-out: they run side by side.
func (g *Graph[S]) Edge(from Ref, to ...Ref) {
	n := g.from("edge", from)
	if len(to) == 0 {
		g.fault("edge from %s has no target", g.label(from))
	}
	for _, t := range to {
		if n != nil && g.target("edge", from, t) {
			n.edges = append(n.edges, t.at)
		}
	}
}

// Route leads from a node to the one target that pick chooses for the state
// after the node's output was applied. pick returns one of the targets; any
// other answer, and a panic, ends the run as an [*errcode.RoutingError]. It
// should be a pure function: it runs again when a run is resumed there. Ask a
// model in a node, and route by its output.
//
// A node has one route or edges, not both.
func (g *Graph[S]) Route(from Ref, pick func(S) Ref, targets ...Ref) {
	n := g.from("route", from)
	if len(targets) == 0 {
		g.fault("route from %s has no target", g.label(from))
	}
	if pick == nil {
		g.fault("route from %s has no function", g.label(from))
	}
	if n == nil {
		return
	}
	if n.pick != nil {
		g.fault("%s has more than one route", g.label(from))
	}
	n.pick = pick
	for _, t := range targets {
		if g.target("route", from, t) {
			n.routes = append(n.routes, t.at)
		}
	}
}

// Join leads from several nodes to one that waits for them: it runs once, when
// an input has arrived and no running branch can still reach it. A branch that
// a route led elsewhere is not waited for.
func (g *Graph[S]) Join(node Ref, inputs ...Ref) {
	if len(inputs) == 0 {
		g.fault("join %s has no input", g.label(node))
	}
	if node.at > atNone && g.owns(node) {
		g.nodes[node.at].isJoin = true
	} else {
		g.fault("join of %s, which is not a node of this graph", g.label(node))
	}
	for _, in := range inputs {
		g.Edge(in, node)
	}
}

// ContinueOnError lets the branches that a node's edges begin fail one by one:
// such a failure cancels nobody, ends only its branch, and is listed by
// [Result.Failures]. It counts up to the next join. If no branch of the run
// reaches END, the run fails by the first failure of the last round. From a node
// with a route it is a fault. Default: the first failure
// cancels the siblings and fails the run.
func (g *Graph[S]) ContinueOnError(from Ref) {
	if n := g.from("continue on error", from); n != nil {
		n.tolerant = true
	}
}

// Clone sets the function that copies a state whose parts are shared by plain
// assignment, such as maps. It is called for every attempt of a node and before
// outputs are applied, maybe at once for siblings. Default: plain assignment.
func (g *Graph[S]) Clone(fn func(S) S) { g.clone = fn }

func (g *Graph[S]) fault(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

func (g *Graph[S]) owns(r Ref) bool { return r.owner == g.owner }

// from finds the node that something leads from, nil after noting a fault.
func (g *Graph[S]) from(what string, r Ref) *node[S] {
	switch {
	case r.at == atStart:
		return g.nodes[0]
	case r.at == atEnd:
		g.fault("%s from END", what)
	case r.at == atNone || !g.owns(r):
		g.fault("%s from %s, which is not a node of this graph", what, g.label(r))
	default:
		return g.nodes[r.at]
	}
	return nil
}

// target checks a target and notes a fault if it is none.
func (g *Graph[S]) target(what string, from, to Ref) bool {
	switch {
	case to.at == atEnd:
		return true
	case to.at == atStart:
		g.fault("%s from %s to START", what, g.label(from))
	case to.at == atNone || !g.owns(to):
		g.fault("%s from %s to an unknown target: %s is not a node of this graph", what, g.label(from), g.label(to))
	default:
		return true
	}
	return false
}

// label names a handle in a fault.
func (g *Graph[S]) label(r Ref) string {
	switch {
	case r.at == atStart:
		return startID
	case r.at == atEnd:
		return endID
	case r.at == atNone:
		return "the zero Ref"
	case !g.owns(r):
		return "another graph's Ref"
	default:
		return fmt.Sprintf("%q", g.nodes[r.at].id)
	}
}

// Func is what a node does. It reads the state, a copy of its own, and returns
// an output. A value returned together with an error is kept, too.
type Func[S, O any] = func(ctx context.Context, state S) (O, error)
