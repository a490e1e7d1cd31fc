package agent

import (
	"context"

	"github.com/a2aexec/a2aexec/hitl"
)

// Asker answers hitl.Ask in the agent's code from the task's own history: the
// message after a question is its answer, a later answer to the same question
// replaces an earlier one. Nothing else needs to be kept while the task is
// parked. Whoever runs the agent puts it into the context of the agent's code.
//
// A question's id is its key. The answer is the message's first data part, its
// text without one.
//
// It is a hitl.Rememberer too: memos are kept in the task's metadata.
func (r *Request) Asker() hitl.Asker {
	return asker{answersIn(r.in.Task, r.in.Message), memosIn(r.in.Task)}
}

type asker struct {
	answers map[string]any
	memos   map[string]any
}

// Answer implements hitl.Asker.
func (a asker) Answer(_ context.Context, key string) (id string, answer any, answered bool, err error) {
	answer, answered = a.answers[key]
	return key, answer, answered, nil
}

// Recall implements hitl.Rememberer.
func (a asker) Recall(_ context.Context, key string) (map[string]any, error) {
	memo, _ := a.memos[key].(map[string]any)
	return cloneMap(memo), nil
}
