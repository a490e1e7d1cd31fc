package retry

import (
	"context"
	"errors"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
)

// Attempt tells what a hook needs to know about an attempt that failed and will be repeated.
type Attempt struct {
	// Number is 1 for the first attempt.
	Number int
	// Err is what the function returned, as it was.
	Err error
	// Class is what the table says about Err.
	Class errcode.Class
	// Delay is how long Do is going to wait.
	Delay time.Duration
	// Elapsed is the time since Do was called.
	Elapsed time.Duration
}

// Do calls fn until it succeeds, fails for good, or the attempts, the budget or ctx are used up. By
// default it makes up to 3 attempts, 200 ms and 400 ms apart with a jitter of 20 %. A failure that came in
// a BLUEPRINT envelope with a number of attempts is not repeated more often than that.
//
// A failure is returned as an [*errcode.Error], made by the table in ctx from the last attempt's
// error, which errors.Is and errors.As still find. Its Retried is increased by the number of
// retries made here. When ctx is done, before the first attempt or later, errors.Is finds ctx.Err,
// the cause of ctx and the last attempt's error, and the first of these that the table knows
// decides. A panic of fn is contained and returned as INTERNAL_ERROR with an
// [*errcode.PanicError] as the cause. Interrupts of package hitl are returned untouched. A bad
// option, or a nil fn, gives INTERNAL_ERROR with the reason "invalid_retry_option".
//
// The value is that of the successful attempt, the zero value with an error. fn is called in the
// goroutine of the caller, with ctx as it is. Do may be called concurrently.
func Do[T any](ctx context.Context, fn func(ctx context.Context) (T, error), opts ...Option) (T, error) {
	var value, zero T
	p, err := newPolicy(opts)
	if fn == nil {
		err = errors.Join(err, errors.New("fn: expected a function, got nil"))
	}
	if err != nil {
		return zero, errcode.New(errcode.Internal, "invalid_retry_option", errcode.Cause(err))
	}
	r := run{policy: p, schedule: newSchedule(p), table: errcode.TableFrom(ctx), start: p.clock.Now()}
	err = r.loop(ctx, func() (err error) {
		value, err = fn(ctx)
		return err
	})
	if err != nil {
		return zero, err
	}
	return value, nil
}

// run is the state of one call of [Do].
type run struct {
	*policy
	schedule schedule
	table    *errcode.Table
	start    time.Time
	attempt  int // the number of calls made
}

func (r *run) loop(ctx context.Context, call func() error) error {
	if ctx.Err() != nil {
		return r.stopped(ctx, context.Cause(ctx), nil)
	}
	for {
		r.attempt++
		err := contain(call)
		if err == nil || hitl.Find(err) != nil {
			return err
		}
		class := r.table.Classify(err)
		if ctx.Err() != nil && (mayPass(err, class) || holds(err, ctx.Err())) {
			return r.stopped(ctx, context.Cause(ctx), err)
		}
		delay, again := r.next(ctx, err, class)
		if !again {
			return r.failed(err)
		}
		r.notify(ctx, Attempt{
			Number: r.attempt, Err: err, Class: class,
			Delay: delay, Elapsed: r.clock.Now().Sub(r.start),
		})
		if cause := r.wait(ctx, delay); cause != nil {
			return r.stopped(ctx, cause, err)
		}
	}
}

// wait sleeps and returns why the sleep was cut short, nil if it was not.
func (r *run) wait(ctx context.Context, delay time.Duration) error {
	if err := r.clock.Sleep(ctx, delay); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (r *run) notify(ctx context.Context, a Attempt) {
	if r.onRetry == nil {
		return
	}
	defer func() { _ = recover() }() // the hook is the user's and only watches
	r.onRetry(ctx, a)
}
