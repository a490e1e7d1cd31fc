package retry

import (
	"context"
	"math"
	"runtime/debug"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// next decides whether there is another attempt, and after which delay.
func (r *run) next(ctx context.Context, err error, class errcode.Class) (delay time.Duration, again bool) {
	delay = r.schedule.delay()
	if class.HasRetryAfter {
		delay = max(0, class.RetryAfter)
	}
	if r.attempts > 0 && r.attempt >= r.attempts || !mayPass(err, class) || r.attempt >= advised(err) {
		return 0, false
	}
	return delay, r.fits(ctx, delay)
}

// keyAdvice is the detail in which package blueprint keeps the most attempts that a server advises.
const keyAdvice = "retry_max_attempts"

// advised is how many attempts a server allows for, without end if it does not say.
func advised(err error) int {
	if e, ok := errtree.As[*errcode.Error](err); ok {
		if n, ok := e.Details()[keyAdvice].(float64); ok && n >= 1 && n < math.MaxInt32 {
			return int(n)
		}
	}
	return math.MaxInt
}

// mayPass reports whether the same call may succeed later. A panic never counts as passing,
// whatever a rule of the user says about it.
func mayPass(err error, class errcode.Class) bool {
	if !class.Retriable || class.Code.Never() {
		return false
	}
	_, panicked := errtree.As[*errcode.PanicError](err)
	return !panicked
}

// fits reports whether the delay is not too long, and an attempt after it would still start within
// the budget and before the deadline of ctx.
func (r *run) fits(ctx context.Context, delay time.Duration) bool {
	if r.longest > 0 && delay > r.longest {
		return false
	}
	now := r.clock.Now()
	if r.budget > 0 && delay > r.budget-now.Sub(r.start) {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || delay < deadline.Sub(now)
}

// holds reports whether the context's own error is somewhere in the tree.
func holds(err, ctxErr error) (yes bool) {
	errtree.Walk(err, func(e error) bool {
		yes = e == ctxErr //nolint:errorlint // each node of the tree is looked at by itself; the types of context errors can be compared
		return !yes
	})
	return yes
}

// contain turns a panic into an error.
func contain(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errcode.NewPanicError(v, debug.Stack())
		}
	}()
	return call()
}
