package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

func call(ctx context.Context, user string) context.Context {
	ctx, c := a2asrv.NewCallContext(ctx, nil)
	c.User = &a2asrv.User{Name: user, Authenticated: user != ""}
	return ctx
}

// pair opens one database as two processes do.
func pair(t *testing.T, dsn string, opts ...Option) (a, b *Tasks) {
	t.Helper()
	out := make([]*Tasks, 2)
	for i := range out {
		db, err := Open(t.Context(), dsn, opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		out[i] = db.Tasks()
	}
	return out[0], out[1]
}

// die makes a process one of which nothing was heard for the time of a lease.
func die(t *testing.T, s *Tasks) {
	t.Helper()
	if _, err := s.db.do(t.Context(), `UPDATE {p}workers SET leased_until = 0 WHERE worker = ?`, s.db.self.name); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s *Tasks, id string, state a2a.TaskState) taskstore.TaskVersion {
	t.Helper()
	v, err := s.Create(owned(t.Context()), &a2a.Task{ID: a2a.TaskID(id), ContextID: "c", Status: a2a.TaskStatus{State: state}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func set(t *testing.T, s *Tasks, id string, state a2a.TaskState, event a2a.Event) error {
	t.Helper()
	task := &a2a.Task{ID: a2a.TaskID(id), ContextID: "c", Status: a2a.TaskStatus{State: state}}
	_, err := s.Update(owned(t.Context()), &taskstore.UpdateRequest{Task: task, Event: event})
	return err
}

func orphans(t *testing.T, s *Tasks) string {
	t.Helper()
	found, err := s.Orphans(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, o := range found {
		ids = append(ids, fmt.Sprintf("%s of %s", o.Task, o.Owner))
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}

func acquire(t *testing.T, s *Tasks, id string) bool {
	t.Helper()
	ok, err := s.Acquire(owned(t.Context()), a2a.TaskID(id))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func lost(t *testing.T, s *Tasks, ids ...a2a.TaskID) []a2a.TaskID {
	t.Helper()
	gone, err := s.Renew(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return gone
}

func TestATaskAtWorkIsLeasedFromTheBeginning(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		put(t, a, "working", a2a.TaskStateWorking)
		if acquire(t, b, "working") {
			t.Error("another process acquired it")
		}
		if got := orphans(t, b); got != "" {
			t.Errorf("another process found the orphans %s", got)
		}
		if acquire(t, a, "working") {
			t.Error("its own process acquired it, although it is at work")
		}
	})
}

func TestATaskThatRestsIsAnybodys(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		for _, state := range append([]a2a.TaskState{a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired}, ended...) {
			id := string(state)
			put(t, a, id, a2a.TaskStateWorking)
			if err := set(t, a, id, state, &a2a.Task{}); err != nil {
				t.Fatal(err)
			}
			if !acquire(t, b, id) {
				t.Errorf("%s: another process did not acquire it", state)
			}
		}
		if got := orphans(t, a); got != "" {
			t.Errorf("the orphans %s were found, but nothing is at work", got)
		}
	})
}

// The host stores a client's answer with the task still parked.
func TestAnAnswerDoesNotGiveTheLeaseBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		put(t, a, "parked", a2a.TaskStateInputRequired)
		if !acquire(t, a, "parked") {
			t.Fatal("not acquired")
		}
		if err := set(t, a, "parked", a2a.TaskStateInputRequired, &a2a.Message{}); err != nil {
			t.Fatal(err)
		}
		if acquire(t, b, "parked") {
			t.Error("another process acquired it")
		}
		if err := a.Release(t.Context(), "parked"); err != nil {
			t.Fatal(err)
		}
		if !acquire(t, b, "parked") {
			t.Error("another process did not acquire it when it was given back")
		}
	})
}

func TestTheDeadLoseTheirTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		v := put(t, a, "one", a2a.TaskStateWorking)
		put(t, a, "two", a2a.TaskStateWorking)
		put(t, a, "parked", a2a.TaskStateInputRequired)
		if got := lost(t, a, "one", "two"); got != nil {
			t.Errorf("lost %v while alive", got)
		}
		die(t, a)
		if got, want := orphans(t, b), "one of me, two of me"; got != want {
			t.Errorf("got the orphans %q, want %q", got, want)
		}
		if got := orphans(t, b); got != "" {
			t.Errorf("got the orphans %q again", got)
		}
		if diff := cmp.Diff([]a2a.TaskID{"one", "two"}, lost(t, a, "one", "two")); diff != "" {
			t.Errorf("the dead process is told that it lost (-want +got): %s", diff)
		}
		_, err := a.Update(owned(t.Context()), &taskstore.UpdateRequest{Task: &a2a.Task{ID: "one"}, PrevVersion: v})
		if !errors.Is(err, taskstore.ErrConcurrentModification) {
			t.Errorf("the dead process wrote: %v", err)
		}
		put(t, a, "three", a2a.TaskStateWorking) // under a new name
		if got := lost(t, a, "three"); got != nil {
			t.Errorf("lost %v of the new life", got)
		}
		if got := orphans(t, b); got != "" {
			t.Errorf("got the orphans %q of a process that lives again", got)
		}
	})
}

