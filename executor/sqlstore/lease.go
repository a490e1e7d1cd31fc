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
)

// worker is what this process is called in the database. It is in the table of
// workers for the time of a lease, over and over; once it was not, it is dead,
// its tasks are anybody's, and this process goes on under another name.
type worker struct {
	mu    sync.Mutex
	name  string
	until time.Time // when it is dead for certain, unless renewed
}

// LeaseTime is how long a lease holds that is not renewed, see [Lease].
func (s *Tasks) LeaseTime() time.Duration { return s.db.lease }

// alive gives the name of this process's worker, which is alive for at least
// half of a lease.
func (d *DB) alive(ctx context.Context) (string, error) { return d.beat(ctx, d.lease/2) }

// beat renews the lease of the worker that this process is if it has less left
// than that, and gives its name.
func (d *DB) beat(ctx context.Context, left time.Duration) (string, error) {
	w := &d.self
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.name != "" && w.until.Sub(now) >= left {
		return w.name, nil
	}
	if w.name != "" && w.until.After(now) {
		n, err := d.do(ctx, `UPDATE {p}workers SET leased_until = {now} + ? WHERE worker = ?`, d.lease.Milliseconds(), w.name)
		if err != nil {
			return "", fmt.Errorf("renew lease: %w", err)
		}
		if n > 0 {
			w.until = now.Add(d.lease)
			return w.name, nil
		}
	}
	name := rand.Text()
	_, err := d.do(ctx, `INSERT INTO {p}workers (worker, leased_until) VALUES (?, {now} + ?) ON CONFLICT (worker) DO NOTHING`,
		name, d.lease.Milliseconds())
	if err != nil {
		return "", fmt.Errorf("begin lease: %w", err)
	}
	w.name, w.until = name, now.Add(d.lease)
	return name, nil
}

// resign gives back all leases of this process.
func (d *DB) resign() error {
	w := &d.self
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.lease)
	defer cancel()
	_, err := d.do(ctx, `DELETE FROM {p}workers WHERE worker = ?`, w.name)
	w.name = ""
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
	id      a2a.TaskID
	owner   string
	version int64
}

// dead is the condition that nobody alive has the lease of a task.
const dead = `NOT EXISTS (SELECT 1 FROM {p}workers w WHERE w.worker = {p}tasks.worker)`

func scanTaken(r *sql.Rows) (t taken, err error) { return t, r.Scan(&t.id, &t.owner, &t.version) }

// take takes the lease of a task, unless it has changed since it was read. What
// others have read of it they cannot write from then on.
func (d *DB) take(ctx context.Context, t taken, me string) (bool, error) {
	n, again, err := d.exec(ctx, `UPDATE {p}tasks SET worker = ?, version = version + 1 WHERE id = ? AND version = ?`,
		me, string(t.id), t.version)
	if err != nil || n > 0 || !again {
		return n > 0, err
	}
	rows, err := d.query(ctx, `SELECT 1 FROM {p}tasks WHERE id = ? AND worker = ? AND version = ?`, string(t.id), me, t.version+1)
	var yes int
	return one(rows, err, &yes)
}

// Acquire takes the lease of a task of the caller's, and reports false when
// another process has it. There is nothing to take of a task that does not exist
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
	rows, err := s.db.query(ctx, `SELECT id, owner, version FROM {p}tasks WHERE id = ? AND owner = ?
		AND (worker = ? OR `+dead+`)`, string(id), owner, me)
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
	s.db.self.mu.Lock()
	me := s.db.self.name
	s.db.self.mu.Unlock()
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

// Orphans takes the leases of tasks that are at work but that no process works
// on, at most that many, and gives their owners. What a process that is not dead after all
// has read of them it cannot write from then on.
func (s *Tasks) Orphans(ctx context.Context, most int) (map[a2a.TaskID]string, error) {
	owners, err := s.orphans(ctx, most)
	if err != nil {
		err = fmt.Errorf("find orphans: %w", err)
	}
	return owners, err
}

func (s *Tasks) orphans(ctx context.Context, most int) (map[a2a.TaskID]string, error) {
	me, err := s.db.alive(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.db.bury(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.query(ctx, `SELECT id, owner, version FROM {p}tasks
		WHERE state IN ('TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED', '') AND `+dead+`
		ORDER BY state, updated_at LIMIT ?`, most)
	found, err := all(rows, err, scanTaken)
	owners := map[a2a.TaskID]string{}
	for _, t := range found {
		mine, err := s.db.take(ctx, t, me)
		if err != nil {
			return owners, err // what was taken is the caller's
		}
		if mine {
			owners[t.id] = t.owner
		}
	}
	return owners, err
}
