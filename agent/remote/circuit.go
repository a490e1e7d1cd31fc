package remote

import (
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/a2aexec/a2aexec/errcode"
)

const reasonOpen = "circuit_open"

// circuit is a circuit breaker; nil lets everything pass.
type circuit struct {
	breaker  *gobreaker.TwoStepCircuitBreaker[struct{}]
	cooldown time.Duration
	opened   atomic.Pointer[time.Time]
}

func newCircuit(failures uint32, cooldown time.Duration) *circuit {
	if failures == 0 {
		return nil
	}
	c := &circuit{cooldown: cooldown}
	c.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     cooldown,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failures },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if now := time.Now(); to == gobreaker.StateOpen {
				c.opened.Store(&now)
			}
		},
		IsExcluded: func(err error) bool { return err == errNoVerdict }, //nolint:errorlint // our own sentinel
	})
	return c
}

// errNoVerdict says that a call tells nothing about the remote: its caller
// ended it.
var errNoVerdict = errcode.New(errcode.Internal, "no_verdict")

// allow admits a call, which must report what came of it: nil for any answer of
// the remote.
func (c *circuit) allow() (report func(error), err error) {
	if c == nil {
		return func(error) {}, nil
	}
	report, err = c.breaker.Allow()
	if err == nil {
		return report, nil
	}
	left := c.cooldown
	if at := c.opened.Load(); at != nil {
		left = max(0, c.cooldown-time.Since(*at))
	}
	return nil, errcode.New(errcode.UpstreamUnavailable, reasonOpen, errcode.Cause(err), errcode.RetryAfter(left),
		errcode.Message("The agent has not answered several times in a row; it is not called for a while."))
}
