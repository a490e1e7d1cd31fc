package flow

import "github.com/a2aexec/a2aexec/hitl"

// progress is what a run knows about one node. A node of the frontier is in the
// visit that began last.
type progress struct {
	out      any   // the last output that was applied
	*details       // nil on the plain path
	visit    int32 // that out is of; 0: never completed
	visits   int32 // begun
	tries    int32 // attempts in the visit, 0 on the plain path
	phase    phase
	tolerant bool // a failure of the visit ends only its branch
}

// details are what a visit seldom has.
type details struct {
	fresh   any    // what the visit returned
	made    []byte // fresh as it is stored
	data    []byte // progress.out as it is stored
	err     error
	asks    []*hitl.Interrupt
	rank    int32 // among the failures of siblings, by time
	retries int   // in the visit
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

func (p *progress) detail() *details {
	if p.details == nil {
		p.details = &details{}
	}
	return p.details
}

// detailAll makes the details of several nodes at once.
func (t *trace) detailAll(nodes []int32) {
	stock := make([]details, len(nodes))
	for i, node := range nodes {
		if p := &t.nodes[node]; p.details == nil {
			p.details = &stock[i]
		}
	}
}

// none stands for details nobody needed. It is not written to.
var none details

func (p *progress) known() *details {
	if p.details == nil {
		return &none
	}
	return p.details
}

// begin starts another visit.
func (p *progress) begin(tolerant bool) {
	p.visits++
	p.phase, p.tolerant, p.tries = ready, tolerant, 0
	if p.details != nil {
		*p.details = details{data: p.data}
	}
}

// complete notes that a visit's output was applied.
func (t *trace) complete(node int32) {
	p := &t.nodes[node]
	if p.visit == 0 {
		t.order = append(t.order, node)
	} else {
		t.revised = true
	}
	p.out, p.data, p.visit = p.fresh, p.made, p.visits
	p.fresh, p.made = nil, nil
}

// count adds the retries of a visit to those of the run.
func (t *trace) count(node int32) {
	if d := t.nodes[node].details; d != nil {
		t.retries += d.retries
		d.retries = 0
	}
}
