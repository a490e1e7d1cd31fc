package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestFailingNodeThatLeftSomebodyBehind: what asked and caused effects in the
// node's name, as it failed, read what the scheduler wrote at the same time.
func TestFailingNodeThatLeftSomebodyBehind(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(context.Context){
		"asks":    func(ctx context.Context) { _, _ = hitl.Ask[string](ctx, "k", "?") },
		"recalls": func(ctx context.Context) { _, _ = hitl.Recall(ctx, "k") },
		"causes an effect": func(ctx context.Context) {
			_, _ = flow.Once(ctx, "k", func(context.Context) (int, error) { return 1, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 50 {
				var left sync.WaitGroup
				l := newLab("f")
				l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
					begun := make(chan struct{})
					left.Go(func() {
						close(begun) // to wait for what follows would put it in order
						for range 500 {
							look(ctx)
						}
					})
					<-begun
					panic("takes long to be contained, and others go on")
				}), flow.END)
				_, err := l.compile(t).Run(t.Context(), "r", trail{})
				if e := nodeError(t, err); e.Node != "a" {
					t.Error(err)
				}
				left.Wait()
			}
		})
	}
}

// TestCheckpointsForgetWhatWasAVisits: the effects of a visit that went on without
// looking for them when it was resumed, and the memos of answered questions, stayed
// in every later checkpoint.
func TestCheckpointsForgetWhatWasAVisits(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	bad := true
	a := l.node("a", func(ctx context.Context, _ trail) error {
		if !bad {
			return nil
		}
		_, err := flow.Once(ctx, "k", func(context.Context) (string, error) { return "of the effect", nil })
		return errors.Join(err, errBoom)
	})
	b := l.node("b", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "q", "?", hitl.Memo(map[string]any{"m": "of the question"}))
		return err
	})
	c := l.node("c", func(ctx context.Context, _ trail) error { // what is written only beside something else
		_, err := flow.Once(ctx, "k", func(context.Context) (string, error) { return "of c", nil })
		return errors.Join(err, errBoom)
	})
	l.chain(flow.START, a, b, c, flow.END)
	store := flow.NewMemory()
	f := l.compile(t, flow.WithStore(store))
	saved := func() string { return string(store.History("r")[0].Data) }
	if _, err := f.Run(t.Context(), "r", trail{}); !errors.Is(err, errBoom) || !strings.Contains(saved(), "of the effect") {
		t.Fatalf("%v: %s", err, saved())
	}
	bad = false
	must(f.Resume(t.Context(), "r"))(t)
	if strings.Contains(saved(), "of the effect") || !strings.Contains(saved(), "of the question") {
		t.Errorf("the effect is kept, or the memo is not: %s", saved())
	}
	_, err := f.Resume(t.Context(), "r", flow.Answer("r/b/1/q", "yes"))
	if strings.Contains(saved(), "of the question") || !strings.Contains(saved(), "of c") || !errors.Is(err, errBoom) {
		t.Errorf("%v: the memo is kept: %s", err, saved())
	}
}

// TestResumeWhoseFirstSaveFailsTellsAll: what siblings had finished was in the
// outputs and the completed nodes of the result, but not in its state.
func TestResumeWhoseFirstSaveFailsTellsAll(t *testing.T) {
	t.Parallel()
	l, done := newLab("f"), make(chan struct{})
	a := l.node("a", nil)
	b := l.node("b", func(context.Context, trail) error { close(done); return nil })
	c := l.node("c", func(context.Context, trail) error { <-done; return errBoom })
	l.Edge(flow.START, a)
	l.Edge(a, b, c)
	l.Edge(b, flow.END)
	l.Edge(c, flow.END)
	store := &tellingStore{Memory: flow.NewMemory(), save: func(_ int32, save func() error) error { return save() }}
	f := l.compile(t, flow.WithStore(store))
	if _, err := f.Run(t.Context(), "r", trail{}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	store.save = func(int32, func() error) error { return errDown }
	res, err := f.Resume(t.Context(), "r")
	want := []string{"a", "b"}
	if diff := cmp.Diff(want, res.State.Path) + cmp.Diff(want, res.Completed()) + cmp.Diff(want, nodeError(t, err).Completed); diff != "" {
		t.Errorf("state, completed (-want +got):\n%s", diff)
	}
}

// TestStoreThatFailsInALoopNamesTheVisit that had just run, not the next one.
func TestStoreThatFailsInALoopNamesTheVisit(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", nil)
	l.Edge(flow.START, a)
	l.Route(a, func(trail) flow.Ref { return a }, a, flow.END)
	store := &tellingStore{Memory: flow.NewMemory(), save: func(n int32, save func() error) error {
		if n == 3 {
			return errBoom
		}
		return save()
	}}
	_, err := l.compile(t, flow.WithStore(store)).Run(t.Context(), "r", trail{})
	if e := nodeError(t, err); e.Node != "a" || e.Step != 2 || e.Visit != 2 || len(e.Outputs) != 2 {
		t.Errorf("step %d, visit %d, %d outputs", e.Step, e.Visit, len(e.Outputs))
	}
}

// TestHookThatExitsAfterTheLastSave: the run was saved as failed though it had
// ended, and its last node ran again.
func TestHookThatExitsAfterTheLastSave(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", nil), l.node("b", nil), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated())
	res, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Seq == 3 {
			runtime.Goexit()
		}
	}))
	if e := nodeError(t, err); e.Node != "b" || !cmp.Equal(res.State.Path, []string{"a", "b"}) {
		t.Errorf("%v, state %v", err, res.State)
	}
	_, err = c.Resume(t.Context(), "r")
	if !errors.Is(err, flow.ErrFinished) || l.ran("b") != 1 {
		t.Errorf("b ran %d times: %v", l.ran("b"), err)
	}
}

