//go:build !race

package flowtest_test

import (
	"context"
	"sync"

	"github.com/a2aexec/a2aexec/flow"
)

// racing are the broken stores whose fault is a data race.
func racing() []broken {
	return []broken{
		{"loads into the same memory", &shared{Memory: flow.NewMemory()}, "saved data is not aliased by what is loaded"},
	}
}

// shared loads all checkpoints into the same memory.
type shared struct {
	*flow.Memory
	mu  sync.Mutex
	buf []byte
}

func (s *shared) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	c, err := s.Memory.Load(ctx, run)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = append(s.buf[:0], c.Data...)
	c.Data = s.buf
	return c, err
}
