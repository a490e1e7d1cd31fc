// Package flowtest checks that a flow.Store keeps its promises, for authors of
// stores.
//
//	func TestStore(t *testing.T) {
//		flowtest.Run(t, func(t *testing.T) flow.Store { return mystore.Open(t.TempDir()) })
//	}
package flowtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
)

// Run runs every check as a subtest, each with a store of its own. newStore
// makes an empty store.
func Run(t *testing.T, newStore func(*testing.T) flow.Store) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), newStore(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// RunDurable is [Run] for a store that outlives its process: open opens the store
// that is kept in a directory, which is empty at first. Besides, each of some
// checks opens one again, after it has closed it, if that is an io.Closer, and
// expects what was saved before.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) flow.Store) {
	t.Helper()
	Run(t, func(t *testing.T) flow.Store {
		t.Helper()
		return open(t, t.TempDir())
	})
	for _, c := range durableChecks {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var last flow.Store
			reopen := func() (*probe, error) {
				if closer, ok := last.(io.Closer); ok {
					if err := closer.Close(); err != nil {
						return nil, fmt.Errorf("close: %w", err)
					}
				}
				last = open(t, dir)
				return &probe{Store: last}, nil
			}
			if err := c.fn(t.Context(), reopen); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStore runs every check against a store and returns an error that joins
// all violations, nil if there are none. The store may hold runs already whose
// ids do not begin with "flowtest/"; those the checks make are deleted.
func TestStore(ctx context.Context, s flow.Store) error {
	var errs []error
	for _, c := range checks {
		if err := c.run(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

type check struct {
	name string
	fn   func(context.Context, *probe) error
}

var checks = []check{
	{"an unknown run is ErrUnknownRun", unknownRun},
	{"what was saved is loaded, byte for byte", roundTrip},
	{"the last checkpoint is loaded", lastWins},
	{"the sequence begins at 1", beginsAtOne},
	{"a gap in the sequence is a conflict", gap},
	{"a number used already is a conflict", repeated},
	{"a conflict changes nothing", conflictChangesNothing},
	{"runs are kept apart", runsApart},
	{"runs with ids that look alike are kept apart", alike},
	{"of many that save the same number one wins", oneWins},
	{"a reader sees whole checkpoints only", wholeOnly},
	{"a cancelled context changes nothing", cancelled},
	{"a deleted run is unknown and can begin again", deleted},
	{"deleting an unknown run is no error", deleteUnknown},
	{"saved data is not aliased by what is loaded", notAliased},
	{"a flow pauses, resumes and finishes", wholeFlow},
	{"of many that resume a flow one wins", oneResumes},
}

// run runs one check and removes what it left behind.
func (c check) run(ctx context.Context, s flow.Store) (err error) {
	p := &probe{Store: s}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		for _, run := range p.runs {
			err = errors.Join(err, s.Delete(context.WithoutCancel(ctx), run))
		}
	}()
	return c.fn(ctx, p)
}

// probe is a store that remembers which runs were made.
type probe struct {
	flow.Store
	runs []string
}

// use names a run; odd characters are a store's problem.
func (p *probe) use(name string) string {
	run := "flowtest/" + name
	if !slices.Contains(p.runs, run) {
		p.runs = append(p.runs, run)
	}
	return run
}

func (p *probe) save(ctx context.Context, run string, seq uint64, data string) error {
	return p.Save(ctx, flow.Checkpoint{Run: run, Seq: seq, Data: []byte(data), Keep: 1})
}

// expect compares the last checkpoint.
func (p *probe) expect(ctx context.Context, run string, seq uint64, data string) error {
	c, err := p.Load(ctx, run)
	if err != nil {
		return fmt.Errorf("load %q: %w", run, err)
	}
	if c.Run != run || c.Seq != seq || string(c.Data) != data {
		return fmt.Errorf("load %q: got run %q, number %d, data %.60q; want number %d, data %.60q",
			run, c.Run, c.Seq, c.Data, seq, data)
	}
	return nil
}

// all runs steps until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func wantError(what string, err, want error) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s: no error, want %w", what, want)
	case !errors.Is(err, want):
		return fmt.Errorf("%s: got %w, which is not: %w", what, err, want)
	default:
		return nil
	}
}
