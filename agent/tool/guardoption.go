package tool

import (
	"errors"
	"fmt"
	"time"
)

// GuardOption sets one thing about a guard. Options are applied in order, so a
// later one wins. A value that makes no sense is an error of [Guard].
type GuardOption struct{ apply func(*guardSettings) error }

// guardSettings are what the options set.
type guardSettings struct {
	strikes   int
	timeout   time.Duration
	maxResult int
	maxWait   time.Duration
}

func newGuardSettings(opts []GuardOption) (guardSettings, error) {
	s := guardSettings{strikes: 3, timeout: time.Minute, maxResult: 64 << 10, maxWait: 30 * time.Second}
	var errs []error
	for _, o := range opts {
		if o.apply != nil {
			errs = append(errs, o.apply(&s))
		}
	}
	return s, errors.Join(errs...)
}

// Strikes is how often a tool may be unavailable or too slow in one request
// before that fails the request. It is also how many calls of the tool may run
// at once in a request. Default 3; less than 1 is invalid.
func Strikes(n int) GuardOption {
	return GuardOption{func(s *guardSettings) error {
		s.strikes = n
		return atLeast("strikes", n, 1)
	}}
}

// Timeout is how long one call may take, without the waits for a rate limit.
// What takes longer is cancelled; a tool that does not listen is left behind.
// Default one minute; 0 is no limit, negative is invalid.
func Timeout(d time.Duration) GuardOption {
	return GuardOption{func(s *guardSettings) error {
		s.timeout = d
		return atLeast("timeout", d, 0)
	}}
}

// MaxResult is how many bytes of a result the model is given; the rest is cut
// off at a character and a mark with the full length takes its place. Default 64 KiB;
// 0 is no limit, negative is invalid.
func MaxResult(bytes int) GuardOption {
	return GuardOption{func(s *guardSettings) error {
		s.maxResult = bytes
		return atLeast("max result", bytes, 0)
	}}
}

// RateLimitWait is how long one call may wait in all when the tool says that
// too much is asked of it. A wait that would end later, or after the deadline of
// the context, is not begun: the call fails with RATE_LIMITED and the delay.
// Default 30 s; 0 never waits, negative is invalid.
func RateLimitWait(d time.Duration) GuardOption {
	return GuardOption{func(s *guardSettings) error {
		s.maxWait = d
		return atLeast("rate limit wait", d, 0)
	}}
}

func atLeast[N int | time.Duration](what string, got, least N) error {
	if got < least {
		return fmt.Errorf("%s: expected %v or more, got %v", what, least, got)
	}
	return nil
}
