package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Compiled is a graph that can run. It never changes; any number of runs may
// share it at once.
type Compiled[S any] struct {
	core
	nodes []node[S] // nodes[0] is START
	hops  []hop[S]  // by node
	owner *owner
	clone func(S) S
	cfg   config // defaults for the runs
}

// core is all of a compiled graph that does not depend on S.
type core struct {
	name  string
	hash  string
	head  []byte // what all checkpoints begin with
	state string // the state's type
	metas []*meta
	joins []int32 // the nodes that are joins, in order

	cyclic bool // a node may run twice
}

// Compile checks the graph and makes it runnable. Later changes to g do not
// matter to it. The options are defaults for every run of the flow.
//
// The error is a [*GraphError] with all faults: duplicate, reserved, empty or
// malformed ids, empty kinds, missing functions, unknown targets, doubled
// edges, nothing at START, unreachable nodes, nodes without a path to END,
// unconditional cycles, nodes where parallel branches meet without a join, and
// bad options.
func (g *Graph[S]) Compile(opts ...RunOption) (*Compiled[S], error) {
	c := &Compiled[S]{owner: g.owner, clone: g.clone, nodes: make([]node[S], len(g.nodes))}
	c.name, c.state = g.name, typeName[S]()
	for i, n := range g.nodes {
		c.nodes[i] = *n
		m := &c.nodes[i].meta
		m.edges, m.routes = slices.Clone(m.edges), slices.Clone(m.routes)
		id, _ := json.Marshal(m.id)
		m.entry = append([]byte(`{"node":`), id...)
		c.metas = append(c.metas, m)
	}
	faults := slices.Concat(g.checkNodes(), g.faults, c.checkShape())
	faults = append(faults, c.cfg.configure(opts)...)
	if len(faults) > 0 {
		return nil, &GraphError{Flow: g.name, Faults: faults}
	}
	c.link()
	c.hash = c.fingerprint()
	h := writer{}
	h.text(`{"version":1,"flow":`, c.name)
	h.text(`,"graph":`, c.hash)
	c.head = h.buf
	for i := range c.nodes {
		c.hops = append(c.hops, c.hop(&c.nodes[i]))
	}
	return c, nil
}

// Name is the flow's name.
func (c *Compiled[S]) Name() string { return c.name }

// GraphError lists all that is wrong with a graph.
type GraphError struct {
	// Flow is the graph's name.
	Flow string
	// Faults has one sentence for each fault, always in the same order.
	Faults []string
}

func (e *GraphError) Error() string {
	return fmt.Sprintf("compile flow %q: %s", e.Flow, strings.Join(e.Faults, "; "))
}

// checkNodes checks each node by itself.
func (g *Graph[S]) checkNodes() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if why := badName(g.name); why != "" {
		fault("the flow's name %q %s", g.name, why)
	}
	seen := map[string]bool{}
	for _, n := range g.nodes[1:] {
		switch why := badName(n.id); {
		case why != "":
			fault("node id %q %s", n.id, why)
		case n.id == startID || n.id == endID:
			fault("node id %q is reserved", n.id)
		case seen[n.id]:
			fault("node id %q is used twice", n.id)
		}
		seen[n.id] = true
		if n.kind == "" {
			fault("node %q has no kind", n.id)
		}
		if n.call == nil {
			fault("node %q has no function", n.id)
		}
		if n.apply == nil {
			fault("node %q has nothing that applies its output", n.id)
		}
		for _, f := range n.faults {
			fault("node %q: %s", n.id, f)
		}
	}
	return faults
}

// badName says what is wrong with an id, "" if nothing is.
func badName(s string) string {
	if s == "" {
		return "is empty"
	}
	for _, r := range s {
		if r == '/' || r < ' ' || r == 0x7f || r == '\uFFFD' {
			return "contains a slash or a character that cannot be printed"
		}
	}
	return ""
}

// fingerprint is the same for graphs among which a run may be continued.
func (c *core) fingerprint() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]string{c.name, c.state}) // a hash takes everything
	for _, m := range c.metas {
		_ = json.NewEncoder(h).Encode([]any{m.id, m.kind, m.output, m.isJoin, m.tolerant, m.edges, m.routes})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func typeName[T any]() string { return reflect.TypeFor[T]().String() }
