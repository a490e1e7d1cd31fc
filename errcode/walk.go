package errcode

import "reflect"

// maxNodes bounds how many errors one walk visits. It lets a chain of a hundred thousand wraps
// through and stops errors that unwrap to themselves, or to ever new ones, within milliseconds.
const maxNodes = 1 << 17

// walk visits an error tree outermost first, depth first, the order of errors.Is, but it
// survives what user code can do to it: nil entries, cycles, methods that panic.
//
// Its zero value with pos set to the root is ready. It must not be copied while in use.
type walk struct {
	pos  error
	info *typeInfo // of the error in hand
	last *typeInfo // of the error in hand, or of the one before
	seen int
	// pending are the siblings still to visit, innermost last. Almost every error is a chain,
	// so the slice stays empty.
	pending [][]error
	// from is the length pending had when the error in hand was taken from it, whereas a child
	// of the error before has a number beyond any level. So the subtree of an error seen at level n was left
	// when from <= n.
	from int
}

// next moves to the next error that has something to say: it passes over plain wrappers. ok is
// false at the end, or when the tree is too large.
func (w *walk) next() (err error, ok bool) {
	w.from = maxNodes + 1
	if w.info != nil {
		w.descend()
	}
	for {
		for w.pos == nil {
			if !w.sibling() {
				return nil, false
			}
		}
		if w.seen >= maxNodes {
			return nil, false
		}
		w.seen++
		w.last = infoOf(w.pos, w.last)
		if !w.last.wrapper {
			w.info = w.last
			return w.pos, true
		}
		w.pass()
	}
}

// pass goes down a chain of errors of one type that only wrap. It costs next to nothing for each
// of them, and long chains are made of them.
func (w *walk) pass() {
	defer func() {
		if recover() != nil {
			w.pos = nil
		}
	}()
	for ; w.seen < maxNodes && reflect.TypeOf(w.pos) == w.last.typ; w.seen++ {
		u, ok := w.pos.(singleUnwrapper)
		if !ok {
			return
		}
		w.pos = u.Unwrap()
	}
}

// level tells in how many lists of siblings the error in hand lies.
func (w *walk) level() int { return len(w.pending) }

// cut reports whether the walk ended before the tree did.
func (w *walk) cut() bool { return w.seen >= maxNodes }

// descend moves from the error in hand to its first child.
func (w *walk) descend() {
	err, info := w.pos, w.info
	w.pos, w.info = nil, nil
	if info.unwrap == unwrapNone || info.isNil(err) {
		return
	}
	if info.unwrap == unwrapOne {
		w.pos = unwrapSingle(err)
		return
	}
	if children := unwrapList(err); len(children) > 0 {
		w.pending = append(w.pending, children)
	}
}

// sibling moves to the next error that waits in pending.
func (w *walk) sibling() bool {
	for n := len(w.pending); n > 0; n-- {
		rest := w.pending[n-1]
		if len(rest) == 0 {
			w.pending = w.pending[:n-1]
			continue
		}
		w.pos, w.pending[n-1] = rest[0], rest[1:]
		w.from = n
		return true
	}
	return false
}

type unwrapKind uint8

const (
	unwrapNone unwrapKind = iota
	unwrapOne
	unwrapMany
)

type (
	singleUnwrapper interface{ Unwrap() error }
	listUnwrapper   interface{ Unwrap() []error }
)

// The functions below are the only places that call methods of a user's error.

func unwrapSingle(err error) (child error) {
	defer func() {
		if recover() != nil {
			child = nil
		}
	}()
	if u, ok := err.(singleUnwrapper); ok {
		return u.Unwrap()
	}
	return nil
}

func unwrapList(err error) (children []error) {
	defer func() {
		if recover() != nil {
			children = nil
		}
	}()
	if u, ok := err.(listUnwrapper); ok {
		return u.Unwrap()
	}
	return nil
}

// errorText is err.Error(), "" for nil and when the method panics.
func errorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	if err == nil {
		return ""
	}
	return err.Error()
}

// isTimeout is err.Timeout(), false when there is no such method or it panics.
func isTimeout(err error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

// claims is err.Is(target), false when there is no such method or it panics.
func claims(err, target error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	t, ok := err.(interface{ Is(error) bool })
	return ok && t.Is(target)
}

// endless reports whether the tree has no end within bounds. User rules are kept away from such
// an error, since errors.As would never return from it.
func endless(err error) bool {
	w := walk{pos: err}
	for {
		if _, ok := w.next(); !ok {
			return w.cut()
		}
	}
}

// findPanic returns the first recovered panic in the tree.
func findPanic(err error) *PanicError {
	w := walk{pos: err}
	for {
		e, ok := w.next()
		if !ok {
			return nil
		}
		if p, ok := e.(*PanicError); ok && p != nil { //nolint:errorlint // one step of a walk
			return p
		}
	}
}
