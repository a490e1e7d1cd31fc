package flowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// asking makes a flow whose second node asks, and counts how often the first
// and the last ran.
func asking(first, last *atomic.Int32) (*flow.Compiled[[]string], error) {
	g := flow.New[[]string]("flowtest")
	add := func(s *[]string, v string) { *s = append(slices.Clip(*s), v) }
	a := flow.Node(g, "first", "test", func(context.Context, []string) (string, error) {
		first.Add(1)
		return "first", nil
	}, add)
	b := flow.Node(g, "ask", "test", func(ctx context.Context, _ []string) (string, error) {
		return hitl.Ask[string](ctx, "name", "Name?")
	}, add)
	c := flow.Node(g, "last", "test", func(context.Context, []string) (string, error) {
		last.Add(1)
		return "last", nil
	}, add)
	g.Edge(flow.START, a)
	g.Edge(a, b)
	g.Edge(b, c)
	g.Edge(c, flow.END)
	return g.Compile()
}

func wholeFlow(ctx context.Context, p *probe) error {
	var first, last atomic.Int32
	c, err := asking(&first, &last)
	if err != nil {
		return err
	}
	run, store := p.use("flow"), flow.WithStore(p.Store)
	res, err := c.Run(ctx, run, nil, store)
	if err != nil || !res.Paused() {
		return fmt.Errorf("run: paused %t, %w", res.Paused(), err)
	}
	res, err = c.Resume(ctx, run, store, flow.Answer(res.Asks()[0].ID(), "Ada"))
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if !slices.Equal(res.State, []string{"first", "Ada", "last"}) || first.Load() != 1 {
		return fmt.Errorf("state %q after %d runs of the first node", res.State, first.Load())
	}
	_, err = c.Resume(ctx, run, store)
	if err := wantError("resume a finished run", err, flow.ErrFinished); err != nil {
		return err
	}
	_, err = c.Run(ctx, run, nil, store)
	return wantError("run a finished run again", err, flow.ErrRunExists)
}

func oneResumes(ctx context.Context, p *probe) error {
	var first, last atomic.Int32
	c, err := asking(&first, &last)
	if err != nil {
		return err
	}
	run, store := p.use("flow"), flow.WithStore(p.Store)
	res, err := c.Run(ctx, run, nil, store)
	if err != nil || !res.Paused() {
		return fmt.Errorf("run: paused %t, %w", res.Paused(), err)
	}
	id := res.Asks()[0].ID()
	errs := together(32, func(i int) error {
		_, err := c.Resume(ctx, run, store, flow.Answer(id, fmt.Sprint("by ", i)))
		return err
	})
	// A late one may find the answer taken, or the run finished.
	if err := oneOf(errs, flow.ErrConflict, flow.ErrUnknownAsk, flow.ErrFinished); err != nil {
		return err
	}
	if last.Load() != 1 {
		return errors.New("the node after the question ran more than once")
	}
	return nil
}
