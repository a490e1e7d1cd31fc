package retry

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// schedule computes the delays of one call of [Do].
type schedule struct {
	next *backoff.ExponentialBackOff
	cap  time.Duration
}

func newSchedule(p *policy) schedule {
	return schedule{cap: p.max, next: &backoff.ExponentialBackOff{
		InitialInterval:     min(p.initial, p.max),
		Multiplier:          2,
		RandomizationFactor: p.jitter,
		MaxInterval:         p.max,
	}}
}

// delay is initial × 2^(attempt−1) with jitter, never above the cap. It is called once for each
// attempt.
func (s schedule) delay() time.Duration {
	if s.next.InitialInterval == 0 {
		return 0
	}
	return min(s.next.NextBackOff(), s.cap)
}
