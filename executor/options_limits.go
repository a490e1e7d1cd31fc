package executor

import (
	"fmt"
	"time"
)

// MaxRuns bounds how many runs of the agent's code there are at once, over all
// clients. A message over that is not queued but refused, before a task exists: HTTP 503
// with Retry-After, gRPC UNAVAILABLE, JSON-RPC −32603, each with
// google.rpc.RetryInfo and error data that say UPSTREAM_UNAVAILABLE,
// retriable, and when. A parked task is not a run. A run counts until its code
// has returned, or is given up as [Handler.Abandoned]: code that ignores its
// cancelled context must not make the server refuse for ever. RetryAfter is
// when a client is told to come back; 0 is 1 s. Default: n 0, no bound.
func MaxRuns(n int, retryAfter time.Duration) Option {
	return Option{name: "MaxRuns", apply: func(c *config) error {
		if n < 0 {
			return fmt.Errorf("%d: expected 0 or more", n)
		}
		if retryAfter == 0 {
			retryAfter = time.Second
		}
		c.maxRuns, c.retryAfter = n, retryAfter
		return notNegative(retryAfter)
	}}
}
