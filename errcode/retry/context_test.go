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
