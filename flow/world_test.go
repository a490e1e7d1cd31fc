package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// world is a random graph whose nodes do as a script says.
type world struct {
	*flow.Graph[trail]
	t      *rapid.T
	n      int
	mu     sync.Mutex
	script map[string][]string // by node, one word per run, then all is calm
	at     map[string]int
	calm   bool
	good   map[string]int // successful returns by visit
	caused map[string]int // effects by visit
	cancel context.CancelFunc

	isolated bool
	wreck    func()       // what the hook does
	wreckAt  atomic.Int32 // after so many events
}

func newWorld(t *rapid.T) (*world, *flow.Compiled[trail]) {
	w := &world{
		Graph: flow.New[trail]("world"), t: t,
		script: map[string][]string{}, at: map[string]int{}, good: map[string]int{}, caused: map[string]int{},
		isolated: rapid.Bool().Draw(t, "isolated"),
	}
	entry, exit := w.block(rapid.IntRange(1, 3).Draw(t, "depth"))
	w.Edge(flow.START, entry)
	w.Edge(exit, flow.END)
	var opts []flow.RunOption
	if w.isolated {
		opts = append(opts, flow.Isolated())
	}
	if rapid.Bool().Draw(t, "hooked") {
		opts = append(opts, flow.OnEvent(func(context.Context, flow.Event) {
			if w.wreckAt.Add(-1) == 0 {
				w.wreck()
			}
		}))
	}
	c, err := w.Compile(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w, c
}

func (w *world) node() flow.Ref {
	w.n++
	id := fmt.Sprintf("n%02d", w.n)
	w.script[id] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "fail", "panic", "ask", "ask2", "cancel", "half", "once"}), 0, 3).Draw(w.t, id)
	retry := flow.Retry(rapid.IntRange(1, 2).Draw(w.t, "attempts"))
	return flow.Node(w.Graph, id, "k", func(ctx context.Context, s trail) (string, error) {
		return w.act(ctx, id)
	}, follow, retry, flow.Backoff(0, 0), flow.RetryIf(func(error) bool { return true }))
}

func (w *world) word(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.at[id]
	w.at[id]++
	if w.calm || i >= len(w.script[id]) {
		return ""
	}
	return w.script[id][i]
}

func (w *world) act(ctx context.Context, id string) (string, error) {
	switch w.word(id) {
	case "fail":
		return "", errBoom
	case "half":
		return "half", errBoom
	case "panic":
		panic("scripted")
	case "cancel":
		w.cancel()
		return "", ctx.Err()
	case "once": // which is caused, and then asks
		if err := w.once(ctx); err != nil {
			return "", err
		}
	case "ask":
		if _, err := hitl.Ask[string](ctx, "q", "?"); err != nil {
			return "", fmt.Errorf("wrapped: %w", err)
		}
	case "ask2":
		_, err1 := hitl.Ask[string](ctx, "q1", "?")
		_, err2 := hitl.Ask[int](ctx, "q2", "?")
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.good[flow.IdempotencyKey(ctx)]++
	return id, nil
}

// once causes the one effect of the visit, then asks.
func (w *world) once(ctx context.Context) error {
	visit := flow.IdempotencyKey(ctx)
	got, err := flow.Once(ctx, "effect", func(context.Context) (string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.caused[visit]++
		return visit, nil
	})
	if err == nil && got != visit {
		err = fmt.Errorf("the effect of %s is that of %s", visit, got)
	}
	_, asked := hitl.Ask[string](ctx, "after", "?")
	return errors.Join(err, asked)
}

// plan draws what the hook of the next run does.
func (w *world) plan(t *rapid.T) {
	w.wreckAt.Store(0) // never
	if w.calm {
		return
	}
	w.wreckAt.Store(rapid.Int32Range(-10, 10).Draw(t, "wreck"))
	w.wreck = func() { panic("hook") }
	if w.isolated && rapid.Bool().Draw(t, "exit") {
		w.wreck = runtime.Goexit
	}
}

// block adds a part of a graph with one way in and one way out.
func (w *world) block(depth int) (entry, exit flow.Ref) {
	kind := "node"
	if depth > 0 {
		kind = rapid.SampledFrom([]string{"node", "seq", "fork", "fork", "route", "loop", "nested"}).Draw(w.t, "block")
	}
	switch kind {
	case "seq":
		entry, exit = w.block(depth - 1)
		next, end := w.block(depth - 1)
		w.Edge(exit, next)
		return entry, end
	case "fork":
		return w.fork(depth)
	case "route":
		return w.route(depth)
	case "loop":
		return w.loop(depth)
	case "nested":
		n := w.nested(depth)
		return n, n
	default:
		n := w.node()
		return n, n
	}
}

// nested adds a node that runs another flow. Its output is what that one added
// to the path, and its own id.
func (w *world) nested(depth int) flow.Ref {
	outer := w.Graph
	w.Graph = flow.New[trail]("inner")
	entry, exit := w.block(depth - 1)
	w.Edge(flow.START, entry)
	w.Edge(exit, flow.END)
	inner, err := w.Compile()
	if err != nil {
		w.t.Fatal(err)
	}
	w.Graph = outer
	run := flow.Nested(inner, func(s trail) trail { return s })
	w.n++
	id := fmt.Sprintf("n%02d", w.n)
	return flow.Node(w.Graph, id, "flow", func(ctx context.Context, s trail) ([]string, error) {
		v, err := run(ctx, s)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.good[flow.IdempotencyKey(ctx)]++
		return append(v.Path[len(s.Path):], id), nil
	}, func(s *trail, path []string) { s.Path = append(slices.Clip(s.Path), path...) })
}

func (w *world) fork(depth int) (entry, exit flow.Ref) {
	entry, exit = w.node(), w.node()
	for range rapid.IntRange(2, 4).Draw(w.t, "branches") {
		in, out := w.block(depth - 1)
		w.Edge(entry, in)
		w.Join(exit, out)
	}
	return entry, exit
}

func (w *world) route(depth int) (entry, exit flow.Ref) {
	entry, exit = w.node(), w.node()
	var targets []flow.Ref
	for range rapid.IntRange(1, 3).Draw(w.t, "targets") {
		in, out := w.block(depth - 1)
		targets = append(targets, in)
		w.Edge(out, exit)
	}
	w.Route(entry, func(s trail) flow.Ref { return targets[len(s.Path)%len(targets)] }, targets...)
	return entry, exit
}

func (w *world) loop(depth int) (entry, exit flow.Ref) {
	body, out := w.block(depth - 1)
	check, after := w.node(), w.node()
	id := fmt.Sprintf("n%02d", w.n-1)
	w.Edge(out, check)
	rounds := rapid.IntRange(1, 3).Draw(w.t, "rounds")
	w.Route(check, func(s trail) flow.Ref {
		seen := 0
		for _, p := range s.Path {
			if p == id {
				seen++
			}
		}
		if seen%rounds == 0 {
			return after
		}
		return body
	}, body, after)
	return body, after
}
