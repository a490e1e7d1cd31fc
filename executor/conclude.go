package executor

import (
	"context"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/stream"
)

// An ending may be long: each artifact is an event, for each of which the host
// copies the task. It must not keep a client that cancels waiting, nor a run
// that has run out of time going.

// mostAtOnce is how many events the host is handed without a look at whether
// they are still wanted, and how many artifacts a run that is stopped closes.
const mostAtOnce = 16

// cancelTime is how long the artifacts of a canceled run may take to be closed.
const cancelTime = time.Second

// conclude yields the last events. A task that is canceled meanwhile is canceled
// then and there.
func (r *run) conclude(ctx context.Context, e ending, yield func(a2a.Event) bool) Outcome {
	stopped, unwanted := ctx.Err() != nil, ctx.Done()
	var late <-chan time.Time
	if stopped {
		canceled := e.outcome.State == Canceled
		e.closing, unwanted = urgent(e.closing, canceled), nil
		if canceled {
			t := time.NewTimer(cancelTime)
			defer t.Stop()
			late = t.C
		}
	}
	events := e.events(time.Now())
	last := len(events) - 1
	for i, ev := range events[:last] {
		if !yield(ev) {
			return e.outcome
		}
		if late == nil && (stopped || last-i <= mostAtOnce) {
			continue
		}
		select {
		case <-r.kept:
			continue
		case <-late:
		case <-unwanted:
			e.outcome = r.stoppedBy(r.stopCause(ctx))
		}
		yield(e.bare(time.Now()))
		return e.outcome
	}
	yield(events[last])
	return e.outcome
}

// urgent is what a run that is stopped still sends of the chunks that close its
// artifacts: what has content first, of a canceled one as far as it is few, and
// then few of those that only say that nothing more comes. The ending says so
// of all.
func urgent(closing []stream.Chunk, canceled bool) []stream.Chunk {
	if len(closing) <= mostAtOnce {
		return closing
	}
	var full, empty []stream.Chunk
	for _, c := range closing {
		if p := c.Parts[0]; len(c.Parts) == 1 && p.Kind() == stream.KindText && p.Text() == "" {
			empty = append(empty, c)
		} else {
			full = append(full, c)
		}
	}
	if canceled {
		full = full[:min(len(full), mostAtOnce)]
	}
	return append(full, empty[:min(len(empty), max(0, mostAtOnce-len(full)))]...)
}
