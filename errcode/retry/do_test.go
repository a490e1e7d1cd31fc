package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/hitl"
)

func TestDoSucceedsAfterRetries(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	fn, calls := fails(errDown, errDown, nil)
	got, err := retry.Do(t.Context(), fn, retry.WithClock(clock), retry.Jitter(0), nil)
	if got != "value" || err != nil || *calls != 3 {
		t.Errorf("got %q, %v after %d calls", got, err, *calls)
	}
	if diff := cmp.Diff([]time.Duration{200 * time.Millisecond, 400 * time.Millisecond}, clock.slept); diff != "" {
		t.Error(diff)
	}
}

func TestDoGivesUp(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("bank: %w", errDown)
	cases := []struct {
		name    string
		err     error
		calls   int
		code    errcode.Code
		retried int
	}{
		{"retriable", errDown, 3, errcode.UpstreamUnavailable, 2},
		{"retriable, wrapped", wrapped, 3, errcode.UpstreamUnavailable, 2},
		{"retriable by the table", &errcode.HTTPStatusError{StatusCode: 503}, 3, errcode.UpstreamUnavailable, 2},
		{"an attempt's own deadline", context.DeadlineExceeded, 3, errcode.UpstreamTimeout, 2},
		{"retried below already", errDown.With(errcode.Retried(4)), 3, errcode.UpstreamUnavailable, 6},
		{"internal made retriable", errcode.New(errcode.Internal, "x", errcode.Retriable(true)), 3, errcode.Internal, 2},
		{"made not retriable", errDown.With(errcode.Retriable(false)), 1, errcode.UpstreamUnavailable, 0},
		{"unknown", errors.New("boom"), 1, errcode.Internal, 0},
		{"canceled, but not this context", context.Canceled, 1, errcode.Internal, 0},
		{"not found", errcode.New(errcode.NotFound, "x"), 1, errcode.NotFound, 0},
		{"guardrail", &errcode.GuardrailBlockedError{}, 1, errcode.GuardrailBlocked, 0},
		{"never: input", errcode.New(errcode.InvalidInput, "x", errcode.Retriable(true)), 1, errcode.InvalidInput, 0},
		{"never: credentials", errcode.New(errcode.AuthRequired, "x", errcode.Retriable(true)), 1, errcode.AuthRequired, 0},
		{"never: guardrail", errcode.New(errcode.GuardrailBlocked, "x", errcode.Retriable(true)), 1, errcode.GuardrailBlocked, 0},
		{"never: guardrail, wrapped", fmt.Errorf("bank: %w", errcode.New(errcode.GuardrailBlocked, "x", errcode.Retriable(true), errcode.RetryAfter(0))), 1, errcode.GuardrailBlocked, 0},
		{"a joined panic", errors.Join(errDown, errcode.NewPanicError("x", nil)), 1, errcode.UpstreamUnavailable, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fn, calls := fails(tc.err)
			got, err := retry.Do(t.Context(), fn, retry.WithClock(newFakeClock()))
			if got != "" || *calls != tc.calls {
				t.Errorf("got %q after %d calls, want nothing after %d", got, *calls, tc.calls)
			}
			var e *errcode.Error
			if !errors.As(err, &e) || e.Code() != tc.code || e.Retried() != tc.retried {
				t.Fatalf("got %v, retried %d; want %s, retried %d", err, e.Retried(), tc.code, tc.retried)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the original error is lost")
			}
		})
	}
}

// TestAttemptsAreCounted: the number of calls, and what the result says about them, at the edges.
func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	gone := errcode.New(errcode.NotFound, "gone")
	cases := []struct {
		name    string
		errs    []error
		most    int
		calls   int
		code    errcode.Code
		retried int
	}{
		{"one attempt", []error{errDown}, 1, 1, errcode.UpstreamUnavailable, 0},
		{"two attempts", []error{errDown}, 2, 2, errcode.UpstreamUnavailable, 1},
		{"the last failure is another", []error{errDown, errDown, gone}, 5, 3, errcode.NotFound, 2},
		{"the last failure was retried below", []error{errDown, gone.With(errcode.Retried(3))}, 5, 2, errcode.NotFound, 4},
		{"only the last failure's retries below count", []error{errDown.With(errcode.Retried(9)), gone}, 5, 2, errcode.NotFound, 1},
		{"more retries below than can be counted", []error{errDown.With(errcode.Retried(math.MaxInt32))}, 3, 3, errcode.UpstreamUnavailable, math.MaxInt32},
		{"no limit", append(slices.Repeat([]error{errDown}, 40), gone), 0, 41, errcode.NotFound, 40},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fn, calls := fails(tc.errs...)
			_, err := retry.Do(t.Context(), fn, retry.WithClock(newFakeClock()), retry.MaxAttempts(tc.most))
			var e *errcode.Error
			if !errors.As(err, &e) || *calls != tc.calls || e.Code() != tc.code || e.Retried() != tc.retried {
				t.Errorf("%d calls, %v, retried %d", *calls, err, e.Retried())
			}
			if d, problem := (errcode.Builder{}).Data(e); problem != nil || d.Retried != tc.retried {
				t.Errorf("sent as %d, %v", d.Retried, problem)
			}
		})
	}
}

// TestDelayThatCannotBeCounted: an endless Retry-After is obeyed, that is, never waited for.
func TestDelayThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"Retry-After", "Retry-After-Ms"} {
		busy := &errcode.HTTPStatusError{StatusCode: 429, Header: http.Header{field: {"99999999999999999999"}}}
		clock := newFakeClock()
		fn, calls := fails(busy)
		_, err := retry.Do(t.Context(), fn, retry.WithClock(clock), retry.Budget(time.Hour))
		if *calls != 1 || len(clock.slept) != 0 || !errcode.Is(err, errcode.RateLimited) {
			t.Errorf("%s: %d calls, slept %v, %v", field, *calls, clock.slept, err)
		}
	}
}

