package errcode

import (
	"reflect"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// maxNodes bounds how many errors one walk visits. It lets a chain of a hundred thousand wraps
// through and stops errors that unwrap to themselves, or to ever new ones, within milliseconds.
const maxNodes = 1 << 17

// walk visits an error tree outermost first, depth first, the order of errors.Is, but it
// survives what user code can do to it: nil entries, cycles, methods that panic.
//
// Its zero value with types set, and pos to the root, is ready. It must not be copied while in use.
type walk struct {
	types *typeCache
	pos   error
	info  *typeInfo // of the error in hand
	last  *typeInfo // of the error in hand, or of the one before
	seen  int
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
		w.last = w.types.info(w.pos, w.last)
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
	timeouter       interface{ Timeout() bool }
	claimer         interface{ Is(target error) bool }
	caster          interface{ As(target any) bool }
)

// Methods of a user's error are only called through errtree, which survives their panics.

// unwrapSingle is err.Unwrap() of an error that wraps one other.
func unwrapSingle(err error) error {
	one, _ := errtree.Unwrap(err)
	return one
}

// unwrapList is err.Unwrap() of an error that wraps several others.
func unwrapList(err error) []error {
	_, many := errtree.Unwrap(err)
	return many
}

// errorText is err.Error(), "" for nil and when the method panics.
func errorText(err error) string { return errtree.Text(err) }

// isTimeout is err.Timeout(), false when there is no such method or it panics.
func isTimeout(err error) bool {
	t, ok := err.(timeouter)
	return ok && errtree.Try(t, timeouter.Timeout)
}

// claims is err.Is(target), false when there is no such method or it panics.
func claims(err, target error) bool {
	t, ok := err.(claimer)
	return ok && errtree.Try(t, func(c claimer) bool { return c.Is(target) })
}

// findPanic returns the first recovered panic in the tree.
func findPanic(err error) *PanicError {
	w := walk{types: &defaultTypes, pos: err}
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
