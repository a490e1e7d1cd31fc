package flow_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/flow/flowtest"
)

func TestFileStoreOfTheCrashTest(t *testing.T) {
	t.Parallel()
	flowtest.RunDurable(t, func(t *testing.T, dir string) flow.Store {
		t.Helper()
		return &fileStore{dir: dir}
	})
}

func TestASaveThatFailsFailsTheRun(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for at := 1; at <= 4; at++ {
		for name, fail := range map[string]func() error{"error": func() error { return down }, "panic": func() error { panic(down) }} {
			saves := 0
			memory := flow.NewMemory()
			store := badStore{Store: memory, save: func() error {
				if saves++; saves == at {
					return fail()
				}
				return nil
			}}
			l := newLab("f")
			a, b, c := l.node("a", nil), l.node("b", nil), l.node("c", nil)
			l.chain(flow.START, a, b, c, flow.END)
			res, err := l.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(store))
			ne := nodeError(t, err)
			want := []string{"a", "b", "c"}[:at-1]
			if !cmp.Equal(ne.Completed, want) && at > 1 || len(res.State.Path) != at-1 {
				t.Errorf("%s at save %d: completed %v, state %v", name, at, ne.Completed, res.State.Path)
			}
			var se *flow.StoreError
			if !errors.As(err, &se) || se.Op != "save" {
				t.Errorf("%s at save %d: got %v", name, at, err)
			}
			if at == 1 {
				continue
			}
			last := want[len(want)-1]
			if ne.Node != last || ne.Step != at-1 {
				t.Errorf("%s at save %d: node %q, step %d", name, at, ne.Node, ne.Step)
			}
			res, err = l.compile(t).Resume(t.Context(), "r", flow.WithStore(memory))
			if err != nil || !cmp.Equal(res.State.Path, []string{"a", "b", "c"}) || l.ran(last) != 2 {
				t.Errorf("%s at save %d: resumed to %v: %v", name, at, res.State.Path, err)
			}
		}
	}
}

