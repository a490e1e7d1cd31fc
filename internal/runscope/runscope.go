// Package runscope keeps what belongs to one run of an agent, such as how often
// a tool has failed in it, for code that many runs share. Whoever runs an
// agent's code puts a scope into its context; it is forgotten with the context.
package runscope

import (
	"context"
	"sync"
)

type key struct{}

type scope struct {
	mu     sync.Mutex
	values map[any]any
}

// New returns a context with an empty scope of its own.
func New(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, &scope{})
}

// In reports whether ctx has a scope.
func In(ctx context.Context) bool {
	_, ok := ctx.Value(key{}).(*scope)
	return ok
}

// Value returns what is kept under k in the scope of ctx, after it has made it
// where nothing was. Without a scope what it makes is the caller's alone. The
// key should have a type of the caller's own; it must be comparable. It is safe
// for concurrent use if what it returns is; creation is called with the scope locked.
func Value[T any](ctx context.Context, k any, creation func() T) T {
	s, ok := ctx.Value(key{}).(*scope)
	if !ok {
		return creation()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.values[k].(T); ok {
		return v
	}
	if s.values == nil {
		s.values = map[any]any{}
	}
	v := creation()
	s.values[k] = v
	return v
}
