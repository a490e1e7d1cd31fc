package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestEffectsOfOddKeysAreKeptApart: a key that looked like what stands for one
// that is not UTF-8 had the other's effect, and one like that of a nested flow's
// run its checkpoint.
func TestEffectsOfOddKeysAreKeptApart(t *testing.T) {
	t.Parallel()
	keys := []string{"\xff", "\uFFFDff", "\uFFFDefbfbd6666", "\uFFFD", "\uFFFD#2", "\x00", "\x002", "\x003", "/", "//2", "a/1/", "1"}
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(flow.NewMemory())}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner, l := newLab("inner"), newLab("f")
			inner.chain(flow.START, inner.node("a", nil), flow.END)
			in := inner.compile(t)
			l.chain(flow.START, l.node("a", func(ctx context.Context, s trail) error {
				var errs []error
				for range 2 {
					for want, key := range keys {
						got, err := flow.Once(ctx, key, func(context.Context) (int, error) { return want, nil })
						if err != nil || got != want {
							errs = append(errs, fmt.Errorf("%q: got that of %q: %w", key, keys[got], err))
						}
					}
					_, err := flow.Nested(in, func(s trail) trail { return s })(ctx, s)
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			}), flow.END)
			if _, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestQuestionsOfANestedFlowAreItsOwn: a node's question whose key looked like
// the rest of the id of a nested flow's got the answer to that one.
func TestQuestionsOfANestedFlowAreItsOwn(t *testing.T) {
	t.Parallel()
	var got []string
	ask := func(key string) func(context.Context, trail) error {
		return func(ctx context.Context, _ trail) error {
			answer, err := hitl.Ask[string](ctx, key, "?")
			got = append(got, answer)
			return err
		}
	}
	inner, l := newLab("inner"), newLab("f")
	inner.chain(flow.START, inner.node("a", ask("q")), flow.END)
	in := inner.compile(t)
	l.chain(flow.START, l.node("n", func(ctx context.Context, s trail) error {
		if err := ask("a/1/q")(ctx, s); err != nil {
			return err
		}
		_, err := flow.Nested(in, func(s trail) trail { return s })(ctx, s)
		return err
	}), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	res := must(c.Run(t.Context(), "r", trail{}))(t)
	outer := res.Asks()[0].ID()
	res = must(c.Resume(t.Context(), "r", flow.Answer(outer, "outer")))(t)
	if len(res.Asks()) != 1 || res.Asks()[0].ID() == outer {
		t.Fatalf("asked %q, then %v", outer, res.Asks())
	}
	got = nil
	res = must(c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "inner")))(t)
	if res.Paused() || fmt.Sprint(got) != "[outer inner]" {
		t.Errorf("paused %t, answers %q", res.Paused(), got)
	}
}
