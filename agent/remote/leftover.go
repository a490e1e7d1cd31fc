package remote

import (
	"context"

	"github.com/a2aexec/a2aexec/internal/leftover"
)

// A remote task that asks is parked until the caller's client answers. That may
// never happen: the caller's task is cancelled, expires or fails. Whoever runs
// the caller's code has what it left taken back then.

// offer has memos of the agent taken back by it, before others of its name.
func (a *Agent) offer() { leftover.Register(a.identity(), a, (*Agent).takeBack) }

// takeBack cancels the remote task of a memo.
func (a *Agent) takeBack(ctx context.Context, kept map[string]any) (done bool) {
	m := memoOf(kept, a.identity())
	if m == nil || a.farewell == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(carrying(ctx), a.farewell)
	defer cancel()
	way, err := a.reach(ctx)
	if err != nil {
		return false // the remote's own limits must do
	}
	return a.cancelTask(ctx, way, m.task) == nil
}

// noteLeft notes what the call has left at the remote.
func (c *call) noteLeft(ctx context.Context) {
	kept := map[string]any{memoAgent: c.identity(), memoTask: c.task}
	switch {
	case c.state.parked():
		c.offer()
		leftover.Add(ctx, kept, c.takeBack)
	case c.state.over():
		leftover.Gone(ctx, kept)
	}
}
