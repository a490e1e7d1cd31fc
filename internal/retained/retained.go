// Package retained keeps with a parked task what code wants to find again when the
// task goes on, in this process or another: how far a conversation with a model
// is, say. Unlike a memo (hitl.Memo) it is private, needs no question, and is
// stored whoever parks the task.
package retained

import (
	"context"
	"maps"
	"sync"
)

// Key is where it is in a task's metadata, which clients are not shown.
const Key = "a2aexec/kept"

// MaxBytes is how much of one run is kept.
const MaxBytes = 8 << 20

// Value makes what is to be kept, when a task is parked. It gives false where it
// cannot. It must be safe to be called later, from another goroutine.
type Value func() (string, bool)

type store struct {
	mu     sync.Mutex
	before map[string]any
	now    map[string]Value
}

type key struct{}

// New returns a context for one run, with what the metadata of its task keep.
func New(ctx context.Context, metadata map[string]any) context.Context {
	before, _ := metadata[Key].(map[string]any)
	return context.WithValue(ctx, key{}, &store{before: before})
}

// Get gives what an earlier run of the task has kept under the id.
func Get(ctx context.Context, id string) (string, bool) {
	s, ok := ctx.Value(key{}).(*store)
	if !ok {
		return "", false
	}
	v, ok := s.before[id].(string)
	return v, ok
}

// Set has a value kept if the run parks its task. Outside of a run it does
// nothing.
func Set(ctx context.Context, id string, v Value) {
	s, ok := ctx.Value(key{}).(*store)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[string]Value{}
	}
	s.now[id] = v
}

// All gives what is to be kept of the run of ctx and of earlier ones, nil for
// nothing.
func All(ctx context.Context) map[string]any {
	s, ok := ctx.Value(key{}).(*store)
	if !ok {
		return nil
	}
	s.mu.Lock()
	now := maps.Clone(s.now)
	s.mu.Unlock()
	all, left := map[string]any{}, MaxBytes
	for id, value := range now {
		if v, ok := value(); ok && len(v) <= left {
			all[id] = v
			left -= len(v)
		}
	}
	for id, v := range s.before {
		_, again := now[id]
		if old, ok := v.(string); ok && !again && len(old) <= left {
			all[id] = v
			left -= len(old)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
