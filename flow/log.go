package flow

import "sync/atomic"

// frame is one visit of a node: its context, and its output once that was
// applied. There is one for each visit, so it is small.
type frame struct {
	*base
	out   any // or unfinished
	node  int32
	visit int32 // negative once the visit is over; by atomic access then
}

// unfinished is the output of a visit that has none, unless it never ran.
var unfinished any = new(byte)

// close ends the visit: nothing more can be asked or caused in its name.
func (f *frame) close() { atomic.StoreInt32(&f.visit, -f.number()) }

func (f *frame) closed() bool { return atomic.LoadInt32(&f.visit) < 0 }

// number is the visit's, over or not.
func (f *frame) number() int32 {
	n := atomic.LoadInt32(&f.visit)
	return max(n, -n)
}

// visitLog has the visits of a run in the order of their turn, which is that in
// which their outputs are applied. A frame never moves, since it is a context.
type visitLog struct {
	last  []frame // of the room or of the last page
	first *page   // after the room
	tail  *page
	room  [10]frame // enough for a small graph
}

// page has more frames. Its size is one that the allocator has.
type page struct {
	next   *page
	frames [31]frame
}

// another is a new frame, to be filled in.
func (l *visitLog) another() *frame {
	n := len(l.last)
	if n == cap(l.last) {
		n = l.grow()
	}
	l.last = l.last[:n+1]
	return &l.last[n]
}

// grow makes room for more frames; none is in use yet. It is seldom called, and
// would slow down those who call it if it were a part of them.
//
//go:noinline
func (l *visitLog) grow() int { //nolint:unparam // another is simple enough to become a part of its callers so
	if l.last == nil {
		l.last = l.room[:0]
		return 0
	}
	p := &page{}
	if l.first == nil {
		l.first = p
	} else {
		l.tail.next = p
	}
	l.tail, l.last = p, p.frames[:0]
	return 0
}

// unfinished is the last visit, which has failed.
func (l *visitLog) unfinished() *frame {
	f := &l.last[len(l.last)-1]
	f.out = unfinished
	return f
}

// completed calls yield for each visit that has an output.
func (l *visitLog) completed(yield func(*frame) bool) {
	each := func(frames []frame) bool {
		for i := range frames {
			if f := &frames[i]; f.out != unfinished && !yield(f) {
				return false
			}
		}
		return true
	}
	full := l.room[:]
	for p := l.first; p != nil; p = p.next {
		if !each(full) {
			return
		}
		full = p.frames[:]
	}
	each(l.last)
}
