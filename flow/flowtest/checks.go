package flowtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/meanwhile"
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

func wholeOnly(ctx context.Context, p *probe) error {
	run := p.use("run")
	page := func(seq uint64) []byte { return bytes.Repeat([]byte{byte('a' + seq%26)}, 20_000+int(seq)) } //nolint:gosec // small
	if err := p.save(ctx, run, 1, string(page(1))); err != nil {
		return err
	}
	last := uint64(0)
	read := func() error {
		c, err := p.Load(ctx, run)
		switch {
		case err != nil:
			return err
		case c.Seq < last:
			return fmt.Errorf("number %d was loaded after %d", c.Seq, last)
		case !bytes.Equal(c.Data, page(c.Seq)):
			return fmt.Errorf("number %d was loaded with the data of another, or part of them", c.Seq)
		}
		last = c.Seq
		return nil
	}
	write := func() error {
		for seq := uint64(2); seq <= 50; seq++ {
			if err := p.Save(ctx, flow.Checkpoint{Run: run, Seq: seq, Data: page(seq), Keep: 1}); err != nil {
				return err
			}
		}
		return nil
	}
	return meanwhile.Read(func() error { return guarded(read) }, func() error { return guarded(write) })
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

// lookAlikes are ids that a store may confuse which changes, cuts or compares
// them in a way of its own: without case, without blanks at the end, by their first
// bytes, as patterns, as paths, or as one form of Unicode.
var lookAlikes = []string{
	"task", "Task", "TASK", "task ", " task", "task/", "task//", "/task", "task/.", "./task", "x/../task", "task.",
	"a/b", "a_b", "a-b", "a:b", `a\b`, "a%b", "a%2Fb", "a b", "a+b", "a?b", "a*b", "a'b", `a"b`, "a;b", "a,b", "a|b", "ab",
	"caf\u00e9", "cafe\u0301", "cafe", "caf?", "\u212a", "k", "K", "stra\u00dfe", "strasse", "i", "\u0131", "\u0130", "I",
	"1", "01", "1.0", "1e0", "null", "nil", "NULL", "{}", "[]", "-", "--", "a\nb", "a\tb", "a\r\nb",
	strings.Repeat("l", 63), strings.Repeat("l", 64), strings.Repeat("l", 65), strings.Repeat("l", 255), strings.Repeat("l", 256),
	strings.Repeat("l", 299) + "1", strings.Repeat("l", 299) + "2", strings.Repeat("/l", 150) + "1", strings.Repeat("/l", 150) + "2",
}

func alike(ctx context.Context, p *probe) error {
	for _, name := range lookAlikes {
		run := p.use(name)
		if err := p.save(ctx, run, 1, "of "+run); err != nil {
			return fmt.Errorf("save %q after others like it: %w", run, err)
		}
	}
	for i, name := range lookAlikes { // one is deleted after the other
		for _, left := range lookAlikes[i:] {
			run := p.use(left)
			if err := p.expect(ctx, run, 1, "of "+run); err != nil {
				return err
			}
		}
		if err := p.Delete(ctx, p.use(name)); err != nil {
			return fmt.Errorf("delete %q: %w", p.use(name), err)
		}
	}
	return nil
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
	other := p.use("other")
	if err := p.save(ctx, other, 1, "etc"); err != nil {
		return err
	}
	for _, run := range []string{run, other} { // a store may load into the same memory
		if _, err := p.Load(ctx, run); err != nil {
			return err
		}
	}
	if before.Seq != 1 || string(before.Data) != "one" {
		return fmt.Errorf("a checkpoint changed after it was loaded: number %d, data %q", before.Seq, before.Data)
	}
	return nil
}
