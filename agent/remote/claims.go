package remote

import (
	"context"
	"strconv"
	"sync"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/runscope"
)

// claims tell apart the calls of one run: each has a question of its own, and a
// remote task is the answer to one of them only.
type claims struct {
	mu    sync.Mutex
	taken map[string]bool // the ids of questions that belong to a call
	spent map[string]bool // the remote tasks that have ended
}

type claimsKey struct{}

// claimsOf are those of the run that ctx belongs to.
func claimsOf(ctx context.Context) *claims {
	return runscope.Value(ctx, claimsKey{}, func() *claims {
		return &claims{taken: map[string]bool{}, spent: map[string]bool{}}
	})
}

// slot is a question that a call may ask, and what is known of it.
type slot struct {
	id       string
	answer   any
	answered bool
	parked   *memo
}

// claim takes a question for the call: the first under its key that no other
// call has, unless what it left is under its other key.
func (c *call) claim(ctx context.Context, asker hitl.Asker) (slot, error) {
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	s, err := c.free(ctx, asker, c.key)
	if err == nil && s.parked == nil && !s.answered && c.otherKey != "" {
		var other slot
		if other, err = c.free(ctx, asker, c.otherKey); other.parked != nil {
			s = other
		}
	}
	if err != nil {
		return slot{}, err
	}
	c.claims.taken[s.id] = true
	return s, nil
}

// free finds the first question under the key, and the key with a number, that
// is free.
func (c *call) free(ctx context.Context, asker hitl.Asker, base string) (slot, error) {
	key := base
	for n := 1; ; n++ {
		if n > 1 {
			key = base + "#" + strconv.Itoa(n)
		}
		var s slot
		var err error
		if s.id, s.answer, s.answered, err = asker.Answer(ctx, key); err != nil {
			return slot{}, err
		}
		if c.claims.taken[s.id] && n <= len(c.claims.taken) {
			continue
		}
		kept, err := hitl.Recall(ctx, key)
		if err != nil {
			return slot{}, err
		}
		if s.parked = memoOf(kept, c.identity()); s.parked != nil && c.claims.spent[s.parked.task] {
			s.parked, s.answer, s.answered = nil, nil, false
		}
		return s, nil
	}
}

// settle is told how the call ended. One that failed gives its question back,
// for whoever repeats it to find what it left.
func (c *call) settle(err error) {
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	if c.task != "" && c.state.over() && !c.state.parked() {
		c.claims.spent[c.task] = true
	}
	if err != nil && hitl.Find(err) == nil {
		delete(c.claims.taken, c.id)
	}
}
