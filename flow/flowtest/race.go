package flowtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2aexec/a2aexec/flow"
)

// A store that looks whether a number is free, and then saves, is right most of
// the time: as long as nobody comes between. So the checks here are races that are
// run many times, in groups of several sizes, with others that load meanwhile,
// with data whose handling takes time, and in a context that lets others go first.

// race is how often how many save at once.
type race struct {
	crowd, readers int
	least          int           // rounds
	limit          time.Duration // for more of them
	size           int           // of the data
}

var races = []race{
	{crowd: 32, least: 50},
	{crowd: 4, least: 2, size: 4 << 20}, // so long that one processor, too, turns to others in between
	{crowd: 2, size: 20_000, least: 10, limit: 200 * time.Millisecond},
	{crowd: 2, readers: 2, least: 10, limit: 200 * time.Millisecond},
	{crowd: 4, size: 20_000, least: 10, limit: 200 * time.Millisecond},
	{crowd: 8, readers: 4, least: 10, limit: 200 * time.Millisecond},
}

// together calls fn in several goroutines at once and returns their errors.
func together(crowd int, fn func(i int) error) []error {
	errs := make([]error, crowd)
	var waiting atomic.Int32
	waiting.Store(int32(crowd)) //nolint:gosec // small
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() {
			waiting.Add(-1)
			for spins := 1; waiting.Load() > 0; spins++ { // not a channel: those it wakes come one after the other
				if spins%100 == 0 {
					runtime.Gosched()
				}
			}
			errs[i] = guarded(func() error { return fn(i) })
		})
	}
	wg.Wait()
	return errs
}

// guarded calls fn in a goroutine that a panic must not end.
func guarded(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return fn()
}

// yielding is a context that lets others go first whenever it is looked at,
// which a store does between its steps.
type yielding struct{ context.Context } //nolint:containedctx // a context itself

// Err implements context.Context.
func (y yielding) Err() error {
	runtime.Gosched()
	return y.Context.Err()
}

// Done implements context.Context.
func (y yielding) Done() <-chan struct{} {
	runtime.Gosched()
	return y.Context.Done()
}

// oneOf checks that one call went well and the others got the wanted error.
func oneOf(errs []error, want ...error) error {
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		lost := false
		for _, w := range want {
			lost = lost || errors.Is(err, w)
		}
		if !lost {
			return fmt.Errorf("got %w, want one of %v", err, want)
		}
	}
	if won != 1 {
		return fmt.Errorf("%d of %d won, want 1", won, len(errs))
	}
	return nil
}

func oneWins(ctx context.Context, p *probe) error {
	seq, run := uint64(1), p.use("run")
	for _, r := range races {
		stop := p.readers(ctx, run, r.readers)
		for began, n := time.Now(), 0; n < r.least || time.Since(began) < r.limit; n++ {
			if err := p.oneSaves(ctx, run, seq, r); err != nil {
				stop()
				return fmt.Errorf("%d at once, number %d: %w", r.crowd, seq, err)
			}
			seq++
		}
		stop()
	}
	return nil
}

// oneSaves lets several save the same number at once.
func (p *probe) oneSaves(ctx context.Context, run string, seq uint64, r race) error {
	data := make([]string, r.crowd)
	for i := range data {
		by := fmt.Sprintln("by", i)
		data[i] = strings.Repeat(by, 1+r.size/len(by))
	}
	errs := together(r.crowd, func(i int) error { return p.save(yielding{ctx}, run, seq, data[i]) }) //nolint:contextcheck // it is ctx
	if err := oneOf(errs, flow.ErrConflict); err != nil {
		return err
	}
	for i, err := range errs {
		if err == nil {
			return p.expect(ctx, run, seq, data[i])
		}
	}
	return nil
}

// readers load a run until stop is called. What they get is for other checks.
func (p *probe) readers(ctx context.Context, run string, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			defer func() { _ = recover() }()
			for ctx.Err() == nil {
				_, _ = p.Load(ctx, run)
				runtime.Gosched()
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}
