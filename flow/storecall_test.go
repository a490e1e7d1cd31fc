package flow_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// hangingStore hangs in its third save.
type hangingStore struct {
	*flow.Memory
	hang func(ctx context.Context) error
}

func (s hangingStore) Save(ctx context.Context, c flow.Checkpoint) error {
	if c.Seq == 3 {
		if err := s.hang(ctx); err != nil {
			return err
		}
	}
	return s.Memory.Save(ctx, c)
}

// TestRunEndsThoughTheStoreHangs: a run hung with its store, though its context
// had ended.
func TestRunEndsThoughTheStoreHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	for name, tc := range map[string]struct {
		hang  func(ctx context.Context) error
		after time.Duration // the deadline
		fails bool
	}{
		"for ever":            {func(context.Context) error { <-release; return nil }, 2 * time.Second, true},
		"until its context":   {func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, time.Second, true},
		"for a moment longer": {func(context.Context) error { time.Sleep(time.Minute + time.Second/2); return nil }, time.Second / 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if name == "for ever" {
					release = make(chan struct{})
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				l := newLab("f")
				l.chain(flow.START, l.node("a", nil), l.node("b", nil), flow.END)
				store := hangingStore{flow.NewMemory(), tc.hang}
				c, began := l.compile(t), time.Now()
				res, err := c.Run(ctx, "r", trail{}, flow.WithStore(store))
				if took := time.Since(began); took != time.Minute+tc.after {
					t.Errorf("took %v", took)
				}
				var se *flow.StoreError
				switch {
				case !tc.fails && err != nil:
					t.Errorf("got %v", err)
				case tc.fails && (!errors.As(err, &se) || se.Op != "save" || !errors.Is(err, context.DeadlineExceeded) || nodeError(t, err).Node != "b"):
					t.Errorf("got %v", err)
				}
				if diff := cmp.Diff([]string{"a", "b"}, res.Completed()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if name == "for ever" {
					close(release)
					synctest.Wait()
				}
				last, err := store.Load(t.Context(), "r")
				if err != nil || last.Seq < 2 {
					t.Errorf("number %d, %v", last.Seq, err)
				}
			})
		})
	}
}

// TestStoreThatEndsItsGoroutine fails the run: nothing hangs, nothing is lost.
func TestStoreThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", nil), l.node("b", nil), flow.END)
	store := hangingStore{flow.NewMemory(), func(context.Context) error { runtime.Goexit(); return nil }}
	_, err := l.compile(t).Run(ctx, "r", trail{}, flow.WithStore(store))
	var se *flow.StoreError
	if !errors.As(err, &se) || nodeError(t, err).Node != "b" {
		t.Errorf("got %v", err)
	}
}

// TestPausedRunTellsToleratedFailures: of nodes beside the one that asks.
func TestPausedRunTellsToleratedFailures(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	bad := l.node("bad", fails)
	ask := l.node("ask", func(ctx context.Context, _ trail) error { _, err := hitl.Ask[string](ctx, "q", "Q?"); return err })
	l.Edge(flow.START, bad, ask)
	l.ContinueOnError(flow.START)
	l.Edge(bad, flow.END)
	l.Edge(ask, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	failures := func(what string, res flow.Result[trail]) {
		t.Helper()
		if f := res.Failures(); len(f) != 1 || f[0].Node != "bad" || f[0].Err.Error() != "boom" {
			t.Errorf("%s: got %v", what, f)
		}
	}
	res := must(c.Run(t.Context(), "r", trail{}))(t)
	failures("paused", res)
	failures("loaded", must(c.Load(t.Context(), "r"))(t))
	failures("still paused", must(c.Resume(t.Context(), "r"))(t))
	failures("ended", must(c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "x")))(t))
}
