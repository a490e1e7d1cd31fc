package remote

import (
	"context"
	"maps"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/leftover"
	"github.com/a2aexec/a2aexec/stream"
)

// memo is what is kept with the caller's parked task to find the remote's.
type memo struct {
	task, context string
	question      string         // the id of its status message
	seen          map[string]int // see output.seen

	answer   any
	answered bool
	sent     bool
}

// The members of a memo as it is kept.
const (
	memoAgent    = leftover.Owner
	memoTask     = leftover.Thing
	memoContext  = "context"
	memoQuestion = "question"
	memoSeen     = "seen"
)

// errLost says that there is an answer but no remote task to give it to: the
// asker in the context keeps no memos, or its key is another question's.
var errLost = errcode.New(errcode.Internal, "remote_question_lost",
	errcode.Message("The agent whose question was answered cannot be found again."))

// recall finds out whether an earlier run of the caller left a remote task
// parked, and the answer for it.
func (c *call) recall(ctx context.Context) error {
	c.id = c.key
	asker, ok := hitl.AskerFrom(ctx)
	if !ok {
		return nil
	}
	s, err := c.claim(ctx, asker)
	if err != nil {
		return err
	}
	c.id, c.parked = s.id, s.parked
	switch {
	case c.parked != nil:
		c.parked.answer, c.parked.answered = s.answer, s.answered
		c.task, c.context = c.parked.task, c.parked.context
	case s.answered:
		c.settle(errLost)
		return errLost
	}
	return nil
}

// memoOf reads a memo; nil if there is none of that agent.
func memoOf(kept map[string]any, identity string) *memo {
	m := &memo{seen: map[string]int{}}
	m.task, _ = kept[memoTask].(string)
	m.context, _ = kept[memoContext].(string)
	m.question, _ = kept[memoQuestion].(string)
	if kept[memoAgent] != any(identity) || m.task == "" {
		return nil
	}
	seen, _ := kept[memoSeen].(map[string]any)
	for id, n := range seen {
		if units, ok := n.(float64); ok {
			m.seen[id] = int(units)
		}
	}
	return m
}

func (m *memo) forwarded() map[string]int {
	if m == nil {
		return nil
	}
	return m.seen
}

// isOld tells a question that was answered just now, and that the remote still
// shows, from one that it asks.
func (m *memo) isOld(ev event) bool {
	return m != nil && m.sent && ev.state.parked() && ev.status.id != "" && ev.status.id == m.question
}

// question parks the caller's task with the remote's question.
func (c *call) question(ev event) error {
	kept := map[string]any{
		memoAgent: c.identity(), memoTask: c.task, memoContext: c.context,
		memoQuestion: ev.status.id, memoSeen: c.out.counts(),
	}
	opts := []hitl.Option{hitl.ID(c.id), hitl.Memo(kept)}
	if data := payloadOf(ev.status.data); data != nil {
		opts = append(opts, hitl.Payload(data))
	}
	if ev.state == authRequired {
		return hitl.AuthRequired(ev.status.text, opts...)
	}
	return hitl.InputRequired(ev.status.text, opts...)
}

// payloadOf leaves to the caller's question what it says by itself.
func payloadOf(data any) any {
	m, ok := data.(map[string]any)
	if !ok {
		return data
	}
	m = maps.Clone(m)
	delete(m, "id")
	delete(m, "question")
	if len(m) == 0 {
		return nil
	}
	return m
}

// resume looks how the parked task stands, and makes of the message the answer
// to its question or tells that it is at work.
func (c *call) resume(ctx context.Context, said *outgoing, atWork *bool) (ended bool, err error) {
	p := c.parked
	ev, err := c.way.get(ctx, p.task)
	if err != nil {
		return false, &lostError{err: err}
	}
	if err := c.check(ev); err != nil {
		return false, &lostError{err: err}
	}
	switch {
	case ev.state.parked() && p.answered && ev.status.id == p.question:
		if err := c.out.add(ev.pieces); err != nil {
			return false, err
		}
		p.sent = true
		said.task, said.context = p.task, p.context
		said.Parts = c.reply
		if said.Parts == nil {
			said.Parts = []stream.Part{answerPart(p.answer)}
		}
		return false, nil
	case ev.state.over(): // it went on, or asks something else by now
		return c.take(ev, func() {})
	default:
		*atWork, c.begun = true, true
		return false, nil
	}
}
