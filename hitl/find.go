package hitl

import (
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Find returns the interrupt that err carries, however it is wrapped. An error
// that joins an interrupt with a failure is a failure: Find returns nil for
// it, and for an application error (errcode.Error) whose cause is an interrupt,
// since its author said what it is. Of several joined interrupts the first is returned. A panic in an
// error's own methods counts as no interrupt there.
func Find(err error) *Interrupt {
	f := finder{left: errtree.MaxNodes}
	if !f.onlyAsks(err) {
		return nil
	}
	return f.found
}

type finder struct {
	left  int
	found *Interrupt
}

// onlyAsks reports whether every branch of the tree ends in an interrupt.
func (f *finder) onlyAsks(err error) bool {
	for err != nil && f.left > 0 {
		f.left--
		if i, ok := err.(*Interrupt); ok { //nolint:errorlint // each node of the tree is looked at by itself, guarded and bounded
			if f.found == nil {
				f.found = i
			}
			return i != nil
		}
		if _, deliberate := err.(*errcode.Error); deliberate { //nolint:errorlint // see above
			return false
		}
		next, branches := errtree.Unwrap(err)
		if len(branches) > 0 {
			return f.allAsk(branches)
		}
		err = next
	}
	return false
}

func (f *finder) allAsk(branches []error) bool {
	asks := 0
	for _, b := range branches {
		if b == nil {
			continue
		}
		if !f.onlyAsks(b) {
			return false
		}
		asks++
	}
	return asks > 0
}
