package flow

import "github.com/a2aexec/a2aexec/hitl"

// progress is what a run knows about one node. A node of the frontier is in the
// visit that began last. There is one for each node in every run, so it is small.
type progress struct {
	first  frame // the context of the first visit
	cell   any   // the last output that was applied, or *details around it
	visit  int32 // that the output is of; 0: never completed
	visits int32 // begun
}

// details are what the plain path does not need to know about a node.
type details struct {
	out      any    // the last output that was applied
	data     []byte // out as it is stored
	fresh    any    // what the visit returned
	made     []byte // fresh as it is stored
	err      error
	asks     []*hitl.Interrupt
	retries  int   // in the visit
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

// output is the last one that was applied.
func (p *progress) output() any {
	if d, ok := p.cell.(*details); ok {
		return d.out
	}
	return p.cell
}

// detail are the node's details, to be written.
func (p *progress) detail() *details {
	d, ok := p.cell.(*details)
	if !ok {
		d = &details{out: p.cell}
		p.cell = d
	}
	return d
}

// detailAll makes the details of several nodes at once.
func (t *trace) detailAll(nodes []int32) {
	stock := make([]details, len(nodes))
	for i, node := range nodes {
		if p := &t.nodes[node]; p.isPlain() {
			stock[i].out = p.cell
			p.cell = &stock[i]
		}
	}
}

// isPlain reports whether the node has no details.
func (p *progress) isPlain() bool {
	_, detailed := p.cell.(*details)
	return !detailed
}

// none stands for details nobody needed. It is not written to.
var none details

// known are the node's details, to be read, all but out.
func (p *progress) known() *details {
	if d, ok := p.cell.(*details); ok {
		return d
	}
	return &none
}

// begin starts another visit.
func (p *progress) begin(tolerant bool) {
	p.visits++
	if tolerant || !p.isPlain() {
		p.detail().begin(tolerant)
	}
}

// begin forgets the visit before. Most often there is little to be forgotten,
// and looking is cheaper than writing.
func (d *details) begin(tolerant bool) {
	if d.err != nil || d.asks != nil || d.fresh != nil || d.made != nil {
		d.err, d.asks, d.fresh, d.made = nil, nil, nil, nil
	}
	d.retries, d.tries, d.rank, d.phase, d.tolerant = 0, 0, 0, ready, tolerant
}

// complete notes that a visit's output was applied.
func (t *trace) complete(node int32) {
	p := &t.nodes[node]
	if p.visit == 0 {
		t.order = append(t.order, node)
	} else {
		t.revised = true
	}
	d := p.detail()
	d.out, d.data, p.visit = d.fresh, d.made, p.visits
	d.fresh, d.made = nil, nil
}

// count adds the retries of a visit to those of the run.
func (t *trace) count(node int32) {
	if d := t.nodes[node].known(); d.retries > 0 {
		t.retries += d.retries
		d.retries = 0
	}
}
