package retry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// The defaults of [Do].
const (
	defaultInitial  = 200 * time.Millisecond
	defaultMax      = 30 * time.Second
	defaultJitter   = 0.2
	defaultAttempts = 3
)

// noCap is the cap when there is none: low enough that jitter cannot overflow.
const noCap = time.Duration(1 << 61)

// Option sets one thing about [Do]. Options are applied in order, so a later one wins. A nil Option
// does nothing. An option with a value that makes no sense lets Do fail before the first attempt.
type Option interface{ apply(p *policy) error }

type optionFunc func(p *policy) error

func (f optionFunc) apply(p *policy) error { return f(p) }

// policy is what the options say.
type policy struct {
	initial  time.Duration
	max      time.Duration
	jitter   float64
	attempts int
	budget   time.Duration
	longest  time.Duration
	onRetry  func(context.Context, Attempt)
	clock    Clock
}

func newPolicy(opts []Option) (*policy, error) {
	p := &policy{
		initial: defaultInitial, max: defaultMax, jitter: defaultJitter,
		attempts: defaultAttempts, clock: systemClock{},
	}
	var faults []error
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.apply(p); err != nil {
			faults = append(faults, err)
		}
	}
	return p, errors.Join(faults...)
}

// InitialDelay is the wait after the first attempt; each further one is twice as long. Default
// 200 ms; 0 never waits; negative is invalid.
func InitialDelay(d time.Duration) Option {
	return optionFunc(func(p *policy) error {
		p.initial = d
		return notNegative("InitialDelay", d)
	})
}

// MaxDelay caps the computed delay, jitter included. It does not cap what a server asks for.
// Default 30 s; 0 means no cap; negative is invalid.
func MaxDelay(d time.Duration) Option {
	return optionFunc(func(p *policy) error {
		p.max = d
		if d == 0 || d > noCap {
			p.max = noCap
		}
		return notNegative("MaxDelay", d)
	})
}

// Jitter spreads the computed delay evenly over delay×(1−fraction) … delay×(1+fraction), so that
// many clients do not come back at the same moment. The fraction is from 0, no jitter, to 1.
// Default 0.2; any other value is invalid. A server's delay gets no jitter.
func Jitter(fraction float64) Option {
	return optionFunc(func(p *policy) error {
		p.jitter = fraction
		if math.IsNaN(fraction) || fraction < 0 || fraction > 1 {
			return fmt.Errorf("Jitter: expected 0 to 1, got %v", fraction)
		}
		return nil
	})
}

// MaxAttempts is the most often the function is called, the first call included. Default 3; 1
// never retries; 0 means no limit, which leaves it to the budget and to ctx; negative is invalid.
func MaxAttempts(n int) Option {
	return optionFunc(func(p *policy) error {
		p.attempts = n
		if n < 0 {
			return fmt.Errorf("MaxAttempts: expected 0 or more, got %d", n)
		}
		return nil
	})
}

// Budget limits the time from the start of [Do] to the start of the last attempt. A wait that
// would end later is not begun. An attempt that runs is not interrupted: for that, give ctx a
// deadline. Default 0, no limit; negative is invalid.
func Budget(d time.Duration) Option {
	return optionFunc(func(p *policy) error {
		p.budget = d
		return notNegative("Budget", d)
	})
}

// MaxWait limits each wait, also one that a server asks for: a longer one is not begun, and the
// failure is returned with its delay. Default 0, no limit; negative is invalid.
func MaxWait(d time.Duration) Option {
	return optionFunc(func(p *policy) error {
		p.longest = d
		return notNegative("MaxWait", d)
	})
}

// OnRetry is called before each wait, in the goroutine of [Do], for logs and metrics. A panic in it
// changes nothing. Default, and nil: none.
func OnRetry(f func(ctx context.Context, a Attempt)) Option {
	return optionFunc(func(p *policy) error {
		p.onRetry = f
		return nil
	})
}

// WithClock replaces the system's clock, for tests. Nil is invalid. Tests in a testing/synctest
// bubble do not need it.
func WithClock(c Clock) Option {
	return optionFunc(func(p *policy) error {
		if c == nil {
			return errors.New("WithClock: expected a clock, got nil")
		}
		p.clock = c
		return nil
	})
}

func notNegative(option string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s: expected 0 or more, got %v", option, d)
	}
	return nil
}