// TestHookThatExitsAsAResumeIsSaved: START was to blame, which no run fails in but
// for its route.
func TestHookThatExitsAsAResumeIsSaved(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", fails), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated())
	if _, err := c.Run(t.Context(), "r", trail{}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	_, err := c.Resume(t.Context(), "r", flow.OnEvent(func(context.Context, flow.Event) { runtime.Goexit() }))
	if e := nodeError(t, err); e.Node != "a" || l.ran("a") != 1 {
		t.Errorf("a ran %d times: %v", l.ran("a"), err)
	}
}

// TestHookThatExitsAsANestedFlowIsSaved: what had been saved was taken back, and a
// completed node of the nested flow ran again.
func TestHookThatExitsAsANestedFlowIsSaved(t *testing.T) {
	t.Parallel()
	for seq := uint64(2); seq <= 5; seq++ {
		t.Run(fmt.Sprint(seq), func(t *testing.T) {
			t.Parallel()
			inner, l := newLab("inner"), newLab("f")
			inner.chain(flow.START, inner.node("a", nil), inner.node("b", nil), flow.END)
			in := inner.compile(t)
			n := flow.Node(l.Graph, "n", "flow", flow.Nested(in, func(s trail) trail { return s }), func(s *trail, v trail) { *s = v })
			l.chain(flow.START, n, flow.END)
			c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.Isolated())
			_, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Kind == flow.RunSaved && e.Seq == seq {
					runtime.Goexit()
				}
			}))
			_ = nodeError(t, err)
			res, err := c.Resume(t.Context(), "r")
			if !errors.Is(err, flow.ErrFinished) && (err != nil || !cmp.Equal(res.State.Path, []string{"a", "b"})) {
				t.Errorf("%v, state %v", err, res.State)
			}
			if inner.ran("a") != 1 || inner.ran("b") != 1 {
				t.Errorf("nodes ran again: %v", inner.runs)
			}
		})
	}
}

// TestHookThatPanicsIsNotTolerated: a fan-out that continues on error took it for
// a failure of the node that the hook was told about.
func TestHookThatPanicsIsNotTolerated(t *testing.T) {
	t.Parallel()
	for _, kind := range []flow.EventKind{flow.NodeStarted, flow.NodeRetries, flow.NodeEnded} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			t.Parallel()
			l := newLab("f")
			b := l.shaky("b")
			a, j := l.node("a", nil), l.node("j", nil)
			l.Edge(flow.START, a, b)
			l.Join(j, a, b)
			l.Edge(j, flow.END)
			l.ContinueOnError(flow.START)
			c := l.compile(t, flow.WithStore(flow.NewMemory()))
			_, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Kind == kind && e.Node == "b" {
					panic("hook")
				}
			}))
			if e := nodeError(t, err); e.Node != "b" || l.ran("j") != 0 {
				t.Errorf("j ran %d times: %v", l.ran("j"), err)
			}
			if kind != flow.NodeStarted && l.ran("b") < 1 {
				t.Error("b did not run")
			}
			l.mu.Lock()
			l.runs["b"]++ // it does not fail again
			l.mu.Unlock()
			res := must(c.Resume(t.Context(), "r"))(t)
			if diff := cmp.Diff([]string{"b", "a", "j"}, res.State.Path); diff != "" || len(res.Failures()) != 0 {
				t.Errorf("%d failures, state (-want +got):\n%s", len(res.Failures()), diff)
			}
		})
	}
}

// TestQuestionBesideAHookThatPanicsSurvives: it was in the result, and the store
// did not know it, so that its answer was refused.
func TestQuestionBesideAHookThatPanicsSurvives(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "q", "?")
		return err
	}), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	res, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.NodeEnded {
			panic("hook")
		}
	}))
	if _ = nodeError(t, err); len(res.Asks()) != 1 {
		t.Fatalf("asks %v", res.Asks())
	}
	res = must(c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "yes")))(t)
	if diff := cmp.Diff([]string{"a"}, res.State.Path); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
