package remote

import (
	"context"
	"iter"
	"reflect"
	"time"
)

// How often a remote that cannot stream is asked how far it is.
const (
	firstPoll = 100 * time.Millisecond
	slowPoll  = 2 * time.Second
)

// listen gives what the remote says to a message or, where at is the id of a
// task at work, what comes of that. A remote that cannot stream, whatever its
// card says, is asked again and again.
func (c *call) listen(ctx context.Context, m outgoing, at string) iter.Seq2[event, error] {
	if at == "" {
		ctx = c.delivery.watch(ctx)
	}
	return func(yield func(event, error) bool) {
		if !c.way.streams {
			c.poll(ctx, m, at, yield)
			return
		}
		source := c.way.send(ctx, m)
		if at != "" {
			source = c.way.follow(ctx, at)
		}
		first := true
		for ev, err := range source {
			if first && err != nil && unsupported(err) {
				c.poll(ctx, m, at, yield)
				return
			}
			first = false
			if !yield(ev, err) {
				return
			}
		}
	}
}

func (c *call) poll(ctx context.Context, m outgoing, at string, yield func(event, error) bool) {
	var ev event
	var err error
	if at == "" {
		ev, err = c.way.start(ctx, m)
	} else {
		ev, err = c.way.get(ctx, at)
	}
	if !yield(ev, err) || err != nil {
		return
	}
	for pause := firstPoll; ; pause = min(2*pause, slowPoll) {
		if err := sleep(ctx, pause); err != nil {
			yield(event{}, err)
			return
		}
		next, err := c.way.get(ctx, ev.task)
		if err == nil && reflect.DeepEqual(ev, next) {
			continue // the remote says nothing
		}
		ev = next
		if !yield(ev, err) || err != nil {
			return
		}
	}
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
