package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

func TestDoneBeforeTheFirstAttempt(t *testing.T) {
	t.Parallel()
	errGone := errors.New("client gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	fn, calls := fails(nil)
	_, err := retry.Do(ctx, fn)
	if *calls != 0 || !errors.Is(err, errGone) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after %d calls", err, *calls)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errGone := errors.New("client gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		time.AfterFunc(5*time.Second, func() { cancel(errGone) })
		fn, calls := fails(errDown.With(errcode.RetryAfter(time.Hour)))
		_, err := retry.Do(ctx, fn)
		if got := time.Since(start); got != 5*time.Second || *calls != 1 {
			t.Errorf("returned after %v and %d calls", got, *calls)
		}
		for _, want := range []error{errGone, context.Canceled} {
			if !errors.Is(err, want) {
				t.Errorf("%v does not hold %v", err, want)
			}
		}
		var e *errcode.Error
		if !errors.As(err, &e) || e.Reason() != "context_canceled" || e.Retriable() {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelledWhileRunning(t *testing.T) {
	t.Parallel()
	errGone := errors.New("client gone")
	notFound := errcode.New(errcode.NotFound, "no_account")
	cases := []struct {
		name string
		err  error
		code errcode.Code
		done bool // the context's cause must be found
	}{
		{"retriable", errDown, errcode.Internal, true},
		{"the context's error", context.Canceled, errcode.Internal, true},
		{"a definite answer", notFound, errcode.NotFound, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			calls := 0
			_, err := retry.Do(ctx, func(context.Context) (int, error) {
				calls++
				cancel(errGone)
				return 0, tc.err
			}, retry.WithClock(newFakeClock()))
			if calls != 1 || errors.Is(err, errGone) != tc.done || !errors.Is(err, tc.err) || errcode.CodeOf(err) != tc.code {
				t.Errorf("got %v after %d calls", err, calls)
			}
		})
	}
}

func TestCauseWithACodeDecides(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errcode.New(errcode.UpstreamUnavailable, "server_shutdown"))
	_, err := retry.Do(ctx, func(context.Context) (int, error) { return 0, nil })
	if !errcode.Is(err, errcode.UpstreamUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		fn, calls := fails(errDown.With(errcode.RetryAfter(time.Minute)), errDown, nil)
		got, err := retry.Do(t.Context(), fn, retry.Jitter(0))
		if got != "value" || err != nil || *calls != 3 || time.Since(start) != time.Minute+400*time.Millisecond {
			t.Errorf("got %q, %v after %d calls and %v", got, err, *calls, time.Since(start))
		}
	})
}

func TestDelayThatDoesNotFit(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		deadline time.Duration // 0: none
		budget   time.Duration
		after    time.Duration
		calls    int
	}{
		{"longer than the deadline", 10 * time.Second, 0, 11 * time.Second, 1},
		{"just the deadline", 10 * time.Second, 0, 10 * time.Second, 1},
		{"just below the deadline", 10 * time.Second, 0, 9999 * time.Millisecond, 2},
		{"longer than the budget", 0, 10 * time.Second, 11 * time.Second, 1},
		{"just the budget", 0, 10 * time.Second, 10 * time.Second, 2},
		{"fits twice", 0, 25 * time.Second, 10 * time.Second, 3},
		{"longest of all", time.Hour, time.Hour, 1<<63 - 1, 1},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, start := t.Context(), time.Now()
				if tc.deadline > 0 {
					c, cancel := context.WithTimeout(ctx, tc.deadline)
					defer cancel()
					ctx = c
				}
				fn, calls := fails(errDown.With(errcode.RetryAfter(tc.after)))
				_, err := retry.Do(ctx, fn, retry.Budget(tc.budget), retry.MaxAttempts(0))
				if *calls != tc.calls {
					t.Errorf("got %d calls, want %d", *calls, tc.calls)
				}
				if got, want := time.Since(start), time.Duration(tc.calls-1)*tc.after; got != want {
					t.Errorf("waited %v, want %v", got, want)
				}
				var e *errcode.Error
				if !errors.As(err, &e) || e.Code() != errcode.UpstreamUnavailable || e.Retried() != tc.calls-1 {
					t.Fatalf("got %v", err)
				}
				if d, ok := e.RetryAfter(); !ok || d != tc.after {
					t.Errorf("the server's delay became %v, %t", d, ok)
				}
			})
		})
	}
}

