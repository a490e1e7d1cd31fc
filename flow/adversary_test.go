package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestCheckpointsNobodyWrote are refused: a run would end well for no reason,
// or run a node twice.
func TestCheckpointsNobodyWrote(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a, b := l.node("a", fails), l.node("b", fails)
	l.Edge(flow.START, a, b)
	l.Edge(a, flow.END)
	l.Edge(b, flow.END)
	store := flow.NewMemory()
	c := l.compile(t)
	_, _ = c.Run(t.Context(), "r", trail{}, flow.WithStore(store), flow.KeepLast(0))
	good := store.History("r")[0]
	front := `"front":[{"node":"a"},{"node":"b"}]`
	if !strings.Contains(string(good.Data), front) {
		t.Fatalf("the test is outdated: %s", good.Data)
	}
	for name, by := range map[string]string{
		"no frontier":           `"front":[]`,
		"a node twice":          `"front":[{"node":"a"},{"node":"a"}]`,
		"START":                 `"front":[{"node":"START"}]`,
		"an unknown phase":      `"front":[{"node":"a","phase":9}]`,
		"a negative phase":      `"front":[{"node":"a","phase":-1}]`,
		"an output that is not": `"front":[{"node":"a","phase":1},{"node":"b"}]`,
		"a lost failure":        `"front":[{"node":"a","phase":5},{"node":"b"}]`,
		"a failed failure":      `"front":[{"node":"a"}],"failures":[{"node":"b"}]`,
		"a negative step":       `"step":-1,` + front,
		"an effect of nothing":  `"effects":[{"key":"a/1/k","result":[]}],"joins":["a"],` + front,
	} {
		bad := good
		bad.Data = []byte(strings.Replace(string(good.Data), front, by, 1))
		runs := l.ran("a") + l.ran("b")
		_, err := c.Resume(t.Context(), "r", flow.WithStore(&seeded{last: bad}))
		var se *flow.StoreError
		if !errors.As(err, &se) || se.Op != "decode" || l.ran("a")+l.ran("b") != runs {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// tellingStore does with a save what it is told.
type tellingStore struct {
	*flow.Memory
	saves atomic.Int32
	save  func(n int32, save func() error) error
}

func (s *tellingStore) Save(ctx context.Context, c flow.Checkpoint) error {
	return s.save(s.saves.Add(1), func() error { return s.Memory.Save(ctx, c) })
}

// TestStoresThatLie: whatever a save says about itself, no completed node whose
// output is in the store runs again, and the run ends in a way one can see.
func TestStoresThatLie(t *testing.T) {
	t.Parallel()
	for at := int32(1); at <= 5; at++ {
		for name, lie := range map[string]func(save func() error) error{
			"saved, but says no":   func(save func() error) error { return errors.Join(save(), errBoom) },
			"not saved, says yes":  func(func() error) error { return nil },
			"saved twice":          func(save func() error) error { _ = save(); return save() },
			"saved, then panics":   func(save func() error) error { _ = save(); panic("late") },
			"says it is cancelled": func(func() error) error { return context.Canceled },
		} {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				t.Parallel()
				store := &tellingStore{Memory: flow.NewMemory(), save: func(n int32, save func() error) error {
					if n == at {
						return lie(save)
					}
					return save()
				}}
				l := newLab("f")
				l.chain(flow.START, l.node("a", nil), l.node("b", nil), l.node("c", nil), l.node("d", nil), flow.END)
				c := l.compile(t, flow.WithStore(store))
				_, err := c.Run(t.Context(), "r", trail{})
				if at == 1 && len(store.History("r")) == 0 { // it never began for the store
					return
				}
				if err == nil { // only a lost last save goes unnoticed
					if name != "not saved, says yes" || at != 5 {
						t.Fatal("the run ended well")
					}
				}
				ran := map[string]int{}
				saved := string(store.History("r")[0].Data)
				for _, id := range []string{"a", "b", "c", "d"} {
					if strings.Contains(saved, fmt.Sprintf(`{"node":%q,"out"`, id)) {
						ran[id] = l.ran(id)
					}
				}
				res, err := c.Resume(t.Context(), "r")
				if errors.Is(err, flow.ErrFinished) {
					return
				}
				if diff := cmp.Diff([]string{"a", "b", "c", "d"}, res.State.Path); diff != "" || err != nil {
					t.Errorf("resumed: %v: %s", err, diff)
				}
				for id, n := range ran {
					if l.ran(id) != n {
						t.Errorf("%s ran again", id)
					}
				}
			})
		}
	}
}

// TestConcurrentResumes: of many at once one goes on with the run, and no node
// runs twice.
func TestConcurrentResumes(t *testing.T) {
	t.Parallel()
	for range 20 {
		l := newLab("f")
		ask := l.node("ask", func(ctx context.Context, _ trail) error {
			_, err := hitl.Ask[string](ctx, "q", "?")
			return err
		})
		l.chain(flow.START, l.node("a", nil), ask, l.node("b", nil), flow.END)
		c := l.compile(t, flow.WithStore(flow.NewMemory()))
		must(c.Run(t.Context(), "r", trail{}))(t)
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				res, err := c.Resume(t.Context(), "r", flow.Answer("r/ask/1/q", fmt.Sprint(i)))
				switch {
				case err == nil:
					won.Add(1)
					if !cmp.Equal(res.State.Path, []string{"a", "ask", "b"}) {
						t.Errorf("got %v", res.State.Path)
					}
				case !errors.Is(err, flow.ErrConflict) && !errors.Is(err, flow.ErrFinished) && !errors.Is(err, flow.ErrUnknownAsk):
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || l.ran("a") != 1 || l.ran("ask") != 2 || l.ran("b") != 1 {
			t.Fatalf("%d won; runs: %v", won.Load(), l.runs)
		}
	}
}

// TestNilOutputs: an output that is nil is one, also after a resume.
func TestNilOutputs(t *testing.T) {
	t.Parallel()
	type all struct{ Applied []string }
	g := flow.New[all]("f")
	last := flow.START
	add := func(n flow.Ref) {
		g.Edge(last, n)
		last = n
	}
	applied := func(s *all, what string, isNil bool) {
		s.Applied = append(s.Applied, fmt.Sprint(what, isNil))
	}
	add(flow.Node(g, "any", "k", func(context.Context, all) (any, error) { return nil, nil }, func(s *all, v any) { applied(s, "any", v == nil) }))
	add(flow.Node(g, "pointer", "k", func(context.Context, all) (*int, error) { return nil, nil }, func(s *all, v *int) { applied(s, "pointer", v == nil) }))
	add(flow.Node(g, "slice", "k", func(context.Context, all) ([]int, error) { return nil, nil }, func(s *all, v []int) { applied(s, "slice", v == nil) }))
	add(flow.Node(g, "map", "k", func(context.Context, all) (map[string]int, error) { return nil, nil }, func(s *all, v map[string]int) { applied(s, "map", v == nil) }))
	add(flow.Node(g, "bytes", "k", func(context.Context, all) ([]byte, error) { return nil, nil }, func(s *all, v []byte) { applied(s, "bytes", v == nil) }))
	broken := true
	add(flow.Node(g, "end", "k", func(context.Context, all) (struct{}, error) {
		if broken {
			return struct{}{}, errBoom
		}
		return struct{}{}, nil
	}, func(*all, struct{}) {}))
	g.Edge(last, flow.END)
	c := compile(t, g)
	want := []string{"anytrue", "pointertrue", "slicetrue", "maptrue", "bytestrue"}
	store := flow.WithStore(flow.NewMemory())
	if _, err := c.Run(t.Context(), "r", all{}, store); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	broken = false
	stored := must(c.Resume(t.Context(), "r", store))(t)
	plain := must(c.Run(t.Context(), "r", all{}))(t)
	for name, res := range map[string]flow.Result[all]{"stored": stored, "plain": plain} {
		if diff := cmp.Diff(want, res.State.Applied); diff != "" || len(res.Outputs()) != 6 {
			t.Errorf("%s: %d outputs, %s", name, len(res.Outputs()), diff)
		}
	}
}

// emptyCodec encodes some outputs as nothing at all.
type emptyCodec struct{ gobCodec }

func (c emptyCodec) Encode(v any) ([]byte, error) {
	if s, ok := v.(string); ok && s == "a" {
		return nil, nil
	}
	return c.gobCodec.Encode(v)
}

func (c emptyCodec) Decode(data []byte, v any) error {
	if s, ok := v.(*string); ok && len(data) == 0 {
		*s = "a"
		return nil
	}
	return c.gobCodec.Decode(data, v)
}

// TestACodecThatEncodesNothing: no bytes are an output, too.
func TestACodecThatEncodesNothing(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	aDone := make(chan struct{})
	a := l.node("a", func(context.Context, trail) error { close(aDone); return nil })
	b := l.node("b", func(context.Context, trail) error {
		if broken {
			<-aDone
			return errBoom
		}
		return nil
	})
	l.Edge(flow.START, a, b)
	l.Edge(a, flow.END)
	l.Edge(b, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.WithCodec(emptyCodec{}))
	if _, err := c.Run(t.Context(), "r", trail{}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	broken = false
	res := must(c.Resume(t.Context(), "r"))(t)
	if diff := cmp.Diff([]string{"a", "b"}, res.State.Path); diff != "" || l.ran("a") != 1 || res.Outputs()[0].Value != "a" {
		t.Errorf("a ran %d times: %s", l.ran("a"), diff)
	}
}

// TestHugeFanOut: thousands of siblings, some of which fail, are all awaited
// and merged in order.
func TestHugeFanOut(t *testing.T) {
	t.Parallel()
	const width = 2000
	g := flow.New[[]int]("f")
	var running, ran atomic.Int32
	join := flow.Node(g, "join", "k", func(context.Context, []int) (int, error) { return -1, nil }, func(s *[]int, v int) { *s = append(*s, v) })
	for i := range width {
		n := flow.Node(g, fmt.Sprint("n", i), "k", func(context.Context, []int) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			ran.Add(1)
			if i%100 == 99 {
				return i, errBoom
			}
			return i, nil
		}, func(s *[]int, v int) { *s = append(*s, v) })
		g.Edge(flow.START, n)
		g.Join(join, n)
	}
	g.Edge(join, flow.END)
	g.ContinueOnError(flow.START)
	c := compile(t, g)
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(&lastOnly{})}} {
		ran.Store(0)
		res, err := c.Run(t.Context(), "r", nil, opts...)
		if err != nil || running.Load() != 0 || ran.Load() != width || len(res.Failures()) != width/100 || len(res.State) != width-width/100+1 {
			t.Fatalf("%s: %d ran, %d failures, %d applied: %v", name, ran.Load(), len(res.Failures()), len(res.State), err)
		}
		for i := 1; i < len(res.State)-1; i++ {
			if res.State[i] <= res.State[i-1] {
				t.Fatalf("%s: %d before %d", name, res.State[i-1], res.State[i])
			}
		}
	}
}

