package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/retained"
)

// A question parks the task in the midst of a conversation. What was said, and
// what the tools of the round gave that had finished, is kept with the parked
// task, and the conversation goes on from there: no tool that has finished runs
// again, and the model is not asked again what it has answered.

// conversation is a run as it is kept.
type conversation struct {
	Messages   []keptMessage      `json:"messages"`
	Finished   map[int]CallResult `json:"finished,omitempty"` // of the last round, by the call's place
	Usage      Usage              `json:"usage"`
	Iterations int                `json:"iterations"`
	Over       bool               `json:"over,omitempty"`
}

type keptMessage struct {
	Role    Role            `json:"role"`
	Text    string          `json:"text,omitempty"`
	Calls   []keptCall      `json:"calls,omitempty"`
	Results []CallResult    `json:"results,omitempty"`
	Raw     json.RawMessage `json:"raw,omitempty"`
}

// keptCall has arguments that may be no JSON.
type keptCall struct{ ID, Name, Args string }

// place is where a run's conversation is kept.
type place struct {
	id, what string
	number   int
}

// placeOf finds the place of the run: the same whenever its code runs again with
// the same words. Nil where there is none.
func (l *Loop) placeOf(ctx context.Context, messages []Message) *place {
	asker, ok := hitl.AskerFrom(ctx)
	if !ok {
		return nil
	}
	said, err := keptAll(messages)
	if err != nil {
		return nil
	}
	begun, err := json.Marshal(said)
	if err != nil {
		return nil
	}
	h := sha256.New()
	for _, part := range []string{l.system, l.names, string(begun)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	what := "loop/" + hex.EncodeToString(h.Sum(nil)[:8])
	scope, _, _, err := asker.Answer(ctx, what) // of the flow's node, say
	if err != nil {
		return nil
	}
	p := &place{id: scope, what: scope, number: numbersOf(ctx).next(scope)}
	if p.number > 1 {
		p.id += fmt.Sprint("#", p.number)
	}
	return p
}

// restore goes on with what an earlier run of the task has kept, and reports
// whether it was over.
func (r *run) restore(ctx context.Context) (over bool) {
	if r.place == nil {
		return false
	}
	kept, ok := retained.Get(ctx, r.place.id)
	var c conversation
	if !ok || json.Unmarshal([]byte(kept), &c) != nil {
		return false
	}
	r.answer.Messages = r.answer.Messages[:0:0]
	for _, m := range c.Messages {
		r.say(m.message())
	}
	r.answer.Usage, r.answer.Iterations, r.finished = c.Usage, c.Iterations, c.Finished
	if len(r.answer.Messages) == 0 {
		return c.Over
	}
	if last := r.answer.Messages[len(r.answer.Messages)-1]; c.Over {
		r.answer.Text = last.Text
	} else if last.Role == Assistant {
		r.waiting = last.Calls
	}
	return c.Over
}

// keep has the conversation kept as it is now, should the task be parked.
func (r *run) keep(ctx context.Context, over bool) {
	if r.place == nil {
		return
	}
	messages, finished := r.answer.Messages, r.finished
	c := conversation{Finished: finished, Usage: r.answer.Usage, Iterations: r.answer.Iterations, Over: over}
	retained.Set(ctx, r.place.id, func() (string, bool) {
		said, err := keptAll(messages)
		if err != nil {
			return "", false
		}
		whole := c
		whole.Messages = said
		raw, err := json.Marshal(whole)
		return string(raw), err == nil
	})
}

func keptAll(messages []Message) ([]keptMessage, error) {
	out := make([]keptMessage, 0, len(messages))
	for _, m := range messages {
		k, err := keptOf(m)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func keptOf(m Message) (keptMessage, error) {
	k := keptMessage{Role: m.Role, Text: m.Text, Results: m.Results}
	for _, c := range m.Calls {
		k.Calls = append(k.Calls, keptCall{c.ID, c.Name, string(c.Args)})
	}
	if m.Raw == nil {
		return k, nil
	}
	raw, err := json.Marshal(m.Raw)
	k.Raw = raw
	return k, err
}

func (k keptMessage) message() Message {
	m := Message{Role: k.Role, Text: k.Text, Results: k.Results}
	for _, c := range k.Calls {
		m.Calls = append(m.Calls, Call{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Args)})
	}
	if k.Raw != nil {
		m.Raw = k.Raw
	}
	return m
}
