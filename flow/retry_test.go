package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

var errDown = &errcode.ComponentInvokeError{Component: "bank", Err: errors.New("down")}

// one runs a flow of one node and returns how often the node ran.
func one(ctx context.Context, t *testing.T, do func(ctx context.Context, try int) error, opts ...flow.NodeOption) (int, flow.Result[trail], error) {
	t.Helper()
	l := newLab("f")
	a := l.node("a", func(ctx context.Context, _ trail) error { return do(ctx, l.ran("a")) }, opts...)
	l.chain(flow.START, a, flow.END)
	res, err := l.compile(t).Run(ctx, "r", trail{})
	return l.ran("a"), res, err
}

func TestRetryWaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		_, res, err := one(t.Context(), t, func(_ context.Context, try int) error {
			at = append(at, time.Now())
			if try < 6 {
				return fmt.Errorf("wrapped: %w", errDown)
			}
			return nil
		}, flow.Retry(6), flow.Backoff(time.Second, 5*time.Second))
		if err != nil || res.Retries() != 5 || len(at) != 6 {
			t.Fatalf("%d tries, %d retries: %v", len(at), res.Retries(), err)
		}
		for i, longest := range []time.Duration{1, 2, 4, 5, 5} {
			longest *= time.Second
			if got := at[i+1].Sub(at[i]); got < longest/2 || got > longest {
				t.Errorf("wait %d: %v, want %v to %v", i+1, got, longest/2, longest)
			}
		}
	})
}

func TestRetryBelievesTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(3*time.Second))
		begin := time.Now()
		n, _, err := one(t.Context(), t, func(_ context.Context, try int) error {
			if try == 1 {
				return limited
			}
			return nil
		}, flow.Retry(2), flow.Backoff(time.Millisecond, 3*time.Second))
		if got := time.Since(begin); err != nil || n != 2 || got != 3*time.Second {
			t.Errorf("%d tries after %v: %v", n, got, err)
		}
		n, _, err = one(t.Context(), t, func(context.Context, int) error { return limited },
			flow.Retry(2), flow.Backoff(time.Millisecond, 2*time.Second))
		if n != 1 || !errors.Is(err, limited) {
			t.Errorf("a wait beyond the longest: %d tries, %v", n, err)
		}
	})
}

func TestNeverRetried(t *testing.T) {
	t.Parallel()
	cases := map[string]func(ctx context.Context) error{
		"cancellation": func(context.Context) error { return fmt.Errorf("x: %w", context.Canceled) },
		"a panic":      func(context.Context) error { panic("x") },
		"a wrapped panic": func(context.Context) error {
			return fmt.Errorf("x: %w", errcode.NewPanicError("x", nil))
		},
		"a question": func(ctx context.Context) error { _, err := hitl.Ask[int](ctx, "k", "?"); return err },
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _, _ := one(t.Context(), t, func(ctx context.Context, _ int) error { return do(ctx) },
				flow.Retry(3), flow.Backoff(0, 0), flow.RetryIf(func(error) bool { return true }))
			if n != 1 {
				t.Errorf("tried %d times", n)
			}
		})
	}
}

func TestRetryAsksTheTable(t *testing.T) {
	t.Parallel()
	table := errcode.NewTable(errcode.When("boom", func(err error) bool { return errors.Is(err, errBoom) },
		errcode.UpstreamUnavailable, "boom"))
	always := func(context.Context, int) error { return errBoom }
	opts := []flow.NodeOption{flow.Retry(3), flow.Backoff(0, 0)}
	if n, _, err := one(t.Context(), t, always, opts...); n != 1 || nodeError(t, err).Retries != 0 {
		t.Errorf("unknown to the table: %d tries", n)
	}
	n, _, err := one(errcode.WithTable(t.Context(), table), t, always, opts...)
	if ne := nodeError(t, err); n != 3 || ne.Attempt != 3 || ne.Retries != 2 {
		t.Errorf("retriable by the table: %d tries, %+v", n, ne)
	}
	n, _, _ = one(t.Context(), t, always, append(opts, flow.RetryIf(func(error) bool { panic("x") }))...)
	if n != 1 {
		t.Errorf("a RetryIf that panics: %d tries", n)
	}
}

func TestTimeoutIsPerAttempt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do   func(ctx context.Context) error
		code errcode.Code
	}{
		"the context's error": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, errcode.UpstreamTimeout},
		"an error of its own": {func(ctx context.Context) error { <-ctx.Done(); return errBoom }, errcode.UpstreamTimeout},
		"an error that knows better": {func(ctx context.Context) error {
			<-ctx.Done()
			return errcode.New(errcode.InvalidInput, "bad")
		}, errcode.InvalidInput},
		"a result after all": {func(ctx context.Context) error { <-ctx.Done(); return nil }, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				n, _, err := one(t.Context(), t, func(ctx context.Context, _ int) error { return tc.do(ctx) },
					flow.Timeout(time.Second), flow.Retry(2), flow.Backoff(0, 0))
				if got := errcode.CodeOf(err); got != tc.code {
					t.Errorf("got %s for %v, want %s", got, err, tc.code)
				}
				tries := 1
				if tc.code == errcode.UpstreamTimeout {
					tries = 2
				}
				if n != tries || time.Since(begin) != time.Duration(tries)*time.Second {
					t.Errorf("%d tries in %v", n, time.Since(begin))
				}
			})
		})
	}
}

func TestNoRetryWhileDraining(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab("f")
		a := l.node("a", func(context.Context, trail) error { return errDown }, flow.Retry(100), flow.Backoff(time.Hour, time.Hour))
		b := l.node("b", func(context.Context, trail) error { synctest.Wait(); return errBoom })
		l.Edge(flow.START, a, b)
		l.Edge(a, flow.END)
		l.Edge(b, flow.END)
		begin := time.Now()
		_, err := l.compile(t).Run(t.Context(), "r", trail{})
		ne := nodeError(t, err)
		if l.ran("a") != 1 || time.Since(begin) != 0 || ne.Node != "b" || len(ne.Siblings) != 1 {
			t.Errorf("a ran %d times, %v later: %v, siblings %v", l.ran("a"), time.Since(begin), err, ne.Siblings)
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errBoom)
		defer cancel()
		n, _, err := one(ctx, t, func(context.Context, int) error { return errDown }, flow.Retry(100), flow.Backoff(time.Hour, time.Hour))
		if n != 1 || !errors.Is(err, errBoom) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Errorf("%d tries: %v", n, err)
		}
	})
}

// TestWhatMustNotBeRetried: calling a failure retriable does not help a node whose input, credentials
// or content somebody has to change first; only RetryIf knows better.
func TestWhatMustNotBeRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []errcode.Code{errcode.InvalidInput, errcode.AuthRequired, errcode.GuardrailBlocked} {
		l := newLab("f")
		fails := func(context.Context, trail) error { return errcode.New(code, "x", errcode.Retriable(true)) }
		a := l.node("a", fails, flow.Retry(3), flow.Backoff(0, 0))
		l.chain(flow.START, a, flow.END)
		if _, err := l.compile(t).Run(t.Context(), "r", trail{}); err == nil || l.ran("a") != 1 {
			t.Errorf("%s: ran %d times, %v", code, l.ran("a"), err)
		}
	}
}