// lastOnly is a store that only knows the last number.
type lastOnly struct {
	flow.Store
	mu  sync.Mutex
	seq uint64
}

func (s *lastOnly) Save(_ context.Context, c flow.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Seq != s.seq+1 {
		return flow.ErrConflict
	}
	s.seq = c.Seq
	return nil
}

// TestHooksThatPanic: whatever the hook was told, the run fails in the node it
// was told about, and goes on when it is resumed.
func TestHooksThatPanic(t *testing.T) {
	t.Parallel()
	for _, kind := range []flow.EventKind{flow.NodeStarted, flow.NodeEnded, flow.NodeRetries, flow.RunSaved} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			t.Parallel()
			l := newLab("f")
			b := l.shaky("b")
			l.chain(flow.START, l.node("a", nil), b, flow.END)
			store := flow.NewMemory()
			c := l.compile(t, flow.WithStore(store))
			_, err := c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Kind == kind && (e.Node == "b" || e.Seq == 3) {
					panic("secret")
				}
			}))
			ne := nodeError(t, err)
			if ne.Node != "b" || errcode.Default().Classify(err).Reason != "panic" || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %+v", ne)
			}
			res, err := c.Resume(t.Context(), "r")
			if errors.Is(err, flow.ErrFinished) && kind == flow.RunSaved {
				return
			}
			if diff := cmp.Diff([]string{"a", "b"}, res.State.Path); diff != "" || err != nil || l.ran("a") != 1 {
				t.Errorf("resumed: a ran %d times, %v: %s", l.ran("a"), err, diff)
			}
		})
	}
}

// TestAHookMayUseTheRun: it is called without anything locked that it could
// want.
func TestAHookMayUseTheRun(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		_, err := flow.Once(ctx, "k", func(context.Context) (int, error) { return 1, nil })
		return err
	}), flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	var kinds []flow.EventKind
	must(c.Run(t.Context(), "r", trail{}, flow.OnEvent(func(ctx context.Context, e flow.Event) {
		kinds = append(kinds, e.Kind)
		_, err := flow.Once(ctx, "hook", func(context.Context) (int, error) { return 1, nil })
		if !errors.Is(err, flow.ErrNotInNode) {
			t.Errorf("event %d: %v", e.Kind, err)
		}
		if _, err := c.Run(ctx, "r", trail{}); !errors.Is(err, flow.ErrRunExists) {
			t.Errorf("event %d: started again: %v", e.Kind, err)
		}
	})))(t)
	if len(kinds) != 5 {
		t.Errorf("events: %v", kinds)
	}
}