func TestTheTableInTheContextDecides(t *testing.T) {
	t.Parallel()
	errFlaky := errors.New("flaky")
	table := errcode.NewTable(
		errcode.When("flaky", func(err error) bool { return errors.Is(err, errFlaky) }, errcode.UpstreamUnavailable, "flaky"),
		errcode.When("panics", func(error) bool { return true }, errcode.UpstreamUnavailable, "all", errcode.Retriable(true)))
	ctx := errcode.WithTable(t.Context(), table)

	fn, calls := fails(errFlaky)
	_, err := retry.Do(ctx, fn, retry.WithClock(newFakeClock()))
	if *calls != 3 || !errors.Is(err, errFlaky) || errcode.CodeOf(err) != errcode.UpstreamUnavailable {
		t.Errorf("got %v after %d calls", err, *calls)
	}

	*calls = 0
	_, err = retry.Do(ctx, func(context.Context) (int, error) {
		*calls++
		panic("secret")
	}, retry.WithClock(newFakeClock()))
	if *calls != 1 || err == nil {
		t.Errorf("a rule made a panic retriable: %v after %d calls", err, *calls)
	}
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	_, err := retry.Do(t.Context(), func(context.Context) (int, error) { panic("secret") })
	var p *errcode.PanicError
	if !errors.As(err, &p) || p.Value() != "secret" || len(p.Stack()) == 0 {
		t.Fatalf("got %v", err)
	}
	var e *errcode.Error
	if !errors.As(err, &e) || e.Code() != errcode.Internal || e.Reason() != "panic" {
		t.Errorf("got %v", e)
	}
}

func TestInterruptPasses(t *testing.T) {
	t.Parallel()
	ask := fmt.Errorf("ask: %w", hitl.InputRequired("Which one?"))
	fn, calls := fails(errDown, ask)
	_, err := retry.Do(t.Context(), fn, retry.WithClock(newFakeClock()))
	if err != ask || *calls != 2 { //nolint:errorlint // identity is what is promised
		t.Errorf("got %v after %d calls, want the question untouched", err, *calls)
	}
}

func TestHookSeesEveryRetry(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	var seen []retry.Attempt
	fn, _ := fails(errDown.With(errcode.RetryAfter(time.Minute)), errDown)
	_, _ = retry.Do(t.Context(), fn, retry.WithClock(clock), retry.Jitter(0), retry.MaxAttempts(4),
		retry.OnRetry(func(_ context.Context, a retry.Attempt) {
			seen = append(seen, a)
			panic("a broken hook")
		}))
	if len(seen) != 3 {
		t.Fatalf("hook was called %d times, want 3", len(seen))
	}
	for i, want := range []struct{ delay, elapsed time.Duration }{
		{time.Minute, 0}, {400 * time.Millisecond, time.Minute}, {800 * time.Millisecond, time.Minute + 400*time.Millisecond},
	} {
		a := seen[i]
		if a.Number != i+1 || a.Delay != want.delay || a.Elapsed != want.elapsed ||
			a.Class.Code != errcode.UpstreamUnavailable || !errcode.Is(a.Err, errcode.UpstreamUnavailable) {
			t.Errorf("attempt %d: got %+v", i+1, a)
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]retry.Option{
		"InitialDelay": retry.InitialDelay(-1),
		"MaxDelay":     retry.MaxDelay(-1),
		"Jitter":       retry.Jitter(1.5),
		"MaxAttempts":  retry.MaxAttempts(-1),
		"Budget":       retry.Budget(-1),
		"WithClock":    retry.WithClock(nil),
	} {
		fn, calls := fails(nil)
		_, err := retry.Do(t.Context(), fn, opt)
		var e *errcode.Error
		if !errors.As(err, &e) || e.Reason() != "invalid_retry_option" || e.Code() != errcode.Internal || *calls != 0 {
			t.Errorf("%s: got %v after %d calls", name, err, *calls)
		}
	}
	if _, err := retry.Do[int](t.Context(), nil); !errcode.Is(err, errcode.Internal) {
		t.Errorf("nil function: got %v", err)
	}
}

// loop unwraps to itself; errors.As never returns from it.
type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

type mute struct{}

func (mute) Error() string { panic("no text") }
func (mute) Unwrap() error { panic("no cause") }

func TestHostileErrors(t *testing.T) {
	t.Parallel()
	var null *errcode.Error
	for _, bad := range []error{&loop{}, mute{}, null, (*errcode.HTTPStatusError)(nil), errors.Join(errDown, &loop{})} {
		fn, _ := fails(bad)
		if _, err := retry.Do(t.Context(), fn, retry.WithClock(newFakeClock())); err == nil {
			t.Errorf("%T: lost", bad)
		}
	}
}

// A server that says how often to try knows best; it cannot make Do try more often than its caller wants.
func TestAdvisedAttempts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ advised, allowed, want int }{{1, 5, 1}, {2, 5, 2}, {9, 3, 3}, {2, 0, 2}, {0, 3, 3}} {
		clock := newFakeClock()
		fn, calls := fails(fmt.Errorf("call: %w", errDown.With(blueprint.MaxAttempts(tc.advised))))
		_, err := retry.Do(t.Context(), fn, retry.WithClock(clock), retry.MaxAttempts(tc.allowed))
		if *calls != tc.want || err == nil {
			t.Errorf("%+v: %d calls, %v", tc, *calls, err)
		}
	}
}
