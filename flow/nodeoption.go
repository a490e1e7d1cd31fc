package flow

import (
	"fmt"
	"time"
)

// NodeOption changes how one node runs. A bad value is a fault that
// [Graph.Compile] reports.
type NodeOption struct{ set func(*limits) string }

// limits are what options say about a node.
type limits struct {
	attempts   int
	first, max time.Duration // of the backoff
	retryIf    func(error) bool
	timeout    time.Duration
	visits     int
	noArtifact bool
	faults     []string
}

var noLimits = limits{attempts: 1, first: 100 * time.Millisecond, max: 10 * time.Second}

func (l *limits) configure(opts []NodeOption) {
	for _, o := range opts {
		if o.set == nil {
			continue
		}
		if fault := o.set(l); fault != "" {
			l.faults = append(l.faults, fault)
		}
	}
}

// simple reports whether one plain call is all there is to an attempt.
func (l *limits) simple() bool { return l.attempts == 1 && l.timeout == 0 }

// Retry sets how often a node is tried in all, the first time included, when
// it fails with an error that may pass: one that the table in the context (see
// [errcode.TableFrom]) calls retriable and whose code may be retried at all
// ([errcode.Code.Never]), or [RetryIf] does. Cancellation, questions and panics
// are never retried, nor is anything once a sibling has failed. Default: 1, not
// at all. Less than 1 is a fault.
func Retry(attempts int) NodeOption {
	return NodeOption{func(l *limits) string {
		if attempts < 1 {
			return fmt.Sprintf("Retry(%d): at least one attempt is needed", attempts)
		}
		l.attempts = attempts
		return ""
	}}
}

// Backoff sets the wait before the first retry, which doubles with each, and the
// longest one; between half of the wait and all of it is waited, at random. An error that
// says itself how long to wait is believed, but if that is longer than the
// longest wait, there is no retry. Default: 100ms and 10s. Negative values, and
// a longest wait below the first, are faults.
func Backoff(first, longest time.Duration) NodeOption {
	return NodeOption{func(l *limits) string {
		if first < 0 || longest < first {
			return fmt.Sprintf("Backoff(%v, %v): the waits must not be negative nor shrink", first, longest)
		}
		l.first, l.max = first, longest
		return ""
	}}
}

// RetryIf decides instead of the table which errors may pass. It must be safe
// for concurrent use; if it panics, the answer is no. nil is a fault.
func RetryIf(fn func(error) bool) NodeOption {
	return NodeOption{func(l *limits) string {
		if fn == nil {
			return "RetryIf(nil): a function is needed"
		}
		l.retryIf = fn
		return ""
	}}
}

// Timeout limits each attempt of a node, as UPSTREAM_TIMEOUT. Its context ends
// then; a node that ignores its context is waited for nevertheless, and what it
// returns without an error counts. Default, and 0: no limit. Negative is a fault.
func Timeout(d time.Duration) NodeOption {
	return NodeOption{func(l *limits) string {
		if d < 0 {
			return fmt.Sprintf("Timeout(%v): negative", d)
		}
		l.timeout = d
		return ""
	}}
}

// MaxVisits limits how often a node runs in one run, retries aside; one more
// ends the run as a [*LimitError]. Default, and 0: as often as [MaxSteps]
// allows. Negative is a fault.
func MaxVisits(n int) NodeOption {
	return NodeOption{func(l *limits) string {
		if n < 0 {
			return fmt.Sprintf("MaxVisits(%d): negative", n)
		}
		l.visits = n
		return ""
	}}
}

// NoArtifact marks a node whose output is not for the client: a secret, or
// bulk. It is applied to the state like any other and then dropped: results,
// errors and checkpoints list the visit without a value. Until then a checkpoint
// made while siblings still run holds it, so with a store it must survive the
// run's [Codec].
func NoArtifact() NodeOption {
	return NodeOption{func(l *limits) string {
		l.noArtifact = true
		return ""
	}}
}
