package flow_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

func TestOnceKeepsASideEffectFromHappeningTwice(t *testing.T) {
	t.Parallel()
	paid, keys := 0, map[string]bool{}
	broken := true
	l := newLab("f")
	pay := l.node("pay", func(ctx context.Context, _ trail) error {
		keys[flow.IdempotencyKey(ctx)] = true
		id, err := flow.Once(ctx, "charge", func(context.Context) (int, error) { paid++; return paid, nil })
		if err != nil || id != 1 {
			t.Errorf("charge %d, %v", id, err)
		}
		if _, err := hitl.Ask[string](ctx, "confirm", "Sure?"); err != nil {
			return err
		}
		if broken {
			return errDown
		}
		return nil
	}, flow.Retry(2), flow.Backoff(0, 0))
	l.chain(flow.START, pay, flow.END)
	store := flow.NewMemory()
	c := l.compile(t, flow.WithStore(store))
	res := must(c.Run(t.Context(), "r", trail{}))(t)
	if _, err := c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "yes")); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	broken = false
	must(c.Resume(t.Context(), "r"))(t)
	if paid != 1 || l.ran("pay") != 4 || !cmp.Equal(keys, map[string]bool{"r/pay/1": true}) {
		t.Errorf("paid %d times in %d runs with keys %v", paid, l.ran("pay"), keys)
	}
}

// TestEffectsOfAnEarlierPartAreForgotten: the node that had them runs again without
// looking at its context, and its effects were kept to the end of the run.
func TestEffectsOfAnEarlierPartAreForgotten(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", func(ctx context.Context, _ trail) error {
		if l.ran("a") > 1 {
			return nil
		}
		_, err := flow.Once(ctx, "charge", func(context.Context) (string, error) { return "receipt", nil })
		return errors.Join(err, errDown)
	})
	l.chain(flow.START, a, l.node("b", nil), flow.END)
	store := flow.NewMemory()
	c := l.compile(t, flow.WithStore(store), flow.KeepLast(1))
	saved := func() bool { return strings.Contains(string(store.History("r")[0].Data), "receipt") }
	if _, err := c.Run(t.Context(), "r", trail{}); !errors.Is(err, errDown) || !saved() {
		t.Fatalf("got %v, saved %t", err, saved())
	}
	must(c.Resume(t.Context(), "r"))(t)
	if saved() {
		t.Error("the effect is still in the checkpoint of the finished run")
	}
}

func TestOnceWithoutAStore(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(flow.NewMemory())}} {
		calls := 0
		n, _, err := 0, flow.Result[trail]{}, error(nil)
		l := newLab("f")
		a := l.node("a", func(ctx context.Context, _ trail) error {
			var wg sync.WaitGroup
			for range 8 { // at once
				wg.Go(func() {
					v, err := flow.Once(ctx, "k", func(context.Context) (string, error) { calls++; return "v", nil })
					if v != "v" || err != nil {
						t.Errorf("got %q, %v", v, err)
					}
				})
			}
			wg.Wait()
			if _, err := flow.Once(ctx, "", func(context.Context) (int, error) { return 0, nil }); err == nil {
				t.Error("an empty key was taken")
			}
			if _, err := flow.Once(ctx, "fails", func(context.Context) (int, error) { return 0, errDown }); l.ran("a") == 1 && !errors.Is(err, errDown) {
				t.Errorf("got %v", err)
			}
			if v, err := flow.Once(ctx, "fails", func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
				t.Errorf("after a failure: %d, %v", v, err)
			}
			if _, err := flow.Once(ctx, "k", func(context.Context) (int, error) { return 0, nil }); err == nil {
				t.Error("another type was taken")
			}
			if l.ran("a") == 1 {
				return errDown
			}
			return nil
		}, flow.Retry(2), flow.Backoff(0, 0))
		l.chain(flow.START, a, flow.END)
		_, err = l.compile(t).Run(t.Context(), "r", trail{}, opts...)
		if n = l.ran("a"); err != nil || calls != 1 || n != 2 {
			t.Errorf("%s: %d calls in %d runs: %v", name, calls, n, err)
		}
	}
}

func TestOutsideOfANode(t *testing.T) {
	t.Parallel()
	var leaked context.Context
	l := newLab("f")
	a := l.node("a", func(ctx context.Context, _ trail) error { leaked = ctx; return nil }) //nolint:fatcontext // leaked on purpose
	l.chain(flow.START, a, flow.END)
	must(l.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(flow.NewMemory())))(t)
	for name, ctx := range map[string]context.Context{"never in one": t.Context(), "after it": leaked} {
		if _, err := flow.Once(ctx, "k", func(context.Context) (int, error) { return 0, nil }); !errors.Is(err, flow.ErrNotInNode) {
			t.Errorf("%s: Once: %v", name, err)
		}
		if key := flow.IdempotencyKey(ctx); key != "" {
			t.Errorf("%s: key %q", name, key)
		}
	}
	if _, err := hitl.Ask[int](leaked, "k", "?"); !errors.Is(err, flow.ErrNotInNode) {
		t.Errorf("Ask: %v", err)
	}
}

func TestAnEffectThatCannotBeStoredFailsTheRun(t *testing.T) {
	t.Parallel()
	for _, effect := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			_, err := flow.Once(ctx, "k", func(context.Context) (chan int, error) { return make(chan int), nil })
			return err
		},
		func(ctx context.Context) error {
			_, err := flow.Once(ctx, "k", func(context.Context) (int, error) { return 1, nil })
			return err
		},
	} {
		down := errors.New("down")
		saves := 0
		store := badStore{Store: flow.NewMemory(), save: func() error {
			if saves++; saves > 1 {
				return down
			}
			return nil
		}}
		l := newLab("f")
		a := l.node("a", func(ctx context.Context, _ trail) error {
			if err := effect(ctx); err == nil {
				t.Error("no error")
			}
			return nil // swallowed
		})
		l.chain(flow.START, a, flow.END)
		_, err := l.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(store))
		var se *flow.StoreError
		if ne := nodeError(t, err); ne.Node != "a" || !errors.As(err, &se) {
			t.Errorf("got %v", err)
		}
	}
}
