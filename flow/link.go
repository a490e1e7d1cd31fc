package flow

// link computes what the scheduler looks up while it runs: which joins can
// still be reached from each node, by any way and without going back in a loop.
func (c *core) link() {
	c.cyclic = c.hasCycle()
	number := map[int32]int{}
	for i, m := range c.metas {
		if m.isJoin {
			number[int32(i)] = len(c.joins)     //nolint:gosec // a graph is small
			c.joins = append(c.joins, int32(i)) //nolint:gosec // a graph is small
		}
	}
	if len(c.joins) == 0 {
		return
	}
	for _, m := range c.metas {
		m.reaches, m.precedes = newBitset(len(c.joins)), newBitset(len(c.joins))
	}
	d := c.dominators(0)
	over := d.tree()
	c.spread(d.post, number, func(m *meta) bitset { return m.reaches }, func(_, _ int32) bool { return true })
	c.spread(d.post, number, func(m *meta) bitset { return m.precedes }, func(from, to int32) bool { return !over.has(to, from) })
}

// hasCycle reports whether a node can be reached from itself: whether nodes are
// left when those that nothing leads to any more are taken away, one by one.
func (c *core) hasCycle() bool {
	ways := make([]int, len(c.metas))
	for _, m := range c.metas {
		for _, t := range m.targets() {
			ways[t]++
		}
	}
	taken := 0
	for todo := []int32{0}; len(todo) > 0; taken++ { // all can be reached from START
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, t := range c.metas[at].targets() {
			if ways[t]--; ways[t] == 0 {
				todo = append(todo, t)
			}
		}
	}
	return taken < len(c.metas)
}

// spread adds to the set of each node the joins that it leads to over edges
// that count, until nothing changes. In postorder that is soon: a node comes after
// those it leads to, but for the ways back.
func (c *core) spread(post []int32, number map[int32]int, set func(*meta) bitset, counts func(from, to int32) bool) {
	for changed := true; changed; {
		changed = false
		for _, i := range post {
			m := c.metas[i]
			for _, t := range m.targets() {
				if !counts(i, t) {
					continue
				}
				changed = set(m).union(set(c.metas[t])) || changed
				if j, ok := number[t]; ok && !set(m).has(j) {
					set(m).add(j)
					changed = true
				}
			}
		}
	}
}
