package flow_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestHookOrStoreThatBreaksLosesNoCompletedNode: a node ran again that had
// completed, because the hook, or the store after it had saved, panicked or ended
// the goroutine.
func TestHookOrStoreThatBreaksLosesNoCompletedNode(t *testing.T) {
	t.Parallel()
	for how, bad := range map[string]func(){"panics": func() { panic("hook") }, "exits": runtime.Goexit} {
		for when, at := range map[string]func(flow.Event) bool{
			"as a ends":       func(e flow.Event) bool { return e.Kind == flow.NodeEnded && e.Node == "a" },
			"as a is saved":   func(e flow.Event) bool { return e.Kind == flow.RunSaved && e.Seq == 2 },
			"as all is saved": func(e flow.Event) bool { return e.Kind == flow.RunSaved && e.Seq == 4 },
		} {
			t.Run("the hook "+how+" "+when, func(t *testing.T) {
				t.Parallel()
				l, gate := newLab("f"), make(chan struct{})
				wait := func(context.Context, trail) error { <-gate; return nil }
				a, b, c, j := l.node("a", nil), l.node("b", wait), l.node("c", wait), l.node("j", nil)
				l.Edge(flow.START, a, b, c)
				l.Join(j, a, b, c)
				l.Edge(j, flow.END)
				comp := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated())
				_, err := comp.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
					if e.Kind == flow.RunSaved && e.Seq == 2 {
						defer close(gate)
					}
					if at(e) {
						bad()
					}
				}))
				_ = nodeError(t, err)
				res := must(comp.Resume(t.Context(), "r"))(t)
				for _, id := range []string{"a", "b", "c"} {
					if l.ran(id) != 1 {
						t.Errorf("%s ran %d times", id, l.ran(id))
					}
				}
				if diff := cmp.Diff([]string{"a", "b", "c", "j"}, res.State.Path); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestHookThatPanicsAfterALoneNode: what had completed ran again.
func TestHookThatPanicsAfterALoneNode(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", nil), l.node("b", nil), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	_, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.NodeEnded && e.Node == "a" {
			panic("hook")
		}
	}))
	if ne := nodeError(t, err); !cmp.Equal(ne.Completed, []string{"a"}) {
		t.Errorf("completed %q", ne.Completed)
	}
	must(c.Resume(t.Context(), "r"))(t)
	if l.ran("a") != 1 {
		t.Errorf("a ran %d times", l.ran("a"))
	}
}

// unencodable is an output of which JSON can make nothing.
type unencodable struct{ C chan int }

// TestSiblingsOfAnOutputThatCannotBeStored are stored all the same.
func TestSiblingsOfAnOutputThatCannotBeStored(t *testing.T) {
	t.Parallel()
	l, bad := newLab("f"), true
	a := l.node("a", nil)
	b := flow.Node(l.Graph, "b", "k", func(context.Context, trail) (any, error) {
		if bad {
			return unencodable{make(chan int)}, nil
		}
		return "b", nil
	}, func(*trail, any) {})
	j := l.node("j", nil)
	l.Edge(flow.START, a, b)
	l.Join(j, a, b)
	l.Edge(j, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	_, err := c.Run(t.Context(), "r", trail{})
	var store *flow.StoreError
	if !errors.As(err, &store) || store.Op != "encode" {
		t.Fatalf("got %v", err)
	}
	bad = false
	must(c.Resume(t.Context(), "r"))(t)
	if l.ran("a") != 1 {
		t.Errorf("a ran %d times", l.ran("a"))
	}
}

// failingStore is one that cannot be reached after some saves.
type failingStore struct {
	*flow.Memory
	left atomic.Int32
}

func (s *failingStore) Save(ctx context.Context, c flow.Checkpoint) error {
	if s.left.Add(-1) < 0 {
		return syscall.ECONNREFUSED // which is retriable
	}
	return s.Memory.Save(ctx, c)
}

// TestNothingGoesOnAfterASaveThatFailed: a node was tried again whose effect could
// not be stored, was told that it is, and went on to the next.
func TestNothingGoesOnAfterASaveThatFailed(t *testing.T) {
	t.Parallel()
	inner := newLab("inner")
	inner.chain(flow.START, inner.node("x", nil), flow.END)
	nested := flow.Nested(inner.compile(t), func(trail) trail { return trail{} })
	for name, fn := range map[string]func(ctx context.Context) error{
		"an effect": func(ctx context.Context) error {
			_, err := flow.Once(ctx, "one", func(context.Context) (int, error) { return 1, nil })
			return err
		},
		"a nested flow": func(ctx context.Context) error { _, err := nested(ctx, trail{}); return err },
	} {
		for heeds, rest := range map[string]error{"heeded": errBoom, "ignored": nil} {
			t.Run(name+" "+heeds, func(t *testing.T) {
				t.Parallel()
				store := &failingStore{Memory: flow.NewMemory()}
				store.left.Store(1)
				runs, second := 0, 0
				l := newLab("f")
				l.chain(flow.START, l.node("pay", func(ctx context.Context, _ trail) error {
					runs++
					err := fn(ctx)
					if err != nil && rest != nil {
						return err
					}
					_, err = flow.Once(ctx, "two", func(context.Context) (int, error) { second++; return 1, nil })
					return err
				}, flow.Retry(3), flow.Backoff(0, 0)), flow.END)
				_, err := l.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(store))
				if !errors.Is(err, syscall.ECONNREFUSED) || runs != 1 || second != 0 {
					t.Errorf("%d runs, went on %d times, %v", runs, second, err)
				}
			})
		}
	}
}

