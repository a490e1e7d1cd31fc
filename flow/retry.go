package flow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// attempts runs a node until it succeeds or may not be tried again.
func (r *run[S]) attempts(f *frame, n *node[S]) attempted {
	for try := int32(1); ; try++ {
		out, late, err := r.attempt(f, n)
		got := attempted{out: out, err: err, tries: try}
		if err == nil {
			return got
		}
		wait, again := n.again(f, err, late, int(try))
		if !again || r.isBroken() {
			return got
		}
		e := Event{Kind: NodeRetries, Attempt: int(try), Err: err, Wait: wait}
		if hookErr := r.emit(f.about(e)); hookErr != nil {
			got.err, got.hook = hookErr, true
			return got
		}
		if !sleep(f, wait) {
			return got
		}
		f.recount()
		r.noteRetries(1)
	}
}

// attempt runs a node once. An error is late if the attempt's own time was up.
func (r *run[S]) attempt(f *frame, n *node[S]) (out any, late bool, err error) {
	ctx := f.withTee()
	if n.timeout == 0 {
		out, err = r.call(ctx, n)
		return out, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	out, err = r.call(ctx, n)
	if late = err != nil && ctx.Err() != nil && f.Err() == nil; late {
		err = timedOut(ctx, err, n.timeout)
	}
	return out, late, err
}

// timedOut is what an error means that came after the attempt's time was up:
// that it was too long, unless the error says something else.
func timedOut(ctx context.Context, err error, limit time.Duration) error {
	if hitl.Find(err) != nil || isPanic(err) ||
		errcode.TableFrom(ctx).Classify(err).Code != errcode.Internal {
		return err
	}
	return &severalError{
		text: fmt.Sprintf("no result within %v: %s", limit, errtree.Text(err)),
		errs: []error{context.DeadlineExceeded, err},
	}
}

func isPanic(err error) bool {
	_, ok := errtree.As[*errcode.PanicError](err)
	return ok
}

// again tells whether and when a failed attempt may be repeated. One whose time
// was up may say that it was cancelled: by nobody else.
func (l *limits) again(ctx context.Context, err error, late bool, try int) (wait time.Duration, yes bool) {
	if try >= l.attempts || ctx.Err() != nil || hitl.Find(err) != nil ||
		isPanic(err) || !late && isAmong(err, context.Canceled) {
		return 0, false
	}
	class := errcode.TableFrom(ctx).Classify(err)
	if !l.mayPass(class, err) {
		return 0, false
	}
	if class.HasRetryAfter {
		return class.RetryAfter, class.RetryAfter <= l.max
	}
	return l.backoff(try), true
}

func (l *limits) mayPass(class errcode.Class, err error) (yes bool) {
	if l.retryIf == nil {
		return class.Retriable && !class.Code.Never()
	}
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return l.retryIf(err)
}

// backoff is the wait after the given try.
func (l *limits) backoff(try int) time.Duration {
	d := l.first
	for range try - 1 {
		if d >= l.max/2 {
			d = l.max
			break
		}
		d *= 2
	}
	half := min(d, l.max) / 2
	return half + time.Duration(rand.Int64N(int64(half)+1)) //nolint:gosec // no secret
}

// sleep waits; it reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
