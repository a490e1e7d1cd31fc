package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	cancel context.CancelFunc
}

func newWorld(t *rapid.T) (*world, *flow.Compiled[trail]) {
	w := &world{
		Graph: flow.New[trail]("world"), t: t,
		script: map[string][]string{}, at: map[string]int{}, good: map[string]int{},
	}
	entry, exit := w.block(rapid.IntRange(1, 3).Draw(t, "depth"))
	w.Edge(flow.START, entry)
	w.Edge(exit, flow.END)
	var opts []flow.RunOption
	if rapid.Bool().Draw(t, "isolated") {
		opts = append(opts, flow.Isolated())
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
	w.script[id] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "fail", "panic", "ask", "ask2", "cancel", "half"}), 0, 3).Draw(w.t, id)
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

// settle runs and resumes until the run has ended well.
func (w *world) settle(t *rapid.T, c *flow.Compiled[trail], store flow.Store, fresh bool) flow.Result[trail] {
	var answers []flow.RunOption
	for range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		var res flow.Result[trail]
		var err error
		if fresh {
			res, err = c.Run(ctx, "run", trail{}, flow.WithStore(store), flow.KeepLast(0))
			fresh = false
		} else {
			res, err = c.Resume(ctx, "run", append(answers, flow.WithStore(store), flow.KeepLast(0))...)
		}
		cancel()
		w.oneOutcome(t, res, err)
		var limit *flow.LimitError
		if errors.As(err, &limit) {
			t.Fatal(err)
		}
		if err == nil && !res.Paused() {
			return res
		}
		answers = nil
		for _, ask := range res.Asks() {
			if w.calm || rapid.Bool().Draw(t, "answer") {
				answers = append(answers, flow.Answer(ask.ID(), 1))
			}
		}
	}
	t.Fatal("the run never ends")
	return flow.Result[trail]{}
}

func (w *world) oneOutcome(t *rapid.T, res flow.Result[trail], err error) {
	if err == nil {
		return
	}
	var ne *flow.NodeError
	if !errors.As(err, &ne) {
		t.Fatalf("got %T: %v", err, err)
	}
	if !slices.Equal(ne.Completed, res.Completed()) || !slices.Equal(ne.Completed, visited(ne.Outputs)) || ne.Node == "" || ne.Kind == "" {
		t.Fatalf("incomplete: %+v", ne)
	}
	if path := paths(ne.Outputs); !slices.Equal(path, res.State.Path) {
		t.Fatalf("the outputs %v are not those of the state %v", path, res.State.Path)
	}
	for _, id := range ne.Completed {
		if !slices.Contains(res.State.Path, id) {
			t.Fatalf("%s is completed, but not in the state %v", id, res.State.Path)
		}
	}
}

// paths are the outputs of the nodes of a world, which are their ids.
func paths(outs []flow.Output) []string {
	var ids []string
	for _, o := range outs {
		switch v := o.Value.(type) {
		case string:
			ids = append(ids, v)
		case []string:
			ids = append(ids, v...)
		}
	}
	return ids
}

// visited are the nodes of outputs, each once.
func visited(outs []flow.Output) []string {
	ids := []string{}
	for _, o := range outs {
		if !slices.Contains(ids, o.Node) {
			ids = append(ids, o.Node)
		}
	}
	return ids
}

// seeded makes a store whose last checkpoint is the given one.
type seeded struct {
	flow.Store
	last flow.Checkpoint
}

func (s *seeded) Load(context.Context, string) (flow.Checkpoint, error) {
	return s.last, nil
}

func (s *seeded) Save(_ context.Context, c flow.Checkpoint) error {
	if c.Seq != s.last.Seq+1 {
		return flow.ErrConflict
	}
	s.last = c
	return nil
}

func TestRandomRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, c := newWorld(t)
		w.calm = true
		calm := w.settle(t, c, flow.NewMemory(), true)
		plain, err := c.Run(context.Background(), "run", trail{})
		if err != nil || !cmp.Equal(calm.State, plain.State) || !cmp.Equal(calm.Outputs(), plain.Outputs()) {
			t.Fatalf("a store changes the result: %v, %v", err, cmp.Diff(calm.State, plain.State))
		}

		w.calm, w.at, w.good = false, map[string]int{}, map[string]int{}
		store := flow.NewMemory()
		res := w.settle(t, c, store, true)
		if diff := cmp.Diff(calm.State, res.State); diff != "" {
			t.Fatalf("state after failures (-undisturbed +got):\n%s", diff)
		}
		if diff := cmp.Diff(calm.Outputs(), res.Outputs()); diff != "" {
			t.Fatalf("outputs after failures (-undisturbed +got):\n%s", diff)
		}
		for visit, n := range w.good {
			if n != 1 {
				t.Fatalf("%s completed %d times", visit, n)
			}
		}
		if len(w.good) != len(calm.State.Path) {
			t.Fatalf("%d visits completed, want %d", len(w.good), len(calm.State.Path))
		}
		w.fromEveryCheckpoint(t, c, store, calm)
	})
}

// fromEveryCheckpoint resumes the run from each of its checkpoints.
func (w *world) fromEveryCheckpoint(t *rapid.T, c *flow.Compiled[trail], store *flow.Memory, calm flow.Result[trail]) {
	w.calm = true
	for _, cp := range store.History("run") {
		_, err := c.Resume(context.Background(), "run", flow.WithStore(&seeded{last: cp}))
		if errors.Is(err, flow.ErrFinished) {
			continue
		}
		res := w.settleFrom(t, c, cp)
		if diff := cmp.Diff(calm.State, res.State); diff != "" {
			t.Fatalf("state after a resume from checkpoint %d (-undisturbed +got):\n%s\n%s", cp.Seq, diff, cp.Data)
		}
	}
}

func (w *world) settleFrom(t *rapid.T, c *flow.Compiled[trail], cp flow.Checkpoint) flow.Result[trail] {
	store := &seeded{last: cp}
	res, err := c.Resume(context.Background(), "run", flow.WithStore(store))
	if err == nil && !res.Paused() {
		return res
	}
	if err != nil && !strings.Contains(string(cp.Data), `"asks"`) {
		t.Fatalf("resume from checkpoint %d: %v", cp.Seq, err)
	}
	return w.settle(t, c, store, false)
}
