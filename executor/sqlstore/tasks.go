package sqlstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/executor"
)

// Tasks is an executor.LeaseStore. Get it from [DB.Tasks].
type Tasks struct{ db *DB }

var _ executor.LeaseStore = (*Tasks)(nil)

// row is a task's columns.
type row struct {
	state    string
	statusAt int64
	body     string
}

// noTime stands for the time of a status that has none: it is after any other,
// for a filter by time, which is a range of the order of lists, lets such tasks pass.
const noTime = math.MaxInt64

func (d *DB) rowOf(t *a2a.Task) (row, error) {
	if err := checkID("task id", string(t.ID)); err != nil {
		return row{}, err
	}
	if err := checkID("context id", t.ContextID); err != nil {
		return row{}, err
	}
	body, err := encodeTask(t)
	if err != nil {
		return row{}, err
	}
	r := row{state: string(t.Status.State), statusAt: noTime, body: body}
	if at := t.Status.Timestamp; at != nil {
		r.statusAt = nanos(*at)
	}
	return r, d.checkSize("task", len(body))
}

// owner gives the user whose tasks a call is about.
func (d *DB) owner(ctx context.Context) (string, error) {
	user, err := d.authenticate(ctx)
	if err != nil {
		return "", fmt.Errorf("authenticate: %w", err)
	}
	return user, checkID("user name", user)
}

// Create implements taskstore.Store. A task that is at work is leased to this
// process. Besides the interface's errors there is one that wraps [ErrTooLarge],
// and one that wraps a2a.ErrInvalidParams for an id or a user name of more than
// 1024 bytes or with a zero byte.
func (s *Tasks) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	if t == nil {
		return taskstore.TaskVersionMissing, fmt.Errorf("create task: expected a task, got nil: %w", a2a.ErrInvalidParams)
	}
	if err := s.create(ctx, t); err != nil {
		return taskstore.TaskVersionMissing, fmt.Errorf("create task: %w", err)
	}
	return 1, nil
}

func (s *Tasks) create(ctx context.Context, t *a2a.Task) error {
	owner, err := s.db.owner(ctx)
	if err != nil {
		return err
	}
	r, err := s.db.rowOf(t)
	if err != nil {
		return err
	}
	worker := ""
	if !t.Status.State.Terminal() && !parked(t.Status.State) {
		if worker, err = s.db.alive(ctx); err != nil {
			return err
		}
	}
	request, _ := executor.RequestToKeep(ctx)
	if err := s.db.checkSize("request", len(request)); err != nil {
		return err
	}
	n, again, err := s.db.exec(ctx, `INSERT INTO {p}tasks
		(id, owner, context_id, state, status_at, updated_at, version, worker, body, request, parked_at)
		VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, {now} * ?) ON CONFLICT (id) DO NOTHING`,
		string(t.ID), owner, t.ContextID, r.state, r.statusAt, nanos(s.db.now()), worker, r.body, request, flag(parked(t.Status.State)))
	switch {
	case err != nil || n > 0:
		return err
	case again:
		if mine, err := s.has(ctx, t.ID, owner, 1, r.body); err != nil || mine {
			return err
		}
	}
	return taskstore.ErrTaskAlreadyExists
}

// has reports whether what is stored is just that: a try before, of which
// nothing was heard, has stored it.
func (s *Tasks) has(ctx context.Context, id a2a.TaskID, owner string, v taskstore.TaskVersion, body string) (bool, error) {
	rows, err := s.db.query(ctx, `SELECT 1 FROM {p}tasks WHERE id = ? AND owner = ? AND version = ? AND body = ?`,
		string(id), owner, int64(v), body)
	var n int
	return one(rows, err, &n)
}

// Update implements taskstore.Store. A task that has ended or is parked is no
// longer leased.
func (s *Tasks) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	if req == nil || req.Task == nil {
		return taskstore.TaskVersionMissing, fmt.Errorf("update task: expected a task, got nil: %w", a2a.ErrInvalidParams)
	}
	v, err := s.update(ctx, req)
	if err != nil {
		return taskstore.TaskVersionMissing, fmt.Errorf("update task: %w", err)
	}
	return v, nil
}