// TestLoadOfAFailedRunHasItsSiblings: those that had finished were left out.
func TestLoadOfAFailedRunHasItsSiblings(t *testing.T) {
	t.Parallel()
	l, saved := newLab("f"), make(chan struct{})
	a, j := l.node("a", nil), l.node("j", nil)
	b := l.node("b", func(context.Context, trail) error { <-saved; return errBoom })
	l.Edge(flow.START, a, b)
	l.Join(j, a, b)
	l.Edge(j, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	_, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.RunSaved && e.Seq == 2 {
			close(saved)
		}
	}))
	want := nodeError(t, err)
	res := must(c.Load(t.Context(), "r"))(t)
	if diff := cmp.Diff(want.Completed, res.Completed()); diff != "" || !cmp.Equal(res.State.Path, []string{"a"}) {
		t.Errorf("state %v, completed (-want +got):\n%s", res.State, diff)
	}
}

// TestKeysThatAreNotUTF8: an effect under one was caused again after a resume,
// and a question could not be answered; a run could not be resumed.
func TestKeysThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("order 7"))
	one, two, paid := string(sum[:]), string(sum[:31])+"\xfe", map[string]int{}
	l := newLab("f")
	l.chain(flow.START, l.node("pay", func(ctx context.Context, _ trail) error {
		for _, key := range []string{one, two} {
			if _, err := flow.Once(ctx, key, func(context.Context) (int, error) { paid[key]++; return 1, nil }); err != nil {
				return err
			}
		}
		name, err := hitl.Ask[string](ctx, one, "Name?")
		if err == nil && name != "Ada" {
			err = fmt.Errorf("answered %q", name)
		}
		return err
	}), flow.END)
	store := flow.WithStore(flow.NewMemory())
	c := l.compile(t, store)
	res := must(c.Run(t.Context(), "r", trail{}))(t)
	res = must(c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "Ada")))(t)
	if res.Paused() || paid[one] != 1 || paid[two] != 1 {
		t.Errorf("paused %v, paid %v", res.Paused(), paid)
	}
	if _, err := c.Run(t.Context(), "\xff", trail{}); err == nil {
		t.Error("a run id that is not UTF-8 was taken")
	}
}

// TestAttemptThatRanOutOfTimeIsRetried though the node calls that cancelled.
func TestAttemptThatRanOutOfTimeIsRetried(t *testing.T) {
	t.Parallel()
	l, tries := newLab("f"), 0
	l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		if tries++; tries > 1 {
			return nil
		}
		<-ctx.Done()
		return fmt.Errorf("call: %w", context.Canceled)
	}, flow.Retry(2), flow.Backoff(0, 0), flow.Timeout(time.Millisecond)), flow.END)
	must(l.compile(t).Run(t.Context(), "r", trail{}))(t)
}

// TestDrawingsOfOddNames: a name was a directive for Mermaid, and an entity for
// Graphviz.
func TestDrawingsOfOddNames(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("%%{wrap}%%&lt;", nil), flow.END)
	c := l.compile(t)
	if m := c.Mermaid(flow.Result[trail]{}, nil); strings.Contains(m, "%%") || !strings.Contains(m, "#37;#37;{wrap}#37;#37;#amp;lt;") {
		t.Errorf("a directive: %s", m)
	}
	if d := c.DOT(flow.Result[trail]{}, nil); !strings.Contains(d, "%%{wrap}%%&amp;lt;") {
		t.Errorf("an entity: %s", d)
	}
}
