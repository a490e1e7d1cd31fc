package tool

import (
	"context"
	"sync"

	"github.com/a2aexec/a2aexec/internal/runscope"
)

// WithRequest returns a context in which the guard counts failures from zero.
// The executor does this for each run, and [Loop.Run] where nobody did, so it is
// only for guarded tools that are called in another way. Without it a guard
// forgets a failure at once.
func WithRequest(ctx context.Context) context.Context { return runscope.New(ctx) }

// strikeKey finds a tool's strikes in the scope of a run, by the tool's source.
type strikeKey struct{ source string }

// strikes is how often one tool failed in one run. A call holds a permit while it
// runs; a failure keeps it for ever. So there are never more calls at once than
// there may be failures, and never a call after the last of these.
type strikes struct {
	mu     sync.Mutex
	limit  int
	held   int           // permits of running calls
	failed int           // permits that failures have kept
	last   error         // the failure that was the last one
	change chan struct{} // closed when a permit came back or the last was kept; nil if nobody waits
}

func strikesIn(ctx context.Context, key any, limit int) *strikes {
	return runscope.Value(ctx, key, func() *strikes { return &strikes{limit: limit} })
}

// take waits for a permit. It returns the error of the tool's last failure
// when there are no more, and the cause of ctx when that is done first.
func (s *strikes) take(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.failed >= s.limit {
			defer s.mu.Unlock()
			return s.last
		}
		if s.held+s.failed < s.limit {
			s.held++
			s.mu.Unlock()
			return nil
		}
		if s.change == nil {
			s.change = make(chan struct{})
		}
		change := s.change
		s.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// give returns the permit of a call that did not fail.
func (s *strikes) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.tell()
}

// strike keeps the permit of a call that failed. When it was the last, out is
// true and final makes the error that every later call gets.
func (s *strikes) strike(final func(failures int) error) (out bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.failed++
	if s.failed < s.limit {
		return false, nil
	}
	s.last = final(s.failed)
	s.tell()
	return true, s.last
}

// tell wakes those who wait. The caller holds the lock.
func (s *strikes) tell() {
	if s.change != nil {
		close(s.change)
		s.change = nil
	}
}
