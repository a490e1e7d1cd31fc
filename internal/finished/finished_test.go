package finished_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/internal/finished"
)

func visit(node int32, id string, step int) finished.Visit {
	return finished.Visit{Node: node, ID: id, Kind: "k", Number: 1, Step: step}
}

func outputs(w *finished.Work) []string {
	out := []string{}
	for _, o := range w.Report().Outputs {
		out = append(out, o.Path+o.ID)
	}
	return out
}

func begun() (*finished.Work, *finished.Run) {
	w := &finished.Work{}
	return w, finished.Begin(finished.Track(w.NewContext(context.Background()), "task/f"), "task/f", "f")
}

// TestOutputsAreInTheSchedulersOrder: in whichever they are told, and what a
// visit was made of goes when it has an output of its own.
func TestOutputsAreInTheSchedulersOrder(t *testing.T) {
	t.Parallel()
	w, r := begun()
	r.Finish(visit(9, "first", 1), "x")
	for _, node := range []int32{4, 2, 3} { // siblings
		r.Start(visit(node, string('a'+node), 2))
	}
	r.Nested(4, "e", 2, "inner").Finish(visit(1, "y", 1), "x")
	r.Nested(4, "e", 1, "inner").Finish(visit(1, "x", 1), "x")
	r.Nested(2, "c", 1, "inner").Nested(1, "deep", 1, "deeper").Finish(visit(1, "z", 1), "x")
	r.Finish(visit(3, "d", 2), "x")
	if diff := cmp.Diff([]string{"first", "d", "c/deep/z", "e/x", "e/y"}, outputs(w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	finished.Keep(t.Context()) // of no run
	if rep := w.Report(); rep.Node != "c" || rep.Flow != "f" || rep.Kept["task/f"] {
		t.Errorf("got %+v", rep)
	}
	r.Finish(visit(2, "c", 2), "x")
	r.Nested(4, "e", 2, "inner") // again
	r.Stop(4)
	if diff := cmp.Diff([]string{"first", "c", "d", "e/x"}, outputs(w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Apply(9)
	r.Apply(2)
	r.End(visit(4, "e", 2))
	if diff := cmp.Diff([]string{"first", "c", "e/x"}, outputs(w)); diff != "" || w.Report().Node != "e" {
		t.Errorf("%+v (-want +got):\n%s", w.Report(), diff)
	}
}

// TestOnlyWhatIsTrackedIsNoted: others get a run that takes any call.
func TestOnlyWhatIsTrackedIsNoted(t *testing.T) {
	t.Parallel()
	w := &finished.Work{}
	ctx := finished.Track(w.NewContext(t.Context()), "task/f")
	for name, r := range map[string]*finished.Run{
		"another run":  finished.Begin(ctx, "task/g", "g"),
		"no work":      finished.Begin(finished.Track(t.Context(), "task/f"), "task/f", "f"),
		"within a nil": finished.Begin(ctx, "task/g", "g").Nested(1, "a", 1, "f"),
	} {
		r.Start(visit(1, "a", 1))
		r.Finish(visit(1, "a", 1), "x")
		r.Apply(1)
		r.Stop(1)
		r.Retry(1)
		r.End()
		if rep := w.Report(); len(rep.Outputs) > 0 || rep.Flow != "" || rep.Retries > 0 {
			t.Errorf("%s: got %+v", name, rep)
		}
	}
}

// TestARunThatBeginsAgainForgets: what it was told, and not what other runs were.
func TestARunThatBeginsAgainForgets(t *testing.T) {
	t.Parallel()
	w := &finished.Work{}
	begin := func(id string) *finished.Run {
		return finished.Begin(finished.Track(w.NewContext(t.Context()), id), id, id)
	}
	for _, id := range []string{"f", "g", "f"} {
		r := begin(id)
		r.Retry(1)
		hidden := visit(2, "h", 1)
		hidden.Hidden = true
		r.Finish(visit(1, id, 1), "x")
		r.Finish(hidden, make(chan int))
	}
	rep := w.Report()
	if diff := cmp.Diff([]string{"g", "f"}, outputs(w)); diff != "" || rep.Flow != "f" || rep.Retries != 2 {
		t.Errorf("%+v (-want +got):\n%s", rep, diff)
	}
	if diff := cmp.Diff([]string{"f", "h"}, rep.Completed); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
}

func TestReportWhileNodesFinish(t *testing.T) {
	t.Parallel()
	w, r := begun()
	var wg sync.WaitGroup
	for node := range int32(8) {
		wg.Go(func() {
			for step := range 20 {
				v := visit(node, string('a'+node), step)
				r.Start(v)
				inner := r.Nested(node, v.ID, 1, "inner")
				inner.Start(v)
				inner.Finish(v, step)
				w.Report()
				r.Finish(v, step)
			}
		})
	}
	wg.Wait()
	if rep := w.Report(); len(rep.Outputs) != 160 || rep.Node != "" {
		t.Errorf("%d outputs, node %q", len(rep.Outputs), rep.Node)
	}
}
