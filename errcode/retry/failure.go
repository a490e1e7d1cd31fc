package retry

import (
	"context"
	"math"
	"strconv"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// failed makes the last attempt's error into the one that is returned.
func (r *run) failed(err error) error {
	e := r.table.Convert(err)
	retries := max(0, r.attempt-1)
	if retries == 0 {
		return e
	}
	total := retries + min(max(0, e.Retried()), math.MaxInt32-retries)
	return e.With(errcode.Retried(total), errcode.Cause(err))
}

// stopped is failed for a call that ended because ctx did. last is nil before the first attempt.
func (r *run) stopped(ctx context.Context, cause, last error) error {
	s := &stoppedError{attempts: r.attempt}
	for _, err := range []error{cause, ctx.Err(), last} {
		if err != nil {
			s.reasons = append(s.reasons, err)
		}
	}
	return r.failed(s)
}

// stoppedError says that the context ended the call. It wraps why, and the last attempt's error.
type stoppedError struct {
	attempts int
	reasons  []error
}

func (e *stoppedError) Error() string {
	return "stopped after attempt " + strconv.Itoa(e.attempts) + ": " + errtree.Text(e.reasons[0])
}

// Unwrap returns the cause of the context, its error and the last attempt's error.
func (e *stoppedError) Unwrap() []error { return e.reasons }
