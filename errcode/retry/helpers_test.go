package retry_test

import (
	"context"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// fakeClock is a clock that only sleeping moves. It starts far in the future, so that deadlines
// counted from it never fire by themselves.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return context.Cause(ctx)
}

// advance is the time an attempt takes.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var errDown = errcode.New(errcode.UpstreamUnavailable, "down")

// fails returns a function that fails with the errors in turn, the last one for ever, and the
// number of its calls.
func fails(errs ...error) (fn func(context.Context) (string, error), calls *int) {
	calls = new(int)
	return func(context.Context) (string, error) {
		err := errs[min(*calls, len(errs)-1)]
		*calls++
		if err == nil {
			return "value", nil
		}
		return "half", err
	}, calls
}
