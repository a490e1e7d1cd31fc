package remote

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

// How often a task is asked how far it is, where the agent cannot stream.
const (
	firstPoll = 100 * time.Millisecond
	slowPoll  = 2 * time.Second
)

// say sends a message and gives what follows. A remote that cannot stream,
// whatever its card says, gives the first of that.
func (c *call) say(ctx context.Context, m outgoing) iter.Seq2[event, error] {
	ctx = c.delivery.watch(ctx)
	return func(yield func(event, error) bool) {
		if c.way.streams && !c.mute {
			first := true
			for ev, err := range c.way.send(ctx, m) {
				if first && err != nil && unsupported(err) {
					c.mute = true
					break
				}
				first = false
				if !yield(ev, err) {
					return
				}
			}
			if !c.mute {
				return
			}
		}
		yield(c.way.start(ctx, m))
	}
}

// mayReadOn reports whether a task is at work all the same, though the remote's
// answer ended with err.
func (c *call) mayReadOn(ctx context.Context, err error) bool {
	var lost *lostError
	var odd *eventError
	return errors.As(err, &lost) && !errors.As(err, &odd) && !isTooLarge(err) &&
		c.begun && c.task != "" && ctx.Err() == nil
}

// readOn follows a task at work to its end. lost is why its first stream ended,
// nil if there was none. As long as streams tell something new they are opened
// again; otherwise the task is asked again and again. Nothing of that changes the
// task, so what fails for now is repeated. An error is like that of converse.
func (c *call) readOn(ctx context.Context, l *lifeline, lost error) error {
	var why *errcode.Error
	var last event
	follow := c.way.streams && !c.mute
	if first := (*lostError)(nil); follow && errors.As(lost, &first) {
		why = c.broken(first.err, nil, notesFrom(ctx))
	}
	for pause, n := firstPoll, 0; ; pause, n = min(2*pause, slowPoll), n+1 {
		if !follow || n > 0 {
			if err := sleep(ctx, pause); err != nil {
				return &lostError{err: err}
			}
		}
		ev, err := c.read(ctx)
		if err != nil {
			return c.unread(ctx, err, why)
		}
		why = nil
		if !reflect.DeepEqual(ev, last) {
			if ended, err := c.hear(l, one(ev)); ended || !c.mayReadOn(ctx, err) {
				return err
			}
		}
		last = ev
		if follow {
			var done bool
			if follow, done, err = c.follow(ctx, l, last); done {
				return err
			}
		}
	}
}

// follow hears what comes of a task at work. It is not trusted unless it begins
// with all there is: what was said between two streams would be missing. again
// reports whether it told anything new.
func (c *call) follow(ctx context.Context, l *lifeline, known event) (again, done bool, err error) {
	first := true
	ended, err := c.hear(l, func(yield func(event, error) bool) {
		for ev, err := range c.way.follow(ctx, c.task) {
			if first && err == nil && (!ev.whole || !ev.state.over() && !c.out.covers(ev.pieces)) {
				return
			}
			again = err == nil && (again || !first || !reflect.DeepEqual(ev, known))
			first = false
			if !yield(ev, err) {
				return
			}
		}
	})
	return again, ended || !c.mayReadOn(ctx, err), err
}

// unread is the failure of a call whose task cannot be read. why is what ended
// its stream, which says more.
func (c *call) unread(ctx context.Context, err error, why *errcode.Error) error {
	lost := &lostError{err: err}
	if ctx.Err() != nil {
		return lost // which says why
	}
	if lost.failure = why; why == nil {
		lost.failure = c.table.Convert(err)
	}
	return lost
}

// read reads the task, again where that fails for now.
func (c *call) read(ctx context.Context) (event, error) {
	return retry.Do(ctx, func(ctx context.Context) (event, error) {
		ctx, notes := withNotes(ctx)
		ev, err := c.way.get(ctx, c.task)
		if err != nil {
			return event{}, c.broken(err, nil, notes)
		}
		return ev, nil
	}, c.policy()...)
}

// cancelTask cancels a task, again where that fails for now. One that has ended
// is none.
func (a *Agent) cancelTask(ctx context.Context, way *wire, task string) error {
	_, err := retry.Do(ctx, func(ctx context.Context) (struct{}, error) {
		ctx, notes := withNotes(ctx)
		if err := way.cancel(ctx, task); err != nil && !hasEnded(err) {
			return struct{}{}, diagnose(errcode.TableFrom(ctx), err, nil, notes)
		}
		return struct{}{}, nil
	}, a.policy()...)
	return err
}

func one(ev event) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) { yield(ev, nil) }
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
