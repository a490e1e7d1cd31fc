package hitl

import (
	"context"
	"fmt"

	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// MemoKey is the key of the memos in a parked task's metadata: an object of
// them by the ids of their questions.
const MemoKey = "a2aexec/memo"

// Memo keeps v with the parked task for the code that asks: when the task goes
// on, in this process or another, [Recall] gives it back. The question needs an
// id. It is converted here and now; what JSON cannot express is left out. It is
// no secret: clients see it in the task's metadata, but cannot change it.
// Default, and nil: none.
func Memo(v map[string]any) Option {
	var m map[string]any
	var lost []string
	if len(v) > 0 {
		m, lost = plain.Map(v)
	}
	return Option{func(i *Interrupt) { i.memo, i.lost = m, lost }}
}

// Memo is what the asking code wants to find again, nil if there is nothing.
// The map is the caller's.
func (i *Interrupt) Memo() map[string]any {
	if i == nil || len(i.memo) == 0 {
		return nil
	}
	m, _ := plain.Map(i.memo)
	return m
}

// Rememberer is an [Asker] that keeps memos. Recall gives the memo of the
// question that the code running in ctx calls key, nil if it has none; whoever
// calls it may change it. It must be safe for concurrent use.
type Rememberer interface {
	Recall(ctx context.Context, key string) (memo map[string]any, err error)
}

// Recall gives the [Memo] of the last question that the code running in ctx
// asked under key, whether it has been answered or not; nil if there is none.
// The errors are those of the asker.
func Recall(ctx context.Context, key string) (map[string]any, error) {
	asker, _ := AskerFrom(ctx)
	r, ok := asker.(Rememberer)
	if !ok {
		return nil, nil
	}
	memo, err := r.Recall(ctx, plain.Key(key))
	if err != nil {
		return nil, fmt.Errorf("recall memo of %q: %w", key, err)
	}
	return memo, nil
}

// Memos gives the memos of all questions that err carries, by their ids; nil
// without any. Of several joined questions only the first is asked, but what
// all of them want to find again is kept.
func Memos(err error) map[string]any {
	var memos map[string]any
	errtree.Walk(err, func(e error) bool {
		i, ok := e.(*Interrupt) //nolint:errorlint // each node of the tree is looked at by itself
		if !ok || i.ID() == "" || i.Memo() == nil {
			return true
		}
		if memos == nil {
			memos = map[string]any{}
		}
		if _, twice := memos[i.ID()]; !twice {
			memos[i.ID()] = i.Memo()
		}
		return true
	})
	return memos
}
