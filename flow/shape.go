package flow

import (
	"fmt"
	"slices"
	"strings"
)

// targets are all nodes that m leads to, END left out.
func (m *meta) targets() []int32 {
	return slices.DeleteFunc(slices.Concat(m.edges, m.routes), func(t int32) bool { return t < 0 })
}

// checkShape checks how the nodes hang together.
func (c *core) checkShape() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	start := c.metas[0]
	if len(start.edges)+len(start.routes) == 0 {
		fault("nothing leads from START")
	}
	for _, m := range c.metas {
		if len(m.edges) > 0 && len(m.routes) > 0 {
			fault("%q has both edges and a route", m.id)
		}
		if m.tolerant && len(m.routes) > 0 {
			fault("continue on error from %q, which has a route and no branches", m.id)
		}
		for _, twice := range repeated(m.edges) {
			fault("edge from %q to %q is there twice", m.id, c.idOf(twice))
		}
		for _, twice := range repeated(m.routes) {
			fault("route from %q names %q twice", m.id, c.idOf(twice))
		}
	}
	reached, ending := c.reachable(), c.ending()
	for i, m := range c.metas[1:] {
		if !reached[i+1] {
			fault("node %q cannot be reached from START", m.id)
		}
		if !ending[i+1] {
			fault("node %q has no path to END", m.id)
		}
	}
	for _, cycle := range c.unconditionalCycles() {
		fault("unconditional cycle: %s", strings.Join(cycle, " → "))
	}
	for _, f := range c.undeclaredFanIns() {
		fault("branches that begin at %q meet at %q, which is not a join", f[0], f[1])
	}
	return faults
}

func (c *core) idOf(at int32) string {
	if at < 0 {
		return endID
	}
	return c.metas[at].id
}

// repeated lists what s has more than once.
func repeated(s []int32) []int32 {
	var twice []int32
	for i, v := range s {
		if slices.Contains(s[:i], v) && !slices.Contains(twice, v) {
			twice = append(twice, v)
		}
	}
	return twice
}

// reachable marks what can be reached from START.
func (c *core) reachable() []bool {
	seen := make([]bool, len(c.metas))
	seen[0] = true
	for todo := []int32{0}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, t := range c.metas[at].targets() {
			if !seen[t] {
				seen[t] = true
				todo = append(todo, t)
			}
		}
	}
	return seen
}

// ending marks the nodes from which END can be reached.
func (c *core) ending() []bool {
	ends := make([]bool, len(c.metas))
	from := make([][]int32, len(c.metas))
	var todo []int32
	for i, m := range c.metas {
		at := int32(i) //nolint:gosec // a graph is small
		for _, t := range m.targets() {
			from[t] = append(from[t], at)
		}
		if slices.Contains(m.edges, atEnd) || slices.Contains(m.routes, atEnd) {
			ends[i], todo = true, append(todo, at)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, f := range from[at] {
			if !ends[f] {
				ends[f], todo = true, append(todo, f)
			}
		}
	}
	return ends
}

// unconditionalCycles lists cycles that no route can leave, each once.
func (c *core) unconditionalCycles() [][]string {
	const (
		unseen = iota
		open
		closed
	)
	var cycles [][]string
	mark := make([]int, len(c.metas))
	var path []int32
	var visit func(at int32)
	visit = func(at int32) {
		mark[at] = open
		path = append(path, at)
		for _, t := range c.metas[at].edges {
			switch {
			case t < 0 || mark[t] == closed:
			case mark[t] == unseen:
				visit(t)
			default:
				var ids []string
				for _, p := range append(slices.Clone(path[slices.Index(path, t):]), t) {
					ids = append(ids, c.metas[p].id)
				}
				cycles = append(cycles, ids)
			}
		}
		path = path[:len(path)-1]
		mark[at] = closed
	}
	for i := range c.metas {
		if mark[i] == unseen {
			visit(int32(i)) //nolint:gosec // a graph is small
		}
	}
	return cycles
}
