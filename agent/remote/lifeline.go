package remote

import (
	"context"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// lifeline is the context of an attempt's requests. It outlives that of the
// caller for a moment where the remote has not said yet which task it made, for
// that can be cancelled only by its id. It ends by itself when the remote is
// silent for too long.
type lifeline struct {
	ctx    context.Context //nolint:containedctx // it is what a lifeline is
	cancel context.CancelCauseFunc

	idle    time.Duration
	timer   *time.Timer   // nil without a limit
	learned chan struct{} // closed when the task is known
	learn   func()
	unwatch func() bool
	watched chan struct{} // closed when the watch has ended
}

var errIdle = errcode.New(errcode.UpstreamTimeout, "remote_idle", errcode.Message("The agent was silent for too long."))

func newLifeline(ctx context.Context, idle, patience time.Duration) *lifeline {
	l := &lifeline{idle: idle, learned: make(chan struct{}), watched: make(chan struct{})}
	l.learn = sync.OnceFunc(func() { close(l.learned) })
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.unwatch = context.AfterFunc(ctx, func() {
		defer close(l.watched)
		t := time.NewTimer(patience)
		defer t.Stop()
		select {
		case <-l.learned:
		case <-t.C:
		case <-l.ctx.Done():
		}
		l.cancel(context.Cause(ctx))
	})
	if idle > 0 {
		l.timer = time.AfterFunc(idle, func() { l.cancel(errIdle) })
	}
	return l
}

// pause stops the clock while the caller is at work with what came, beat starts
// it again.
func (l *lifeline) pause() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *lifeline) beat() {
	if l.timer != nil {
		l.timer.Reset(l.idle)
	}
}

// end lets go of everything.
func (l *lifeline) end() {
	l.pause()
	l.cancel(context.Canceled)
	if !l.unwatch() {
		<-l.watched
	}
}
