package executor

import (
	"fmt"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// alarm goes off after a time; c is nil, and so never ready, without one.
type alarm struct {
	timer *time.Timer
	c     <-chan time.Time
}

func newAlarm(after time.Duration) alarm {
	if after <= 0 {
		return alarm{}
	}
	t := time.NewTimer(after)
	return alarm{t, t.C}
}

func (a alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// ranOut stops the user's code, for which there was no more time.
func (r *run) ranOut(reason string, limit time.Duration) Outcome {
	elapsed := time.Since(r.started).Round(time.Millisecond)
	cause := errcode.New(errcode.UpstreamTimeout, reason, errcode.Source("internal:executor"),
		errcode.Message(fmt.Sprintf("The agent took too long: stopped after %v.", elapsed)),
		errcode.Details(map[string]any{"timeoutMs": limit.Milliseconds(), "elapsedMs": elapsed.Milliseconds()}))
	r.cancel(cause)
	return r.stoppedBy(cause)
}

// beat notes that the run is at work.
func (r *run) beat() {
	if r.inactivity > 0 {
		r.active.Store(int64(time.Since(r.started)))
	}
}

// untilIdle is how long the run may still write nothing; while it waits for the
// host, that time does not pass.
func (r *run) untilIdle(hostIsBehind bool) time.Duration {
	if hostIsBehind {
		return r.inactivity
	}
	return r.inactivity - time.Since(r.started) + time.Duration(r.active.Load())
}
