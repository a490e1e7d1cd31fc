package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/executor"
)

// worker is what this process is called in the database. It is in the table of
// workers for the time of a lease, over and over; once it was not, it is dead,
// its tasks are anybody's, and this process goes on under another name.
type worker struct {
	turn  chan struct{} // whoever has put something in may tell the database
	mu    sync.Mutex    // guards the others, and is never held for long
	name  string
	until time.Time // when it is dead for certain, unless renewed
}

func newWorker() *worker { return &worker{turn: make(chan struct{}, 1)} }

// known gives the worker's name and how long it is alive.
func (w *worker) known() (name string, left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.name, time.Until(w.until)
}

func (w *worker) set(name string, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.name, w.until = name, until
}

// take waits for the turn to tell the database, unless ctx is done before.
func (w *worker) take(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *worker) giveBack() { <-w.turn }

// LeaseTime is how long a lease holds that is not renewed, see [Lease].
func (s *Tasks) LeaseTime() time.Duration { return s.db.lease }

// alive gives the name of this process's worker, which is alive for at least
// half of a lease.
func (d *DB) alive(ctx context.Context) (string, error) { return d.beat(ctx, d.lease/2) }

// beat renews the lease of the worker that this process is if it has less left
// than that, and gives its name. A database that does not answer is given a third
// of a lease: a heartbeat must not wait behind somebody who waits for longer.
func (d *DB) beat(ctx context.Context, least time.Duration) (string, error) {
	if name, left := d.self.known(); name != "" && left >= least {
		return name, nil
	}
	ctx, cancel := context.WithTimeoutCause(urgently(ctx), d.lease/3, errSilent)
	defer cancel()
	if err := d.self.take(ctx); err != nil {
		return "", fmt.Errorf("renew lease: %w", d.told(ctx, err))
	}
	defer d.self.giveBack()
	name, left := d.self.known()
	if name != "" && left >= least {
		return name, nil
	}
	now := time.Now()
	if name != "" && left > 0 {
		n, err := d.do(ctx, `UPDATE {p}workers SET leased_until = {now} + ? WHERE worker = ?`, d.lease.Milliseconds(), name)
		if err != nil {
			return "", fmt.Errorf("renew lease: %w", err)
		}
		if n > 0 {
			d.self.set(name, now.Add(d.lease))
			return name, nil
		}
	}
	name = rand.Text()
	_, err := d.do(ctx, `INSERT INTO {p}workers (worker, leased_until) VALUES (?, {now} + ?) ON CONFLICT (worker) DO NOTHING`,
		name, d.lease.Milliseconds())
	if err != nil {
		return "", fmt.Errorf("begin lease: %w", err)
	}
	d.self.set(name, now.Add(d.lease))
	return name, nil
}

// resign gives back all leases of this process.
func (d *DB) resign() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d.lease, errSilent)
	defer cancel()
	if err := d.self.take(ctx); err != nil {
		return err
	}
	defer d.self.giveBack()
	name, _ := d.self.known()
	if name == "" {
		return nil
	}
	_, err := d.do(ctx, `DELETE FROM {p}workers WHERE worker = ?`, name)
	d.self.set("", time.Time{})
	return err
}

// bury removes the workers of which nothing was heard for the time of a lease.
// From then on they cannot renew it.
func (d *DB) bury(ctx context.Context) error {
	_, err := d.do(ctx, `DELETE FROM {p}workers WHERE leased_until < {now}`)
	return err
}

// taken is a task whose lease may be taken, as it was read.
type taken struct {
	executor.Orphan
	version int64
}

const takenColumns = `id, owner, request, version`

// dead is the condition that nobody alive has the lease of a task.
const dead = `NOT EXISTS (SELECT 1 FROM {p}workers w WHERE w.worker = {p}tasks.worker)`

func scanTaken(r *sql.Rows) (t taken, err error) {
	return t, r.Scan(&t.Task, &t.Owner, &t.Request, &t.version)
}

// take takes the lease of a task, unless it has changed since it was read. What
// others have read of it they cannot write from then on.
func (d *DB) take(ctx context.Context, t taken, me string) (bool, error) {
	n, again, err := d.exec(ctx, `UPDATE {p}tasks SET worker = ?, version = version + 1 WHERE id = ? AND version = ?`,
		me, string(t.Task), t.version)
	if err != nil || n > 0 || !again {
		return n > 0, err
	}
	rows, err := d.query(ctx, `SELECT 1 FROM {p}tasks WHERE id = ? AND worker = ? AND version = ?`, string(t.Task), me, t.version+1)
	var yes int
	return one(rows, err, &yes)
}

