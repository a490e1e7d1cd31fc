package flowtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/flow"
)

func unknownRun(ctx context.Context, p *probe) error {
	_, err := p.Load(ctx, "flowtest/nobody")
	return wantError("load", err, flow.ErrUnknownRun)
}

func roundTrip(ctx context.Context, p *probe) error {
	for _, name := range []string{"plain", "a/b/../c", "ünï ∞ %2F", "it's \"quoted\"; --", strings.Repeat("long", 50)} {
		for seq, data := range []string{`{"a":1}`, "\x00\xff binary \n", strings.Repeat("big ", 50_000), ""} {
			run := p.use(name)
			if err := p.save(ctx, run, uint64(seq)+1, data); err != nil { //nolint:gosec // small
				return fmt.Errorf("save %q: %w", run, err)
			}
			if err := p.expect(ctx, run, uint64(seq)+1, data); err != nil { //nolint:gosec // small
				return err
			}
		}
	}
	return nil
}

func lastWins(ctx context.Context, p *probe) error {
	run := p.use("run")
	for seq := uint64(1); seq <= 20; seq++ {
		c := flow.Checkpoint{Run: run, Seq: seq, Data: fmt.Append(nil, seq), Keep: int(seq % 4)} //nolint:gosec // small
		if err := p.Save(ctx, c); err != nil {
			return fmt.Errorf("save number %d: %w", seq, err)
		}
		if err := p.expect(ctx, run, seq, fmt.Sprint(seq)); err != nil {
			return err
		}
	}
	return nil
}

func beginsAtOne(ctx context.Context, p *probe) error {
	run := p.use("run")
	return all(
		func() error { return wantError("save number 2 first", p.save(ctx, run, 2, "x"), flow.ErrConflict) },
		func() error { return wantError("save number 0", p.save(ctx, run, 0, "x"), flow.ErrConflict) },
		func() error {
			_, err := p.Load(ctx, run)
			return wantError("load after refused saves", err, flow.ErrUnknownRun)
		},
	)
}

func gap(ctx context.Context, p *probe) error {
	run := p.use("run")
	return all(
		func() error { return p.save(ctx, run, 1, "one") },
		func() error {
			return wantError("save number 3 after 1", p.save(ctx, run, 3, "three"), flow.ErrConflict)
		},
		func() error { return p.expect(ctx, run, 1, "one") },
	)
}

func repeated(ctx context.Context, p *probe) error {
	run := p.use("run")
	return all(
		func() error { return p.save(ctx, run, 1, "one") },
		func() error { return p.save(ctx, run, 2, "two") },
		func() error { return wantError("save number 2 again", p.save(ctx, run, 2, "again"), flow.ErrConflict) },
		func() error { return wantError("save number 1 again", p.save(ctx, run, 1, "again"), flow.ErrConflict) },
		// Two who resume a run save the same bytes at first; only one may go on.
		func() error {
			return wantError("save number 2 again, with the same data", p.save(ctx, run, 2, "two"), flow.ErrConflict)
		},
	)
}

func conflictChangesNothing(ctx context.Context, p *probe) error {
	run := p.use("run")
	return all(
		func() error { return p.save(ctx, run, 1, "one") },
		func() error {
			return wantError("save number 1 again", p.save(ctx, run, 1, "intruder"), flow.ErrConflict)
		},
		func() error { return p.expect(ctx, run, 1, "one") },
		func() error { return p.save(ctx, run, 2, "two") },
		func() error { return p.expect(ctx, run, 2, "two") },
	)
}

func runsApart(ctx context.Context, p *probe) error {
	a, b := p.use("run"), p.use("run/1")
	return all(
		func() error { return p.save(ctx, a, 1, "a1") },
		func() error { return p.save(ctx, b, 1, "b1") },
		func() error { return p.save(ctx, a, 2, "a2") },
		func() error { return p.expect(ctx, b, 1, "b1") },
		func() error { return p.Delete(ctx, a) },
		func() error { return p.expect(ctx, b, 1, "b1") },
	)
}

const (
	crowd  = 32 // who save at once
	rounds = 50 // how often, since a store that looks before it saves is right most of the time
)

