package flowtest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"path"
	"strings"
	"sync"
	"testing"
	"unicode"

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
	torn      struct{ *flow.Memory } // panics where it is read while it writes

	idempotent struct{ *flow.Memory } // takes the same checkpoint twice
	hasty      struct {               // looks before it saves
		mu   sync.Mutex
		last map[string]flow.Checkpoint
	}
)

// hastier looks, packs, and saves, and looks at no context.
type hastier struct{ hasty }

func (s *hastier) Save(_ context.Context, c flow.Checkpoint) error {
	s.mu.Lock()
	last := s.last[c.Run]
	s.mu.Unlock()
	if last.Seq+1 != c.Seq {
		return flow.ErrConflict
	}
	w := gzip.NewWriter(io.Discard) // which takes longer than a processor is given at a time
	if _, err := w.Write(c.Data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[c.Run] = c
	return nil
}

// keyed makes another key of a run's id.
type keyed struct {
	*flow.Memory
	key func(string) string
}

func (s keyed) Save(ctx context.Context, c flow.Checkpoint) error {
	c.Run = s.key(c.Run)
	return s.Memory.Save(ctx, c)
}

func (s keyed) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	c, err := s.Memory.Load(ctx, s.key(run))
	c.Run = run
	return c, err
}

func (s keyed) Delete(ctx context.Context, run string) error { return s.Memory.Delete(ctx, s.key(run)) }

// TestStoresThatConfuseRunsAreFound: they passed.
func TestStoresThatConfuseRunsAreFound(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(string) string{
		"without case": strings.ToLower,
		"cut":          func(s string) string { return s[:min(len(s), 64)] },
		"cut at 255":   func(s string) string { return s[:min(len(s), 255)] },
		"trimmed":      strings.TrimSpace,
		"as a path":    path.Clean,
		"as a file":    strings.NewReplacer("/", "_", ":", "_", `\`, "_").Replace,
		"escaped once": func(s string) string { return strings.ReplaceAll(s, "/", "%2F") },
		"only ASCII": func(s string) string {
			return strings.Map(func(r rune) rune { return min(r, 128) }, s)
		},
		"only letters": func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || r == '/' || r == '1' {
					return r
				}
				return -1
			}, s)
		},
	} {
		err := flowtest.TestStore(t.Context(), keyed{flow.NewMemory(), key})
		if err == nil || !strings.Contains(err.Error(), "look alike") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

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

func (s torn) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	c, err := s.Memory.Load(ctx, run)
	if len(c.Data) > 20_000 && len(c.Data) < 30_000 {
		panic("half a page")
	}
	return c, err
}

func (s sticky) Delete(context.Context, string) error { return nil }

// broken is a store with the check that finds it.
type broken struct {
	name  string
	store flow.Store
	want  string
}

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	cases := []broken{
		{"takes any number", careless{flow.NewMemory()}, "a gap in the sequence is a conflict"},
		{"loads nothing", forgetful{flow.NewMemory()}, "an unknown run is ErrUnknownRun"},
		{"ignores the context", deaf{flow.NewMemory()}, "a cancelled context changes nothing"},
		{"deletes nothing", sticky{flow.NewMemory()}, "a deleted run is unknown and can begin again"},
		{"takes the same twice", idempotent{flow.NewMemory()}, "a number used already is a conflict"},
		{"looks before it saves", &hasty{last: map[string]flow.Checkpoint{}}, "of many that save the same number one wins"},
		{"packs before it saves", &hastier{hasty{last: map[string]flow.Checkpoint{}}}, "of many that save the same number one wins"},
		{"panics", rude{flow.NewMemory()}, "panic"},
		{"panics while it is read", torn{flow.NewMemory()}, "a reader sees whole checkpoints only"},
	}
	for _, tc := range append(cases, racing()...) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := flowtest.TestStore(t.Context(), tc.store)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a violation of %q", err, tc.want)
			}
		})
	}
}