// Acquire takes the lease of a task of the caller's, and reports false when
// another process has it, or the task is at work: a run whose process died is for
// Orphans. There is nothing to take of a task that does not exist
// or is not the caller's. What another process has read of the task it cannot write from then on.
func (s *Tasks) Acquire(ctx context.Context, id a2a.TaskID) (bool, error) {
	ok, err := s.acquire(ctx, id)
	if err != nil {
		return false, fmt.Errorf("acquire task: %w", err)
	}
	return ok, nil
}

func (s *Tasks) acquire(ctx context.Context, id a2a.TaskID) (bool, error) {
	owner, err := s.db.owner(ctx)
	if err != nil || unstorable(string(id)) {
		return err == nil, err
	}
	me, err := s.db.alive(ctx)
	if err != nil {
		return false, err
	}
	if err := s.db.bury(ctx); err != nil {
		return false, err
	}
	rows, err := s.db.query(ctx, `SELECT `+takenColumns+` FROM {p}tasks WHERE id = ? AND owner = ?
		AND state NOT IN `+atWork+` AND (worker = ? OR `+dead+`)`, string(id), owner, me)
	found, err := all(rows, err, scanTaken)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		exists, err := s.exists(ctx, id, owner)
		return !exists, err
	}
	return s.db.take(ctx, found[0], me)
}

// Release gives back the lease of a task. One that is not this process's is no error.
func (s *Tasks) Release(ctx context.Context, id a2a.TaskID) error {
	me, _ := s.db.self.known()
	if me == "" || unstorable(string(id)) {
		return nil
	}
	_, err := s.db.do(ctx, `UPDATE {p}tasks SET worker = '' WHERE id = ? AND worker = ?`, string(id), me)
	return err
}

// batch is how many ids are in one statement.
const batch = 500

// Renew renews the leases of tasks that this process works on, and gives those
// that it has lost: to a process that took them over, or because the task was ended elsewhere.
func (s *Tasks) Renew(ctx context.Context, ids []a2a.TaskID) (lost []a2a.TaskID, err error) {
	ctx = urgently(ctx)
	me, err := s.db.beat(ctx, s.db.lease)
	if err != nil {
		return nil, err
	}
	held := map[a2a.TaskID]bool{}
	for some := range slices.Chunk(ids, batch) {
		args := []any{me}
		for _, id := range some {
			args = append(args, string(id))
		}
		rows, err := s.db.query(ctx, `SELECT id FROM {p}tasks WHERE worker = ? AND id IN (?`+
			strings.Repeat(", ?", len(some)-1)+`)`, args...)
		kept, err := all(rows, err, scanID)
		if err != nil {
			return nil, fmt.Errorf("check leases: %w", err)
		}
		for _, id := range kept {
			held[id] = true
		}
	}
	for _, id := range ids {
		if !held[id] {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

func scanID(r *sql.Rows) (id a2a.TaskID, err error) { return id, r.Scan(&id) }

// atWork are the states of a task that a run works on.
const atWork = `('TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED', '')`

// Orphans takes the leases of tasks that are at work but that no process works
// on, at most that many. What a process that is not dead after all
// has read of them it cannot write from then on.
func (s *Tasks) Orphans(ctx context.Context, most int) ([]executor.Orphan, error) {
	found, err := s.takeSome(ctx, `state IN `+atWork+` AND `+dead+` ORDER BY state, updated_at LIMIT ?`, most)
	if err != nil {
		err = fmt.Errorf("find orphans: %w", err)
	}
	return found, err
}

// Overdue takes the leases of tasks that have been parked for that long, by the
// database's clock, and that no process holds, at most that many.
func (s *Tasks) Overdue(ctx context.Context, parkedFor time.Duration, most int) ([]executor.Orphan, error) {
	found, err := s.takeSome(ctx, `parked_at > 0 AND parked_at <= {now} - ? AND `+dead+` ORDER BY parked_at LIMIT ?`,
		parkedFor.Milliseconds(), most)
	if err != nil {
		err = fmt.Errorf("find overdue tasks: %w", err)
	}
	return found, err
}

// takeSome takes the leases of the tasks that a condition is true of. Those that
// were taken are the caller's even where it fails.
func (s *Tasks) takeSome(ctx context.Context, cond string, args ...any) ([]executor.Orphan, error) {
	me, err := s.db.alive(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.db.bury(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.query(ctx, `SELECT `+takenColumns+` FROM {p}tasks WHERE `+cond, args...)
	found, err := all(rows, err, scanTaken)
	var mine []executor.Orphan
	for _, t := range found {
		ok, err := s.db.take(ctx, t, me)
		if err != nil {
			return mine, err
		}
		if ok {
			mine = append(mine, t.Orphan)
		}
	}
	return mine, err
}
