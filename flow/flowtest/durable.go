package flowtest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/flow"
)

type durableCheck struct {
	name string
	fn   func(ctx context.Context, reopen func() (*probe, error)) error
}

var durableChecks = []durableCheck{
	{"what was saved is there when the store is opened again", keptOpenedAgain},
	{"what was deleted is not, and the sequence goes on", sequenceOpenedAgain},
	{"a flow is resumed when the store is opened again", flowOpenedAgain},
}

// opened runs steps, each with the store opened again.
func opened(reopen func() (*probe, error), steps ...func(p *probe) error) error {
	for i, step := range steps {
		p, err := reopen()
		if err != nil {
			return err
		}
		if err := step(p); err != nil {
			return fmt.Errorf("opened %d times: %w", i+1, err)
		}
	}
	return nil
}

func keptOpenedAgain(ctx context.Context, reopen func() (*probe, error)) error {
	texts := []string{"one", "\x00\xff binary \n", ""}
	steps := make([]func(*probe) error, 0, len(lookAlikes))
	for i, name := range lookAlikes[:12] {
		steps = append(steps, func(p *probe) error {
			for _, before := range lookAlikes[:i] {
				if err := p.expect(ctx, p.use(before), 1, before+texts[len(before)%len(texts)]); err != nil {
					return err
				}
			}
			return p.save(ctx, p.use(name), 1, name+texts[len(name)%len(texts)])
		})
	}
	return opened(reopen, steps...)
}

func sequenceOpenedAgain(ctx context.Context, reopen func() (*probe, error)) error {
	return opened(reopen,
		func(p *probe) error { return p.save(ctx, p.use("run"), 1, "one") },
		func(p *probe) error {
			return wantError("save number 1 again", p.save(ctx, p.use("run"), 1, "intruder"), flow.ErrConflict)
		},
		func(p *probe) error { return p.save(ctx, p.use("run"), 2, "two") },
		func(p *probe) error {
			return all(
				func() error { return p.expect(ctx, p.use("run"), 2, "two") },
				func() error { return p.Delete(ctx, p.use("run")) },
			)
		},
		func(p *probe) error {
			_, err := p.Load(ctx, p.use("run"))
			return wantError("load", err, flow.ErrUnknownRun)
		},
		func(p *probe) error { return p.save(ctx, p.use("run"), 1, "again") },
		func(p *probe) error { return p.expect(ctx, p.use("run"), 1, "again") },
	)
}

func flowOpenedAgain(ctx context.Context, reopen func() (*probe, error)) error {
	var first, last atomic.Int32
	c, err := asking(&first, &last)
	if err != nil {
		return err
	}
	var ask string
	return opened(reopen,
		func(p *probe) error {
			res, err := c.Run(ctx, p.use("flow"), nil, flow.WithStore(p.Store))
			if err != nil || !res.Paused() {
				return fmt.Errorf("run: paused %t, %w", res.Paused(), err)
			}
			ask = res.Asks()[0].ID()
			return nil
		},
		func(p *probe) error {
			res, err := c.Resume(ctx, p.use("flow"), flow.WithStore(p.Store), flow.Answer(ask, "Ada"))
			if err != nil {
				return fmt.Errorf("resume: %w", err)
			}
			if !slices.Equal(res.State, []string{"first", "Ada", "last"}) || first.Load() != 1 {
				return fmt.Errorf("state %q after %d runs of the first node", res.State, first.Load())
			}
			return nil
		},
		func(p *probe) error {
			_, err := c.Resume(ctx, p.use("flow"), flow.WithStore(p.Store))
			return wantError("resume a finished run", err, flow.ErrFinished)
		},
	)
}
