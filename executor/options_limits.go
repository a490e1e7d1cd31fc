package executor

import (
	"fmt"
	"time"
)

// MaxRuns bounds how many runs of the agent's code there are at once, over all
// clients. A message over that is not queued but refused, before a task exists:
// HTTP+JSON 503, gRPC UNAVAILABLE, JSON-RPC −32603, over HTTP with Retry-After, each with
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

// MaxInput bounds a message: how many parts it has, and how many bytes are in
// them (of texts, files, JSON values and metadata, about; each JSON value counts
// 64 beside its text, for that is what it costs). What is larger is refused as invalid params, with a
// field violation that names the limit, before a task exists. Over HTTP and
// gRPC a request is also bounded as a whole. 0 is no limit. Default: 1,000 parts and 10 MiB.
func MaxInput(parts int, bytes int64) Option {
	return Option{name: "MaxInput", apply: func(c *config) error {
		if parts < 0 || bytes < 0 {
			return fmt.Errorf("%d parts, %d bytes: expected 0 or more", parts, bytes)
		}
		c.maxParts, c.maxInput = parts, bytes
		return nil
	}}
}

// MaxOutput bounds what a run may produce: the bytes, about, of all that it
// streams and returns and of its progress messages. A write beyond it fails,
// the code's context is cancelled, and the task fails with INTERNAL_ERROR,
// reason output_too_large, not retriable: the agent is at fault, and running it
// again would not help. What fits of its artifacts is kept. Default: 0, no limit.
func MaxOutput(bytes int64) Option {
	return Option{name: "MaxOutput", apply: func(c *config) error {
		if bytes < 0 {
			return fmt.Errorf("%d: expected 0 or more", bytes)
		}
		c.maxOutput = bytes
		c.errOutput = outputTooLarge(bytes)
		return nil
	}}
}

// The defaults of [MaxInput].
const (
	defaultMaxParts = 1000
	defaultMaxInput = 10 << 20
)
