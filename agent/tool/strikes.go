package tool

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/runscope"
)

// WithRequest returns a context in which the guard counts failures from zero.
// The executor does this for each run, and [Loop.Run] where nobody did, so it is
// only for guarded tools that are called in another way. Without it a guard
// forgets a failure at once.
func WithRequest(ctx context.Context) context.Context { return runscope.New(ctx) }

// strikeKey finds a tool's strikes in the scope of a run. A source may be shared
// by several tools, and a name by those of several toolsets.
type strikeKey struct {
	source, name string
	owner        any
}

// keyOf tells a tool from every other, and finds it again when it is guarded twice.
func keyOf(t Tool, source, name string) strikeKey {
	k := strikeKey{source: source, name: name}
	if b, ok := t.(*mcpTool); ok {
		k.owner = b.server // lists its tools anew each time
	} else if reflect.ValueOf(t).Comparable() {
		k.owner = t
	}
	return k
}

// strikes is how often one tool failed in one run. A call holds a permit while it
// runs; a failure keeps it for ever. So there are never more calls at once than
// there may be failures, and never a call after the last of these.
type strikes struct {
	mu     sync.Mutex
	most   int
	held   int           // permits of running calls
	failed int           // permits that failures have kept
	last   error         // the failure that was the last one
	change chan struct{} // closed when a permit came back or the last was kept; nil if nobody waits

	limit atomic.Pointer[quota] // the last word on too many calls, nil without one
}

// quota is a tool's word that too much is asked of it.
type quota struct {
	until time.Time
	err   error
}

// limited notes a tool's word that too much is asked of it. It gives false for
// any other failure.
func (s *strikes) limited(ctx context.Context, err error) bool {
	class := errcode.TableFrom(ctx).Classify(err)
	if class.Code != errcode.RateLimited {
		return false
	}
	s.slow(err, class.RetryAfter)
	return true
}

// slow has later calls wait, too.
func (s *strikes) slow(err error, delay time.Duration) {
	next := &quota{time.Now().Add(delay), err}
	for {
		l := s.limit.Load()
		if delay <= 0 || l != nil && !l.until.Before(next.until) || s.limit.CompareAndSwap(l, next) {
			return
		}
	}
}

// pause waits as long as the tool has asked another call of the request to. A wait
// of more than most in all, or beyond the deadline of ctx, is not begun.
func (s *strikes) pause(ctx context.Context, most time.Duration) (waited time.Duration, err error) {
	for {
		l := s.limit.Load()
		if l == nil {
			return waited, nil
		}
		d := time.Until(l.until)
		if d <= 0 {
			return waited, nil
		}
		if deadline, ok := ctx.Deadline(); waited+d > most || ok && !l.until.Before(deadline) {
			return waited, errcode.TableFrom(ctx).Convert(l.err).With(errcode.RetryAfter(d))
		}
		t := time.NewTimer(d)
		select {
		case <-t.C:
			waited += d
		case <-ctx.Done():
			t.Stop()
			return waited, context.Cause(ctx)
		}
	}
}

func strikesIn(ctx context.Context, key any, limit int) *strikes {
	return runscope.Value(ctx, key, func() *strikes { return &strikes{most: limit} })
}

// permit is one call's leave to run. While the call waits for another call of the
// same tool, which it made itself, that one may run on its permit.
type permit struct {
	parent   *permit // nil where the tool was not called by itself
	borrowed bool    // it is the parent's, not one of its own
	lent     bool
	spent    bool // a failed call that had borrowed it has kept it
}

// turn is a call that holds a permit.
type turn struct {
	of *strikes
	p  *permit
}

func (t turn) give() { t.of.give(t.p) }

func (t turn) strike(final func(failures int) error) (out bool, err error) {
	return t.of.strike(t.p, final)
}

// within marks a context with the permit that its call runs on.
type within struct{ of *strikes }

// take waits for the permit. It returns the error of the tool's last failure
// when there are no more, and the cause of ctx when that is done first.
func (s *strikes) take(ctx context.Context, p *permit) error {
	parent, _ := ctx.Value(within{s}).(*permit)
	p.parent = parent
	for {
		s.mu.Lock()
		switch {
		case s.failed >= s.most:
			defer s.mu.Unlock()
			return s.last
		case s.held+s.failed < s.most:
			s.held++
			s.mu.Unlock()
			return nil
		case parent != nil && !parent.lent && !parent.spent:
			p.borrowed, parent.lent = true, true
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
func (s *strikes) give(p *permit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(p)
	s.tell()
}

// release ends a call. The caller holds the lock.
func (s *strikes) release(p *permit) {
	switch {
	case p.borrowed:
		p.parent.lent = false
	case !p.spent:
		s.held--
	}
}

// strike keeps the permit of a call that failed, its lender's too. When it was the
// last, out is true and final makes the error that every later call gets.
func (s *strikes) strike(p *permit, final func(failures int) error) (out bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(p)
	for lender := p; lender.borrowed; {
		if lender = lender.parent; !lender.borrowed && !lender.spent {
			lender.spent = true
			s.held--
		}
	}
	s.failed++
	if s.failed < s.most {
		s.tell()
		return false, nil
	}
	if s.last == nil {
		s.last = final(s.failed)
	}
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
