package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Mermaid draws the graph as a Mermaid flowchart. Nodes that res says are
// completed and that err says have failed are marked; the zero Result and nil
// draw the bare graph; of an error that was nested in another flow's (see [Nested])
// what it says of this flow counts. Nodes and edges are sorted, labels escaped: the same graph
// is always the same text.
func (c *Compiled[S]) Mermaid(res Result[S], err error) string {
	d := c.drawing(res.trace, err)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, n := range d.nodes {
		open, end := `["`, `"]`
		switch {
		case n.terminal:
			open, end = `(["`, `"])`
		case n.join:
			open, end = `{{"`, `"}}`
		}
		fmt.Fprintf(&b, "  %s%s%s%s", n.name, open, n.label("<br/>", mermaidText), end)
		if n.mark != "" {
			b.WriteString(":::" + n.mark)
		}
		b.WriteByte('\n')
	}
	for _, e := range d.edges {
		arrow := "-->"
		if e.route {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", e.from, arrow, e.to)
	}
	b.WriteString("  classDef completed fill:#d5f5d5,stroke:#2e7d32\n")
	b.WriteString("  classDef failed fill:#f8d5d5,stroke:#c62828\n")
	return b.String()
}

// DOT draws the graph in the language of Graphviz, as [Compiled.Mermaid] does.
func (c *Compiled[S]) DOT(res Result[S], err error) string {
	d := c.drawing(res.trace, err)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotText(c.name))
	for _, n := range d.nodes {
		shape := "box"
		switch {
		case n.terminal:
			shape = "oval"
		case n.join:
			shape = "hexagon"
		}
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s", n.name, dotText(n.label("\n", nil)), shape)
		switch n.mark {
		case markCompleted:
			b.WriteString(`, style=filled, fillcolor="#d5f5d5", color="#2e7d32"`)
		case markFailed:
			b.WriteString(`, style=filled, fillcolor="#f8d5d5", color="#c62828"`)
		}
		b.WriteString("];\n")
	}
	for _, e := range d.edges {
		fmt.Fprintf(&b, "  %s -> %s", e.from, e.to)
		if e.route {
			b.WriteString(" [style=dashed]")
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

const (
	markCompleted = "completed"
	markFailed    = "failed"
)

type drawing struct {
	nodes []drawnNode
	edges []drawnEdge
}

type drawnNode struct {
	name, id, kind, mark string
	terminal, join       bool
}

func (n drawnNode) label(newline string, escape func(string) string) string {
	if escape == nil {
		escape = func(s string) string { return s }
	}
	if n.terminal {
		return n.id
	}
	return escape(n.id) + newline + escape(n.kind)
}

type drawnEdge struct {
	from, to string
	route    bool
}

// drawing collects what is drawn, sorted by id: START first, END last.
func (c *core) drawing(t *trace, err error) drawing {
	order := make([]int32, 0, len(c.metas))
	for i := range c.metas[1:] {
		order = append(order, int32(i+1)) //nolint:gosec // a graph is small
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(c.metas[a].id, c.metas[b].id) })
	names := map[int32]string{0: startID, atEnd: endID}
	d := drawing{nodes: []drawnNode{{name: startID, id: startID, terminal: true}}}
	marks := c.marksOf(t, err)
	for i, at := range order {
		m := c.metas[at]
		names[at] = fmt.Sprintf("n%d", i+1)
		d.nodes = append(d.nodes, drawnNode{name: names[at], id: m.id, kind: m.kind, mark: marks[m.id], join: m.isJoin})
	}
	d.nodes = append(d.nodes, drawnNode{name: endID, id: endID, terminal: true})
	for _, at := range append([]int32{0}, order...) {
		d.edges = append(d.edges, c.drawnEdges(at, names)...)
	}
	return d
}

func (c *core) drawnEdges(at int32, names map[int32]string) []drawnEdge {
	var edges []drawnEdge
	m := c.metas[at]
	for _, t := range slices.Concat(m.edges, m.routes) {
		edges = append(edges, drawnEdge{from: names[at], to: names[t], route: len(m.routes) > 0})
	}
	rank := func(e drawnEdge) string { // n2 before n10, END last
		return fmt.Sprintf("%t %d %s", e.to == endID, len(e.to), e.to)
	}
	slices.SortFunc(edges, func(a, b drawnEdge) int { return strings.Compare(rank(a), rank(b)) })
	return edges
}

func (c *core) marksOf(t *trace, err error) map[string]string {
	marks := map[string]string{}
	if t != nil {
		for _, id := range t.completed() {
			marks[id] = markCompleted
		}
		for _, f := range t.failures {
			marks[f.Node] = markFailed
		}
	}
	e := c.ownError(err)
	if e == nil {
		return marks
	}
	for _, id := range e.Completed {
		marks[id] = markCompleted
	}
	for _, s := range e.Siblings {
		marks[s.Node] = markFailed
	}
	marks[e.Node] = markFailed
	return marks
}

// ownError is the error of a run of this flow among err, nil if there is none.
func (c *core) ownError(err error) (own *NodeError) {
	errtree.Walk(err, func(e error) bool {
		if n, ok := e.(*NodeError); ok && n != nil && n.Flow == c.name { //nolint:errorlint // one node of a walk
			own = n
		}
		return own == nil
	})
	return own
}

var mermaidEscape = strings.NewReplacer(
	"&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "`", "#96;", "\\", "#92;", "%", "#37;",
	"\n", " ", "\r", " ")

func mermaidText(s string) string { return mermaidEscape.Replace(s) }

var dotEscape = strings.NewReplacer("&", "&amp;", `\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "")

func dotText(s string) string { return `"` + dotEscape.Replace(s) + `"` }
