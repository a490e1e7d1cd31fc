package flow

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }

// union adds all of o and reports whether that changed b.
func (b bitset) union(o bitset) bool {
	changed := false
	for i, w := range o {
		changed = changed || b[i]|w != b[i]
		b[i] |= w
	}
	return changed
}