// TestEdgesOfTheBudget: what the attempts take counts, and a hook may end it all.
func TestEdgesOfTheBudget(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		budget time.Duration
		took   time.Duration // by each attempt
		calls  int
	}{
		{"the first attempt takes it all", time.Second, time.Second, 1},
		{"the first attempt takes more", time.Second, time.Hour, 1},
		{"the first wait just fits", 1200 * time.Millisecond, time.Second, 2},
		{"the first wait misses by a nanosecond", 1200*time.Millisecond - 1, time.Second, 1},
		{"a nanosecond", 1, 0, 1},
		{"no budget", 0, time.Hour, 5},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			clock, calls := newFakeClock(), 0
			_, err := retry.Do(t.Context(), func(context.Context) (int, error) {
				calls++
				clock.advance(tc.took)
				return 0, errDown
			}, retry.WithClock(clock), retry.Jitter(0), retry.MaxAttempts(5), retry.Budget(tc.budget))
			if calls != tc.calls || !errcode.Is(err, errcode.UpstreamUnavailable) {
				t.Errorf("%d calls, want %d: %v", calls, tc.calls, err)
			}
		})
	}
}

// TestHookThatCancels: no wait is begun, and no attempt, once ctx is done.
func TestHookThatCancels(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			down := errDown.With(errcode.RetryAfter(delay))
			fn, calls := fails(down)
			_, err := retry.Do(ctx, fn, retry.OnRetry(func(context.Context, retry.Attempt) { cancel() }))
			if *calls != 1 || time.Since(start) != 0 || !errors.Is(err, context.Canceled) || !errors.Is(err, down) {
				t.Errorf("%d calls, %v, %v", *calls, time.Since(start), err)
			}
		})
	}
}

// TestDeadlineDuringAnAttempt: the deadline decides, and the attempts before it are counted.
func TestDeadlineDuringAnAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		calls := 0
		_, err := retry.Do(ctx, func(ctx context.Context) (int, error) {
			if calls++; calls == 1 {
				return 0, errDown
			}
			<-ctx.Done()
			return 0, ctx.Err()
		}, retry.MaxAttempts(0))
		var e *errcode.Error
		if !errors.As(err, &e) || calls != 2 || e.Code() != errcode.UpstreamTimeout || e.Retried() != 1 {
			t.Errorf("%d calls, %v, retried %d", calls, err, e.Retried())
		}
	})
}

// TestMaxWait: a server that asks for an hour is not waited for, and the delay is
// told; a shorter one is, and so is the schedule's own.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		most  time.Duration
		calls int
	}{
		"longer": {time.Hour, 30 * time.Second, 1}, "just so": {30 * time.Second, 30 * time.Second, 3},
		"no limit": {time.Hour, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fn, calls := fails(errDown.With(errcode.RetryAfter(tc.after)))
				_, err := retry.Do(t.Context(), fn, retry.MaxWait(tc.most))
				var e *errcode.Error
				if !errors.As(err, &e) || *calls != tc.calls {
					t.Fatalf("got %v after %d calls", err, *calls)
				}
				if d, _ := e.RetryAfter(); d != tc.after {
					t.Errorf("the delay became %v", d)
				}
			})
		})
	}
	fn, calls := fails(nil)
	if _, err := retry.Do(t.Context(), fn, retry.MaxWait(-1)); *calls != 0 || errcode.CodeOf(err) != errcode.Internal {
		t.Errorf("a negative one: got %v", err)
	}
}