func (s *Tasks) update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	owner, err := s.db.owner(ctx)
	if err != nil {
		return 0, err
	}
	t := req.Task
	if unstorable(string(t.ID)) {
		return 0, a2a.ErrTaskNotFound
	}
	r, err := s.db.rowOf(t)
	if err != nil {
		return 0, err
	}
	rests := restsAfter(req)
	request, given := executor.RequestToKeep(ctx)
	if rests {
		request, given = "", true
	}
	if err := s.db.checkSize("request", len(request)); err != nil {
		return 0, err
	}
	args := []any{
		t.ContextID, r.state, r.statusAt, nanos(s.db.now()), r.body, flag(rests), flag(given), request,
		flag(parked(t.Status.State)) * (1 + flag(!rests)), string(t.ID), owner,
	}
	if req.PrevVersion == taskstore.TaskVersionMissing {
		return s.overwrite(ctx, args)
	}
	next := req.PrevVersion + 1
	n, again, err := s.db.exec(ctx, updateTask+` AND version = ?`, append(args, int64(req.PrevVersion))...)
	if err != nil || n > 0 {
		return next, err
	}
	if again {
		if mine, err := s.has(ctx, t.ID, owner, next, r.body); err != nil || mine {
			return next, err
		}
	}
	if exists, err := s.exists(ctx, t.ID, owner); err != nil || !exists {
		return 0, orNotFound(err)
	}
	return 0, taskstore.ErrConcurrentModification
}

// updateTask updates a task. Whether the lease ends, whether the request is
// another, and whether the task is parked (1), or was and has got a message (2), are flags.
const updateTask = `UPDATE {p}tasks SET context_id = ?, state = ?, status_at = ?,
	updated_at = ?, body = ?, version = version + 1,
	worker = CASE WHEN CAST(? AS INTEGER) = 1 THEN '' ELSE worker END,
	request = CASE WHEN CAST(? AS INTEGER) = 1 THEN ? ELSE request END,
	parked_at = CASE CAST(? AS INTEGER) WHEN 1 THEN {now} WHEN 2 THEN parked_at ELSE 0 END
	WHERE id = ? AND owner = ?`

// overwrite updates whichever version there is.
func (s *Tasks) overwrite(ctx context.Context, args []any) (v taskstore.TaskVersion, err error) {
	rows, err := s.db.change(ctx, updateTask+` RETURNING version`, args...)
	found, err := one(rows, err, &v)
	if err == nil && !found {
		err = a2a.ErrTaskNotFound
	}
	return v, err
}

// restsAfter reports whether nothing works on the task once it is updated. A
// message to a parked task is about to begin a run.
func restsAfter(req *taskstore.UpdateRequest) bool {
	_, isMessage := req.Event.(*a2a.Message)
	s := req.Task.Status.State
	return s.Terminal() || parked(s) && !isMessage
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func orNotFound(err error) error {
	if err == nil {
		return a2a.ErrTaskNotFound
	}
	return err
}

func (s *Tasks) exists(ctx context.Context, id a2a.TaskID, owner string) (bool, error) {
	rows, err := s.db.query(ctx, `SELECT 1 FROM {p}tasks WHERE id = ? AND owner = ?`, string(id), owner)
	var n int
	return one(rows, err, &n)
}

// Get implements taskstore.Store.
func (s *Tasks) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := s.get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("get task: %w", err)
	}
	return st, nil
}

func (s *Tasks) get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	owner, err := s.db.owner(ctx)
	if err != nil {
		return nil, err
	}
	if unstorable(string(id)) {
		return nil, a2a.ErrTaskNotFound
	}
	var body string
	st := &taskstore.StoredTask{User: owner}
	rows, err := s.db.query(ctx, `SELECT version, body FROM {p}tasks WHERE id = ? AND owner = ?`, string(id), owner)
	found, err := one(rows, err, &st.Version, &body)
	if err != nil || !found {
		return nil, orNotFound(err)
	}
	st.Task, err = s.task(body)
	return st, err
}

func (s *Tasks) task(body string) (*a2a.Task, error) {
	t, err := decodeTask(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t, nil
}

// The times that are told apart: those whose nanoseconds since 1970 an int64 holds.
var (
	firstTime = time.Unix(0, math.MinInt64)
	lastTime  = time.Unix(0, noTime-1)
)

// nanos is a time as it is stored.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(firstTime):
		return math.MinInt64
	case t.After(lastTime):
		return noTime - 1
	}
	return t.UnixNano()
}
