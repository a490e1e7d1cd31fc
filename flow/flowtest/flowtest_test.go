package flowtest_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/flow/flowtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	t.Parallel()
	flowtest.Run(t, func(*testing.T) flow.Store { return flow.NewMemory() })
	if err := flowtest.TestStore(t.Context(), flow.NewMemory()); err != nil {
		t.Error(err)
	}
}

// Each of these stores breaks one promise.
type (
	careless  struct{ *flow.Memory } // takes any number
	forgetful struct{ *flow.Memory } // loads nothing
	deaf      struct{ *flow.Memory } // ignores the context
	sticky    struct{ *flow.Memory } // deletes nothing
	rude      struct{ *flow.Memory } // panics

	idempotent struct{ *flow.Memory } // takes the same checkpoint twice
	hasty      struct {               // looks before it saves
		mu   sync.Mutex
		last map[string]flow.Checkpoint
	}
)

func (s idempotent) Save(ctx context.Context, c flow.Checkpoint) error {
	last, err := s.Load(ctx, c.Run)
	if err == nil && last.Seq == c.Seq && bytes.Equal(last.Data, c.Data) {
		return nil
	}
	return s.Memory.Save(ctx, c)
}

func (s *hasty) Save(ctx context.Context, c flow.Checkpoint) error {
	s.mu.Lock()
	last := s.last[c.Run]
	s.mu.Unlock()
	if last.Seq+1 != c.Seq {
		return flow.ErrConflict
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[c.Run] = c
	return nil
}

func (s *hasty) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	if err := ctx.Err(); err != nil {
		return flow.Checkpoint{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.last[run]; ok {
		return c, nil
	}
	return flow.Checkpoint{}, flow.ErrUnknownRun
}

func (s *hasty) Delete(ctx context.Context, run string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, run)
	return nil
}

func (s careless) Save(ctx context.Context, c flow.Checkpoint) error {
	last, err := s.Load(ctx, c.Run)
	if err == nil {
		c.Seq = last.Seq + 1
	} else {
		c.Seq = 1
	}
	return s.Memory.Save(ctx, c)
}

func (s forgetful) Load(_ context.Context, run string) (flow.Checkpoint, error) {
	return flow.Checkpoint{Run: run}, nil
}

func (s deaf) Save(ctx context.Context, c flow.Checkpoint) error {
	return s.Memory.Save(context.WithoutCancel(ctx), c)
}

func (s rude) Save(context.Context, flow.Checkpoint) error { panic("no") }

func (s sticky) Delete(context.Context, string) error { return nil }

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		store flow.Store
		want  string
	}{
		{"takes any number", careless{flow.NewMemory()}, "a gap in the sequence is a conflict"},
		{"loads nothing", forgetful{flow.NewMemory()}, "an unknown run is ErrUnknownRun"},
		{"ignores the context", deaf{flow.NewMemory()}, "a cancelled context changes nothing"},
		{"deletes nothing", sticky{flow.NewMemory()}, "a deleted run is unknown and can begin again"},
		{"takes the same twice", idempotent{flow.NewMemory()}, "a number used already is a conflict"},
		{"looks before it saves", &hasty{last: map[string]flow.Checkpoint{}}, "of many that save the same number one wins"},
		{"panics", rude{flow.NewMemory()}, "panic"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := flowtest.TestStore(t.Context(), tc.store)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a violation of %q", err, tc.want)
			}
		})
	}
}
