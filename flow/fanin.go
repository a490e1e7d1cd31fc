package flow

import "slices"

// undeclaredFanIns lists, as pairs of ids, the forks and the nodes that are not
// joins where two of a fork's branches meet first. Two branches meet first at
// a node when the fork is its immediate dominator and it has several ways in:
// any node on all the ways would come in between.
func (c *core) undeclaredFanIns() [][2]string {
	var found [][2]string
	seen := map[int32]bool{}
	meeting := c.meetings()
	for fork, m := range c.metas {
		if len(m.edges) < 2 || len(meeting) == 0 {
			continue
		}
		d := c.dominators(int32(fork)) //nolint:gosec // a graph is small
		for _, node := range meeting {
			if !seen[node] && d.meets(node) {
				seen[node] = true
				found = append(found, [2]string{m.id, c.metas[node].id})
			}
		}
	}
	return found
}

// meetings are the nodes that are not joins and have several ways in.
func (c *core) meetings() []int32 {
	ways := make([]int, len(c.metas))
	for _, m := range c.metas {
		for _, t := range m.targets() {
			ways[t]++
		}
	}
	var found []int32
	for i, m := range c.metas {
		if ways[i] > 1 && !m.isJoin {
			found = append(found, int32(i)) //nolint:gosec // a graph is small
		}
	}
	return found
}

// dominance is the dominator tree of what can be reached from root.
type dominance struct {
	root  int32
	order []int // position in reverse postorder, -1 if not reached
	idom  []int32
	preds [][]int32
	post  []int32 // what is reached, in postorder
}

func (c *core) dominators(root int32) *dominance {
	d := &dominance{
		root: root, order: make([]int, len(c.metas)),
		idom: make([]int32, len(c.metas)), preds: make([][]int32, len(c.metas)),
	}
	for i := range d.order {
		d.order[i], d.idom[i] = -1, -1
	}
	d.post = d.walk(c, root, nil)
	post := slices.Clone(d.post)
	slices.Reverse(post)
	for i, n := range post {
		d.order[n] = i
	}
	d.idom[root] = root
	for changed := true; changed; {
		changed = false
		for _, n := range post[1:] {
			if best := d.nearest(n); best != d.idom[n] {
				d.idom[n], changed = best, true
			}
		}
	}
	return d
}

// walk visits what can be reached from at, notes who leads where, and returns
// the postorder. Ways back to the root do not count.
func (d *dominance) walk(c *core, at int32, post []int32) []int32 {
	d.order[at] = 0
	for _, t := range c.metas[at].targets() {
		if t == d.root {
			continue
		}
		if !slices.Contains(d.preds[t], at) {
			d.preds[t] = append(d.preds[t], at)
		}
		if d.order[t] < 0 {
			post = d.walk(c, t, post)
		}
	}
	return append(post, at)
}

// nearest is the common dominator of the known ways into n.
func (d *dominance) nearest(n int32) int32 {
	best := int32(-1)
	for _, p := range d.preds[n] {
		switch {
		case d.idom[p] < 0:
		case best < 0:
			best = p
		default:
			best = d.common(best, p)
		}
	}
	return best
}

func (d *dominance) common(a, b int32) int32 {
	for a != b {
		for d.order[a] > d.order[b] {
			a = d.idom[a]
		}
		for d.order[b] > d.order[a] {
			b = d.idom[b]
		}
	}
	return a
}

// meets reports whether branches from the root meet first at n. A way in that
// comes from n itself is a loop, not a branch.
func (d *dominance) meets(n int32) bool {
	if n == d.root || d.order[n] < 0 || d.idom[n] != d.root {
		return false
	}
	ways := 0
	for _, p := range d.preds[n] {
		if !d.dominates(n, p) {
			ways++
		}
	}
	return ways > 1
}

func (d *dominance) dominates(n, p int32) bool {
	for p != n && p != d.root {
		p = d.idom[p]
	}
	return p == n
}

// domTree answers for any two nodes whether one dominates the other: if its
// subtree has the other's number.
type domTree struct{ first, last []int32 }

// tree numbers the nodes by their place in the dominator tree. In reverse
// postorder each comes after what dominates it.
func (d *dominance) tree() domTree {
	n := len(d.idom)
	size := make([]int32, n)
	for _, at := range d.post { // what it dominates came before
		size[at]++
		if at != d.root {
			size[d.idom[at]] += size[at]
		}
	}
	t := domTree{make([]int32, n), make([]int32, n)}
	free := make([]int32, n) // the next number in a subtree
	for _, at := range slices.Backward(d.post) {
		if at != d.root {
			up := d.idom[at]
			t.first[at] = free[up]
			free[up] += size[at]
		}
		t.last[at] = t.first[at] + size[at]
		free[at] = t.first[at] + 1
	}
	return t
}

func (t domTree) has(above, below int32) bool {
	return t.first[above] <= t.first[below] && t.first[below] < t.last[above]
}