// together calls fn in several goroutines at once and returns their errors.
func together(fn func(i int) error) []error {
	errs := make([]error, crowd)
	var waiting atomic.Int32
	waiting.Store(crowd)
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("panic: %v", v)
				}
			}()
			waiting.Add(-1)
			for spins := 1; waiting.Load() > 0; spins++ { // not a channel: those it wakes come one after the other
				if spins%100 == 0 {
					runtime.Gosched()
				}
			}
			errs[i] = fn(i)
		})
	}
	wg.Wait()
	return errs
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
	run := p.use("run")
	for seq := uint64(1); seq <= rounds; seq++ {
		errs := together(func(i int) error { return p.save(yielding{ctx}, run, seq, fmt.Sprint("by ", i)) }) //nolint:contextcheck // it is ctx
		if err := oneOf(errs, flow.ErrConflict); err != nil {
			return fmt.Errorf("number %d: %w", seq, err)
		}
		for i, err := range errs {
			if err == nil {
				if err := p.expect(ctx, run, seq, fmt.Sprint("by ", i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func wholeOnly(ctx context.Context, p *probe) error {
	run := p.use("run")
	page := func(seq uint64) []byte { return bytes.Repeat([]byte{byte('a' + seq%26)}, 20_000+int(seq)) } //nolint:gosec // small
	if err := p.save(ctx, run, 1, string(page(1))); err != nil {
		return err
	}
	stop := make(chan struct{})
	var readErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := uint64(0); readErr == nil; {
			select {
			case <-stop:
				return
			default:
			}
			c, err := p.Load(ctx, run)
			switch {
			case err != nil:
				readErr = err
			case c.Seq < last:
				readErr = fmt.Errorf("number %d was loaded after %d", c.Seq, last)
			case !bytes.Equal(c.Data, page(c.Seq)):
				readErr = fmt.Errorf("number %d was loaded with the data of another, or part of them", c.Seq)
			}
			last = c.Seq
		}
	})
	var saveErr error
	for seq := uint64(2); seq <= 50 && saveErr == nil; seq++ {
		saveErr = p.Save(ctx, flow.Checkpoint{Run: run, Seq: seq, Data: page(seq), Keep: 1})
	}
	close(stop)
	wg.Wait()
	return errors.Join(saveErr, readErr)
}

func cancelled(ctx context.Context, p *probe) error {
	run := p.use("run")
	dead, cancel := context.WithCancel(ctx)
	cancel()
	_, loadErr := func() (flow.Checkpoint, error) {
		if err := p.save(ctx, run, 1, "one"); err != nil {
			return flow.Checkpoint{}, err
		}
		return p.Load(dead, run)
	}()
	return all(
		func() error { return wantError("load", loadErr, context.Canceled) },
		func() error { return wantError("save", p.save(dead, run, 2, "two"), context.Canceled) },
		func() error { return wantError("delete", p.Delete(dead, run), context.Canceled) },
		func() error { return p.expect(ctx, run, 1, "one") },
		func() error { return p.save(ctx, run, 2, "two") },
	)
}

func deleted(ctx context.Context, p *probe) error {
	run := p.use("run")
	return all(
		func() error { return p.save(ctx, run, 1, "one") },
		func() error { return p.save(ctx, run, 2, "two") },
		func() error { return p.Delete(ctx, run) },
		func() error {
			_, err := p.Load(ctx, run)
			return wantError("load", err, flow.ErrUnknownRun)
		},
		func() error { return wantError("save number 3", p.save(ctx, run, 3, "three"), flow.ErrConflict) },
		func() error { return p.save(ctx, run, 1, "again") },
		func() error { return p.expect(ctx, run, 1, "again") },
	)
}

func deleteUnknown(ctx context.Context, p *probe) error {
	return p.Delete(ctx, "flowtest/nobody")
}

func notAliased(ctx context.Context, p *probe) error {
	run := p.use("run")
	if err := p.save(ctx, run, 1, "one"); err != nil {
		return err
	}
	before, err := p.Load(ctx, run)
	if err != nil {
		return err
	}
	if err := p.save(ctx, run, 2, "two"); err != nil {
		return err
	}
	if before.Seq != 1 || string(before.Data) != "one" {
		return fmt.Errorf("a checkpoint changed after it was loaded: number %d, data %q", before.Seq, before.Data)
	}
	return nil
}
