package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/runscope"
)

// Each call has questions of its own: a consent to one is none to another, of
// another tool, with other arguments, or the same once more.

// numberKey is where a loop tells which of equal calls it is, counted from 1.
type numberKey struct{}

// scoped is an asker for one call.
type scoped struct {
	hitl.Asker
	tool   string
	args   json.RawMessage
	number int // 0 where nobody counts

	once   sync.Once
	prefix string
}

// withQuestions returns a context in which the call asks for itself.
func (g *guarded) withQuestions(ctx context.Context, args json.RawMessage) context.Context {
	asker, ok := hitl.AskerFrom(ctx)
	if !ok {
		return ctx
	}
	number, _ := ctx.Value(numberKey{}).(int)
	if number > 0 {
		ctx = context.WithValue(ctx, numberKey{}, 0) // it is not that of calls made by this one
	}
	return hitl.WithAsker(ctx, &scoped{Asker: asker, tool: g.spec.Name, args: args, number: number})
}

// Answer implements hitl.Asker.
func (s *scoped) Answer(ctx context.Context, key string) (id string, answer any, answered bool, err error) {
	return s.Asker.Answer(ctx, s.key(ctx, key))
}

// Recall implements hitl.Rememberer.
func (s *scoped) Recall(ctx context.Context, key string) (map[string]any, error) {
	r, ok := s.Asker.(hitl.Rememberer)
	if !ok {
		return nil, nil
	}
	return r.Recall(ctx, s.key(ctx, key))
}

func (s *scoped) key(ctx context.Context, key string) string {
	s.once.Do(func() {
		sum := sha256.Sum256(s.args)
		s.prefix = fmt.Sprintf("tool/%s/%s", cutRune(line(s.tool), maxName), hex.EncodeToString(sum[:8]))
		if s.number == 0 {
			s.number = numbersOf(ctx).next(s.prefix)
		}
		if s.number > 1 {
			s.prefix += fmt.Sprint("#", s.number)
		}
		s.prefix += "/"
	})
	return s.prefix + key
}

// numbers count equal calls of one run, of those that ask.
type numbers struct {
	mu sync.Mutex
	of map[string]int
}

type numbersKey struct{}

func numbersOf(ctx context.Context) *numbers {
	return runscope.Value(ctx, numbersKey{}, func() *numbers { return &numbers{of: map[string]int{}} })
}

func (n *numbers) next(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of[what]++
	return n.of[what]
}

// undo gives the number back, if it was the last.
func (n *numbers) undo(what string, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of[what] == number {
		n.of[what]--
	}
}
