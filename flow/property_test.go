package flow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/flow"
)

// settle runs and resumes until the run has ended well.
func (w *world) settle(t *rapid.T, c *flow.Compiled[trail], store flow.Store, fresh bool) flow.Result[trail] {
	var answers []flow.RunOption
	for range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		w.plan(t)
		var res flow.Result[trail]
		var err error
		if fresh {
			res, err = c.Run(ctx, "run", trail{}, flow.WithStore(store), flow.KeepLast(0))
			fresh = false
		} else {
			res, err = c.Resume(ctx, "run", append(answers, flow.WithStore(store), flow.KeepLast(0))...)
		}
		cancel()
		if errors.Is(err, flow.ErrFinished) { // the hook broke what was at its end
			res, err := c.Load(context.Background(), "run", flow.WithStore(store))
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
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

		w.calm, w.at, w.good, w.caused = false, map[string]int{}, map[string]int{}, map[string]int{}
		store := flow.NewMemory()
		res := w.settle(t, c, store, true)
		if diff := cmp.Diff(calm.State, res.State); diff != "" {
			t.Fatalf("state after failures (-undisturbed +got):\n%s", diff)
		}
		if diff := cmp.Diff(calm.Outputs(), res.Outputs()); diff != "" {
			t.Fatalf("outputs after failures (-undisturbed +got):\n%s", diff)
		}
		for visit, n := range w.caused {
			if n != 1 {
				t.Fatalf("the effect of %s was caused %d times", visit, n)
			}
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
	w.wreckAt.Store(0)
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
