package flow

import (
	"slices"

	"github.com/a2aexec/a2aexec/errcode"
)

// leaveStart makes the first frontier.
func (r *run[S]) leaveStart() error {
	r.own()
	r.next = r.tasks[:0:1]
	if err := r.leave(0, false); err != nil {
		return err
	}
	r.front, r.next = r.next, r.tasks[1:1]
	r.rank()
	return nil
}

// advance makes the next frontier from one whose outputs were applied. If a
// route fails, nothing changes, and node is where.
func (r *run[S]) advance() (node int32, err error) {
	if r.hand() {
		return 0, nil
	}
	r.next = r.next[:0]
	ended := r.ended
	var before []bool
	left := false
	defer func() { // not when a route ends the goroutine either
		if !left {
			r.ended, r.waiting = ended, before
		}
	}()
	if len(r.waiting) > 0 {
		before = slices.Clone(r.waiting)
	}
	for i := range r.front {
		t := &r.front[i]
		if t.phase != done {
			continue
		}
		if err := r.leave(t.node, t.tolerant); err != nil {
			return t.node, err
		}
	}
	left = true
	r.front, r.next = r.next, r.front
	r.rank()
	return 0, nil
}

// hand is advance from one node to one other in a flow without joins. It reports
// whether it was that.
func (r *run[S]) hand() bool {
	t := &r.front[0]
	to := r.c.hops[t.node].only
	if len(r.front) > 1 || t.phase != done || to <= 0 || len(r.waiting) > 0 {
		return false
	}
	r.busy = t.node
	*t = task{node: to, tolerant: t.tolerant || r.core.metas[t.node].tolerant}
	r.begin(to)
	r.merged = false
	r.step++
	return true
}

// pick asks a route where to go.
func (r *run[S]) pick(n *node[S]) (to int32, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.at, err = scheduling, recovered(v)
		}
	}()
	r.at = picking
	ref := n.pick(r.state)
	r.at = scheduling
	return r.picked(n, ref)
}

// picked checks what a route answered.
func (r *run[S]) picked(n *node[S], ref Ref) (to int32, err error) {
	known := ref.owner == r.c.owner && ref.at > atNone || ref == END
	if known && slices.Contains(n.routes, ref.at) {
		return ref.at, nil
	}
	return 0, &errcode.RoutingError{Node: n.id, Route: r.routeName(ref, known)}
}

func (r *run[S]) routeName(ref Ref, known bool) string {
	switch {
	case known:
		return r.core.idOf(ref.at)
	case ref == START:
		return startID
	default:
		return ""
	}
}

// leave follows the edges or the route of a node that is done.
func (r *run[S]) leave(node int32, tolerant bool) error {
	n := &r.c.nodes[node]
	r.busy = node
	if n.pick != nil {
		if r.misled != nil {
			return r.misled
		}
		to, err := r.pick(n)
		if err == nil {
			r.arrive(to, tolerant)
		}
		return err
	}
	r.next = slices.Grow(r.next, len(n.edges))
	for _, to := range n.edges {
		r.arrive(to, tolerant || n.tolerant)
	}
	return nil
}

// arrive puts a node into the next frontier, or notes the arrival at a join.
func (r *run[S]) arrive(to int32, tolerant bool) {
	if to < 0 {
		r.ended = true
		return
	}
	if r.core.metas[to].isJoin {
		r.waiting[slices.Index(r.core.joins, to)] = true
		return
	}
	for i := range r.next {
		if t := &r.next[i]; t.node == to {
			t.tolerant = t.tolerant && tolerant
			return
		}
	}
	r.next = append(r.next, task{node: to, tolerant: tolerant})
	r.begin(to)
}

// rank puts the next frontier, which front is now, into order, with the joins
// that nothing can reach any more.
func (r *run[S]) rank() {
	if len(r.waiting) > 0 {
		r.fireJoins()
	}
	byNode := func(a, b task) int { return int(a.node - b.node) }
	if len(r.front) > 1 && !slices.IsSortedFunc(r.front, byNode) {
		slices.SortFunc(r.front, byNode)
	}
	r.merged = false
	r.step++
}

// fireJoins moves the joins that nothing can reach any more into the frontier.
// In a tangle of loops joins may wait for each other; then the first one runs.
func (r *run[S]) fireJoins() {
	live := len(r.front)
	for j, arrived := range r.waiting {
		if arrived && !r.reachable(j, r.front[:live]) {
			r.front = append(r.front, task{node: r.core.joins[j]})
		}
	}
	if first := slices.Index(r.waiting, true); len(r.front) == 0 && first >= 0 {
		r.front = append(r.front, task{node: r.core.joins[first]})
	}
	for _, t := range r.front[live:] {
		r.waiting[slices.Index(r.core.joins, t.node)] = false
		r.begin(t.node)
	}
}

// reachable reports whether a live node can reach join j, or another waiting join
// comes before it. Around a loop each waiting join can reach each other.
func (r *run[S]) reachable(j int, live []task) bool {
	for i := range live {
		if r.core.metas[live[i].node].reaches.has(j) {
			return true
		}
	}
	for k, arrived := range r.waiting {
		if k != j && arrived && r.core.metas[r.core.joins[k]].precedes.has(j) {
			return true
		}
	}
	return false
}