func TestSiblingsAreSavedAsTheyFinish(t *testing.T) {
	t.Parallel()
	store := flow.NewMemory()
	l := newLab("f")
	saved := make(chan struct{})
	var once sync.Once
	a := l.node("a", nil)
	b := l.node("b", func(context.Context, trail) error {
		<-saved
		cps := store.History("r")
		if !bytes.Contains(cps[len(cps)-1].Data, []byte(`"out":"a"`)) {
			t.Errorf("a is not in %s", cps[len(cps)-1].Data)
		}
		return nil
	})
	l.Edge(flow.START, a, b)
	l.Edge(a, flow.END)
	l.Edge(b, flow.END)
	_, err := l.compile(t).Run(t.Context(), "r", trail{}, flow.WithStore(store), flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.RunSaved && e.Seq == 2 {
			once.Do(func() { close(saved) })
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
}

func TestAChangedGraphIsRefused(t *testing.T) {
	t.Parallel()
	store := flow.NewMemory()
	build := func(kind string, extra bool) *flow.Compiled[counter] {
		g := flow.New[counter]("f")
		a := flow.Node(g, "a", kind, func(context.Context, counter) (int, error) {
			if extra {
				return 1, nil
			}
			return 0, errBoom
		}, keep)
		g.Edge(flow.START, a)
		g.Edge(a, flow.END)
		return compile(t, g, flow.WithStore(store))
	}
	if _, err := build("k", false).Run(t.Context(), "r", counter{}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	changed := build("other", true)
	if _, err := changed.Resume(t.Context(), "r"); !errors.Is(err, flow.ErrGraphChanged) {
		t.Errorf("got %v", err)
	}
	if res, err := changed.Resume(t.Context(), "r", flow.AllowChangedGraph()); err != nil || res.State.N != 1 {
		t.Errorf("allowed: %+v, %v", res.State, err)
	}
}

type gobCodec struct{}

func (gobCodec) Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func (gobCodec) Decode(data []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

func TestAnotherCodec(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	a := l.node("a", nil)
	b := l.node("b", func(ctx context.Context, _ trail) error {
		if _, err := flow.Once(ctx, "k", func(context.Context) (string, error) { return "v", nil }); err != nil {
			return err
		}
		if broken {
			return errBoom
		}
		return nil
	})
	c := l.node("c", nil)
	l.Edge(flow.START, a)
	l.Edge(a, b, c)
	l.Edge(b, flow.END)
	l.Edge(c, flow.END)
	store := flow.NewMemory()
	compiled := l.compile(t, flow.WithStore(store), flow.WithCodec(gobCodec{}))
	if _, err := compiled.Run(t.Context(), "r", trail{Path: []string{"in"}}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	if _, err := l.compile(t, flow.WithStore(store)).Resume(t.Context(), "r"); err == nil {
		t.Error("resumed with another codec")
	}
	broken = false
	res := must(compiled.Resume(t.Context(), "r"))(t)
	if diff := cmp.Diff([]string{"in", "a", "b", "c"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
}

// rudeCodec panics for one kind of value.
type rudeCodec struct{ when string }

func (c rudeCodec) Encode(v any) ([]byte, error) {
	if _, output := v.(string); c.when == "output" && output || c.when == "state" && !output {
		panic("secret")
	}
	return gobCodec{}.Encode(v)
}
func (rudeCodec) Decode([]byte, any) error { panic("secret") }

func TestACodecsPanicIsContained(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"output", "state", "decode"} {
		l := newLab("f")
		a, b := l.node("a", nil), l.node("b", fails)
		l.chain(flow.START, a, b, flow.END)
		c := l.compile(t, flow.WithStore(flow.NewMemory()), flow.WithCodec(rudeCodec{when}))
		_, err := c.Run(t.Context(), "r", trail{})
		if when == "decode" {
			_, err = c.Resume(t.Context(), "r")
		} else {
			_ = nodeError(t, err)
		}
		if err == nil || strings.Contains(err.Error(), "secret") || errcode.Default().Classify(err).Reason != "panic" {
			t.Errorf("%s: got %v", when, err)
		}
	}
}

func TestBrokenCheckpoints(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", fails)
	l.chain(flow.START, a, flow.END)
	store := flow.NewMemory()
	c := l.compile(t)
	_, _ = c.Run(t.Context(), "r", trail{}, flow.WithStore(store))
	good := store.History("r")[0]
	change := func(old, by string) string { return strings.Replace(string(good.Data), old, by, 1) }
	for name, data := range map[string]string{
		"no JSON": "{", "empty": "", "another version": change(`"version":1`, `"version":2`),
		"another run": change(`"run":"r"`, `"run":"s"`), "another flow": change(`"flow":"f"`, `"flow":"g"`),
		"an unknown node": change(`"node":"a"`, `"node":"b"`), "a state of another type": change(`{"Path":null}`, `[]`),
	} {
		bad := good
		bad.Data = []byte(data)
		_, err := c.Resume(t.Context(), "r", flow.WithStore(&seeded{last: bad}))
		var se *flow.StoreError
		if !errors.As(err, &se) || se.Op != "decode" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if l.ran("a") != 1 {
		t.Errorf("a ran %d times", l.ran("a"))
	}
}

func TestKeepAndDelete(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int]int{0: 11, 1: 1, 3: 3} {
		store := flow.NewMemory()
		c := chain(t, 10)
		must(c.Run(t.Context(), "r", counter{}, flow.WithStore(store), flow.KeepLast(keep)))(t)
		if got := len(store.History("r")); got != want {
			t.Errorf("KeepLast(%d): %d left, want %d", keep, got, want)
		}
		must(c.Run(t.Context(), "s", counter{}, flow.WithStore(store), flow.DeleteOnSuccess()))(t)
		must(c.Run(t.Context(), "s", counter{}, flow.WithStore(store), flow.DeleteOnSuccess()))(t)
		if got := store.History("s"); len(got) != 0 {
			t.Errorf("DeleteOnSuccess: %d left", len(got))
		}
	}
}
