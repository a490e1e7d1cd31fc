package retry_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

// scenario is a random policy against a dependency that fails in random ways.
type scenario struct {
	initial, limit, budget time.Duration
	jitter                 float64
	attempts               int
	server                 []time.Duration // what the server asks for, -1 for nothing
	took                   []time.Duration // how long each attempt takes
}

func drawScenario(t *rapid.T) scenario {
	delay := func(most time.Duration) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(0, int64(most)), func(n int64) time.Duration { return time.Duration(n) })
	}
	n := rapid.IntRange(1, 12).Draw(t, "attempts")
	return scenario{
		initial:  delay(time.Minute).Draw(t, "initial"),
		limit:    delay(time.Hour).Draw(t, "limit"),
		budget:   delay(3*time.Hour).Draw(t, "budget"),
		jitter:   rapid.Float64Range(0, 1).Draw(t, "jitter"),
		attempts: n,
		server:   rapid.SliceOfN(rapid.OneOf(rapid.Just(time.Duration(-1)), delay(2*time.Hour)), n, n).Draw(t, "server"),
		took:     rapid.SliceOfN(delay(time.Minute), n, n).Draw(t, "took"),
	}
}

// play runs the scenario and returns the clock, when each attempt started, and the error.
func (s scenario) play(opts ...retry.Option) (clock *fakeClock, starts []time.Duration, err error) {
	clock = newFakeClock()
	begin := clock.Now()
	_, err = retry.Do(context.Background(), func(context.Context) (int, error) {
		i := len(starts)
		starts = append(starts, clock.Now().Sub(begin))
		clock.advance(s.took[i])
		if s.server[i] < 0 {
			return 0, errDown
		}
		return 0, errDown.With(errcode.RetryAfter(s.server[i]))
	}, append([]retry.Option{
		retry.WithClock(clock), retry.InitialDelay(s.initial), retry.MaxDelay(s.limit),
		retry.Jitter(s.jitter), retry.MaxAttempts(s.attempts), retry.Budget(s.budget),
	}, opts...)...)
	return clock, starts, err
}

// formula is initial × 2^(attempt−1), capped, in exact arithmetic.
func (s scenario) formula(attempt int) time.Duration {
	d := float64(s.initial) * math.Pow(2, float64(attempt-1))
	if s.limit > 0 {
		d = min(d, float64(s.limit))
	}
	return time.Duration(d)
}

func TestPropertyLimitsHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		clock, starts, err := s.play()
		if len(starts) < 1 || len(starts) > s.attempts {
			t.Fatalf("%d attempts of %d", len(starts), s.attempts)
		}
		if last := starts[len(starts)-1]; s.budget > 0 && last > s.budget {
			t.Fatalf("an attempt started after %v, the budget is %v", last, s.budget)
		}
		var e *errcode.Error
		if !errors.As(err, &e) || e.Retried() != len(starts)-1 || len(clock.slept) != len(starts)-1 {
			t.Fatalf("%d attempts, %d waits, error %v", len(starts), len(clock.slept), err)
		}
		for i, d := range clock.slept {
			if asked := s.server[i]; asked >= 0 && d != asked {
				t.Fatalf("wait %d: %v, but the server asked for %v", i+1, d, asked)
			}
		}
	})
}

func TestPropertyScheduleIsExactWithoutJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.jitter, s.budget = 0, 0
		clock, starts, _ := s.play()
		if len(starts) != s.attempts {
			t.Fatalf("%d attempts of %d without a budget", len(starts), s.attempts)
		}
		for i, d := range clock.slept {
			if want := s.formula(i + 1); s.server[i] < 0 && d != want {
				t.Fatalf("wait %d: %v, want %v", i+1, d, want)
			}
		}
	})
}

func TestPropertyJitterStaysWithinBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.budget = 0
		clock, _, _ := s.play()
		for i, d := range clock.slept {
			if s.server[i] >= 0 {
				continue
			}
			mid := float64(s.formula(i + 1))
			low, high := time.Duration(mid*(1-s.jitter))-1, time.Duration(mid*(1+s.jitter))+1
			if s.limit > 0 {
				high = min(high, s.limit)
			}
			if d < low || d > high {
				t.Fatalf("wait %d: %v is not within %v and %v", i+1, d, low, high)
			}
		}
	})
}

func TestLongScheduleDoesNotOverflow(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	fn, calls := fails(errDown)
	_, _ = retry.Do(t.Context(), fn, retry.WithClock(clock), retry.InitialDelay(time.Hour),
		retry.MaxDelay(0), retry.Jitter(1), retry.MaxAttempts(200))
	if *calls != 200 {
		t.Fatalf("%d calls", *calls)
	}
	for i, d := range clock.slept {
		if d < 0 {
			t.Fatalf("wait %d is %v", i+1, d)
		}
	}
}
