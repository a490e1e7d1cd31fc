package flow

import (
	"slices"

	"github.com/a2aexec/a2aexec/errcode"
)

// advance makes the next frontier from one whose outputs were applied. If a
// route fails, nothing changes, and node is where.
func (r *run[S]) advance() (node int32, err error) {
	r.next = r.next[:0]
	ended := r.ended
	var before []bool
	if len(r.waiting) > 0 {
		before = slices.Clone(r.waiting)
	}
	for _, node := range r.front {
		if node != 0 && r.nodes[node].known().phase != done { // START has nothing to do
			continue
		}
		if err := r.leave(node); err != nil {
			r.ended, r.waiting = ended, before
			return node, err
		}
	}
	if len(r.waiting) > 0 {
		r.fireJoins()
	}
	if len(r.next) > 1 {
		slices.Sort(r.next)
	}
	r.front, r.next = r.next, r.front
	r.merged = false
	r.step++
	return 0, nil
}

// leave follows the edges or the route of a node that is done.
func (r *run[S]) leave(node int32) error {
	n, tolerant := &r.c.nodes[node], r.nodes[node].known().tolerant
	if n.pick != nil {
		to, err := r.pick(n)
		if err == nil {
			r.arrive(to, tolerant)
		}
		return err
	}
	for _, to := range n.edges {
		r.arrive(to, tolerant || n.tolerant)
	}
	return nil
}

// pick asks a route where to go.
func (r *run[S]) pick(n *node[S]) (to int32, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return r.picked(n, n.pick(r.state))
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
	p := &r.nodes[to]
	if slices.Contains(r.next, to) {
		if !tolerant && p.known().tolerant {
			p.detail().tolerant = false
		}
		return
	}
	r.next = append(r.next, to)
	p.begin(tolerant)
}

// fireJoins moves the joins that nothing can reach any more into the next
// frontier. In a tangle of loops joins may wait for each other; then the first
// one runs.
func (r *run[S]) fireJoins() {
	live := len(r.next)
	for j, arrived := range r.waiting {
		if arrived && !r.reachable(j, r.next[:live]) {
			r.next = append(r.next, r.core.joins[j])
		}
	}
	if first := slices.Index(r.waiting, true); len(r.next) == 0 && first >= 0 {
		r.next = append(r.next, r.core.joins[first])
	}
	for _, node := range r.next[live:] {
		r.waiting[slices.Index(r.core.joins, node)] = false
		r.nodes[node].begin(false)
	}
}

// reachable reports whether a live node can reach join j, or another waiting join
// comes before it. Around a loop each waiting join can reach each other.
func (r *run[S]) reachable(j int, live []int32) bool {
	for _, node := range live {
		if r.core.metas[node].reaches.has(j) {
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
