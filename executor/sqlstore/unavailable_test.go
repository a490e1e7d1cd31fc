package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// outages are ways in which a database is out of reach: begin opens one, and
// gives what makes it so and what mends it.
var outages = []struct {
	name  string
	reads bool // it cannot be read either
	begin func(*testing.T) (db *sqlstore.DB, away, mend func())
}{
	{"SQLite is locked", false, func(t *testing.T) (*sqlstore.DB, func(), func()) {
		t.Helper()
		file := dbtest.SQLite(t)
		db := open(t, "file:"+file+"?_pragma=busy_timeout(20)")
		other, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Close() })
		var lock *sql.Tx
		return db, func() {
				if lock, err = other.BeginTx(context.WithoutCancel(t.Context()), nil); err != nil {
					t.Fatal(err)
				}
			}, func() {
				if err := lock.Rollback(); err != nil {
					t.Fatal(err)
				}
			}
	}},
	{"PostgreSQL is gone", true, func(t *testing.T) (*sqlstore.DB, func(), func()) {
		t.Helper()
		w, dsn := wired(t, dbtest.PostgreSQL(t))
		return open(t, dsn, sqlstore.Lease(300*time.Millisecond)), func() { w.set(true) }, func() { w.set(false) }
	}},
}

// Clients and flows were told of an internal error, not to be tried again, while
// the database was out of reach.
func TestEveryStoreTellsOfAnOutage(t *testing.T) {
	t.Parallel()
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			db, away, mend := o.begin(t)
			ctx := asMe(t.Context())
			task := &a2a.Task{ID: "task", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}
			if _, err := db.Tasks().Create(ctx, task); err != nil {
				t.Fatal(err)
			}
			calls := map[string]func() error{
				"create": func() error {
					_, err := db.Tasks().Create(ctx, &a2a.Task{ID: "other", Status: task.Status})
					return err
				},
				"update": func() error {
					_, err := db.Tasks().Update(ctx, &taskstore.UpdateRequest{Task: task, Event: task, PrevVersion: 1})
					return err
				},
				"update any version": func() error {
					_, err := db.Tasks().Update(ctx, updateOf(task))
					return err
				},
				"acquire": func() error { _, err := db.Tasks().Acquire(ctx, "task"); return err },
				"release": func() error { return db.Tasks().Release(ctx, "task") },
				"save a config": func() error {
					_, err := db.PushConfigs().Save(ctx, "task", &a2a.PushConfig{URL: "https://example.com"})
					return err
				},
				"delete a config":     func() error { return db.PushConfigs().Delete(ctx, "task", "x") },
				"delete all configs":  func() error { return db.PushConfigs().DeleteAll(ctx, "task") },
				"save a checkpoint":   func() error { return db.Flows().Save(ctx, flow.Checkpoint{Run: "r", Seq: 1}) },
				"delete a checkpoint": func() error { return db.Flows().Delete(ctx, "r") },
			}
			if o.reads {
				calls["get"] = func() error { _, err := db.Tasks().Get(ctx, "task"); return err }
				calls["list"] = func() error { _, err := db.Tasks().List(ctx, &a2a.ListTasksRequest{}); return err }
				calls["get a config"] = func() error { _, err := db.PushConfigs().Get(ctx, "task", "x"); return err }
				calls["list configs"] = func() error { _, err := db.PushConfigs().List(ctx, "task"); return err }
				calls["load a checkpoint"] = func() error { _, err := db.Flows().Load(ctx, "r"); return err }
			}
			away()
			for what, f := range calls {
				err := f()
				for _, err := range []error{err, &flow.StoreError{Op: "save", Err: err}} {
					e := errcode.Default().Convert(err)
					if _, buildErr := (errcode.Builder{Domain: "loans"}).Data(e); buildErr != nil {
						t.Errorf("%s: no client can be told: %v", what, buildErr)
					}
					if err == nil || e.Code() != errcode.UpstreamUnavailable || !e.Retriable() || e.Reason() != "database_unavailable" {
						t.Errorf("%s: got %v, which is %s, %s", what, err, e.Code(), e.Reason())
					}
				}
			}
			mend()
			if st, err := db.Tasks().Get(ctx, "task"); err != nil || st.Version != 1 {
				t.Errorf("afterwards: got %+v, %v", st, err)
			}
		})
	}
}

// A parked task whose cancel could not be stored ended as failed, without a word:
// of the host's making. It is parked still, or canceled.
func TestCancelDuringAnOutage(t *testing.T) {
	t.Parallel()
	file := dbtest.SQLite(t)
	l := newLoan()
	l.asks = true
	close(l.gate)
	p := start(t, "file:"+file+"?_pragma=busy_timeout(20)", l.agent)
	other, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	task, err := p.send(t, said("begin"))
	if err != nil || task.Status.State != a2a.TaskStateInputRequired {
		t.Fatal(task, err)
	}
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.CancelTask(asMe(t.Context()), &a2a.CancelTaskRequest{ID: task.ID}); !errors.Is(err, a2a.ErrInternalError) || errcode.FromClient(err).Code() != errcode.UpstreamUnavailable {
		t.Errorf("the cancel got %v, want UPSTREAM_UNAVAILABLE", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	now := p.task(t, task.ID)
	if now.Status.State != a2a.TaskStateInputRequired {
		t.Errorf("the task is %s, %q", now.Status.State, textOf(now.Status.Message))
	}
	done, err := p.send(t, answer(now, "Ada"))
	for errors.Is(err, a2a.ErrUnsupportedOperation) { // the lease is given back with the next heartbeat
		time.Sleep(5 * time.Millisecond)
		done, err = p.send(t, answer(now, "Ada"))
	}
	if err != nil || done.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the answer got %v, %v", done, err)
	}
}

// A connection that breaks while an answer is read is an outage, too.
func TestAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	w, dsn := wired(t, dbtest.PostgreSQL(t))
	db, ctx := open(t, dsn), asMe(t.Context())
	task := &a2a.Task{ID: "task", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}
	if _, err := db.Tasks().Create(ctx, task); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]func() error{
		"get":          func() error { _, err := db.Tasks().Get(ctx, "task"); return err },
		"list":         func() error { _, err := db.Tasks().List(ctx, &a2a.ListTasksRequest{}); return err },
		"list configs": func() error { _, err := db.PushConfigs().List(ctx, "task"); return err },
		"update":       func() error { _, err := db.Tasks().Update(ctx, updateOf(task)); return err },
		"load":         func() error { _, err := db.Flows().Load(ctx, "r"); return err },
		"acquire":      func() error { _, err := db.Tasks().Acquire(ctx, "task"); return err },
	} {
		for i := range 3 { // of one of the statements
			w.loseAnswer()
			err := f()
			if err == nil || errors.Is(err, flow.ErrUnknownRun) {
				continue
			}
			if e := errcode.Default().Convert(err); e.Code() != errcode.UpstreamUnavailable || !e.Retriable() {
				t.Errorf("%s, %d: got %v, which is %s, %s", what, i, err, e.Code(), e.Reason())
			}
		}
	}
}