// A process whose lease has run out keeps its tasks as long as nobody took
// them, and nobody can any more once it was heard of again.
func TestALateHeartbeatIsInTime(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		put(t, a, "one", a2a.TaskStateWorking)
		die(t, a)
		if got := lost(t, a, "one"); got != nil {
			t.Errorf("lost %v", got)
		}
		if got := orphans(t, b); got != "" {
			t.Errorf("got the orphans %q", got)
		}
	})
}

func TestACancelElsewhereIsALoss(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		put(t, a, "one", a2a.TaskStateWorking)
		if err := set(t, b, "one", a2a.TaskStateCanceled, &a2a.Task{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]a2a.TaskID{"one"}, lost(t, a, "one")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOneProcessAcquires(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		for i := range 20 {
			id := fmt.Sprint("task-", i)
			put(t, a, id, a2a.TaskStateInputRequired)
			got := make(chan bool, 2)
			for _, s := range []*Tasks{a, b} {
				go func() {
					ok, err := s.Acquire(owned(t.Context()), a2a.TaskID(id))
					if err != nil {
						t.Error(err)
					}
					got <- ok
				}()
			}
			if one, two := <-got, <-got; one == two {
				t.Errorf("both processes got %t", one)
			}
		}
	})
}

func TestOrphansGoToOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		for i := range 40 {
			put(t, a, fmt.Sprint("task-", i), a2a.TaskStateWorking)
		}
		die(t, a)
		c, _ := pair(t, dsn)
		type found struct {
			ids map[a2a.TaskID]bool
			err error
		}
		got := make(chan found, 2)
		for _, s := range []*Tasks{b, c} {
			go func() {
				all := map[a2a.TaskID]bool{}
				for {
					some, err := s.Orphans(t.Context(), 3)
					for _, o := range some {
						all[o.Task] = true
					}
					if err != nil || len(some) == 0 {
						got <- found{all, err}
						return
					}
				}
			}()
		}
		one, two := <-got, <-got
		if err := errors.Join(one.err, two.err); err != nil {
			t.Fatal(err)
		}
		for id := range one.ids {
			if _, both := two.ids[id]; both {
				t.Errorf("both processes got %s", id)
			}
		}
		// With rows locked by the other a process may come away with nothing.
		rest, err := c.Orphans(t.Context(), 100)
		if n := len(one.ids) + len(two.ids) + len(rest); n != 40 || err != nil {
			t.Errorf("%d orphans were found, want 40 (%v)", n, err)
		}
	})
}

func TestAcquireTellsNothingOfOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn)
		put(t, a, "one", a2a.TaskStateWorking)
		for _, id := range []a2a.TaskID{"one", "unknown", "\x00"} {
			ok, err := b.Acquire(call(t.Context(), "other"), id)
			if !ok || err != nil {
				t.Errorf("%q: got %t, %v", id, ok, err)
			}
		}
		if got := lost(t, a, "one"); got != nil {
			t.Errorf("lost %v to a stranger", got)
		}
	})
}

func TestCloseGivesLeasesBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := pair(t, dsn, Lease(time.Hour))
		put(t, a, "one", a2a.TaskStateWorking)
		if err := a.db.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := orphans(t, b), "one of me"; got != want {
			t.Errorf("got the orphans %q, want %q", got, want)
		}
	})
}

func TestRenewOfMany(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, _ := pair(t, dsn)
		put(t, a, "one", a2a.TaskStateWorking)
		ids := []a2a.TaskID{"one"}
		for i := range 3 * batch / 2 {
			ids = append(ids, a2a.TaskID(fmt.Sprint("unknown-", i)))
		}
		if got := lost(t, a, ids...); !slices.Equal(got, ids[1:]) {
			t.Errorf("%d of %d were lost", len(got), len(ids))
		}
	})
}

// Under load the heartbeat waited behind all that the process wrote, until its
// leases were lost, and all of its runs with them.
func TestHeartbeatGoesPastTheQueue(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		s, _ := pair(t, dsn, Conns(1))
		put(t, s, "task", a2a.TaskStateWorking)
		busy := func() { // everything else waits
			if s.db.queue != nil {
				s.db.queue <- struct{}{}
				t.Cleanup(func() { <-s.db.queue })
				return
			}
			c, err := s.db.write.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
		}
		busy()
		if got := lost(t, s, "task"); len(got) > 0 {
			t.Errorf("lost %v", got)
		}
		ctx, cancel := context.WithCancel(owned(t.Context()))
		cancel()
		if err := s.Release(ctx, "task"); !errors.Is(err, context.Canceled) {
			t.Errorf("what is not urgent got %v, want context.Canceled", err)
		}
	})
}

// A call that got no answer held the worker's lock, so that the heartbeat waited
// with it, past its time.
func TestHeartbeatDoesNotWaitForASilentDatabase(t *testing.T) {
	t.Parallel()
	s, _ := pair(t, dbtest.SQLite(t), Lease(100*time.Millisecond))
	if err := s.db.self.take(t.Context()); err != nil { // somebody waits for an answer
		t.Fatal(err)
	}
	defer s.db.self.giveBack()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Renew(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("renew got %v, want the deadline", err)
	}
	if err := s.Release(owned(t.Context()), "none"); err != nil {
		t.Errorf("release: %v", err)
	}
	// What has no limit of its own is given up.
	_, err := s.Create(owned(t.Context()), &a2a.Task{ID: "task", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}})
	if !errcode.Is(err, errcode.UpstreamUnavailable) {
		t.Errorf("create got %v, want UPSTREAM_UNAVAILABLE", err)
	}
}
