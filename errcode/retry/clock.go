package retry

import (
	"context"
	"time"
)

// Clock tells the time and waits. It must be safe for concurrent use if it is shared.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or context.Cause(ctx) as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

// Now is time.Now.
func (systemClock) Now() time.Time { return time.Now() }

// Sleep waits with a timer. When ctx is done at the end of the wait, it says so too.
func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return context.Cause(ctx)
	}
}
