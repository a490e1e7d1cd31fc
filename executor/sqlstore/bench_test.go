package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// seed stores n small tasks of one user, quickly: one in each of the states
// after the other, in n/10 contexts, with a second between two.
func (d *DB) seed(ctx context.Context, n int, contexts int) error {
	states := []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected}
	begin := d.now().Add(-time.Duration(n) * time.Second)
	return d.inTx(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, d.text(`INSERT INTO {p}tasks
			(id, owner, context_id, state, status_at, updated_at, version, worker, body) VALUES (?, 'me', ?, ?, ?, ?, 1, '', ?)`))
		if err != nil {
			return err
		}
		for i := range n {
			at := begin.Add(time.Duration(i) * time.Second)
			t := &a2a.Task{ID: a2a.NewTaskID(), ContextID: fmt.Sprint("context-", i%contexts), Status: a2a.TaskStatus{State: states[i%len(states)], Timestamp: &at}}
			t.History = []*a2a.Message{a2a.NewMessageForTask(a2a.MessageRoleUser, t, a2a.NewTextPart("hello"))}
			t.Artifacts = []*a2a.Artifact{{ID: a2a.NewArtifactID(), Parts: a2a.ContentParts{a2a.NewTextPart(strings.Repeat("done ", 40))}}}
			r, err := d.rowOf(t)
			if err != nil {
				return err
			}
			if _, err := insert.ExecContext(ctx, string(t.ID), t.ContextID, r.state, r.statusAt, nanos(at), r.body); err != nil {
				return err
			}
		}
		return insert.Close()
	})
}

func benchDBs(b *testing.B, f func(b *testing.B, db *DB)) {
	b.Helper()
	run := func(b *testing.B, dsn string) {
		b.Helper()
		db, err := Open(b.Context(), dsn)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		f(b, db)
	}
	b.Run("db=sqlite", func(b *testing.B) { run(b, dbtest.SQLite(b)) })
	b.Run("db=postgres", func(b *testing.B) { run(b, dbtest.PostgreSQL(b)) })
}

// BenchmarkList lists a page by each filter.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint("tasks=", n), func(b *testing.B) { benchList(b, n) })
	}
}

func benchList(b *testing.B, n int) {
	b.Helper()
	benchDBs(b, func(b *testing.B, db *DB) {
		b.Helper()
		if err := db.seed(b.Context(), n, n/100); err != nil {
			b.Fatal(err)
		}
		if db.dialect.numbered {
			if _, err := db.do(b.Context(), `VACUUM ANALYZE {p}tasks`); err != nil {
				b.Fatal(err)
			}
		}
		recent := time.Now().Add(-100 * time.Second)
		for _, f := range []struct {
			name string
			req  a2a.ListTasksRequest
		}{
			{"none", a2a.ListTasksRequest{}},
			{"context", a2a.ListTasksRequest{ContextID: "context-7"}},
			{"state", a2a.ListTasksRequest{Status: a2a.TaskStateFailed}},
			{"context+state", a2a.ListTasksRequest{ContextID: "context-7", Status: a2a.TaskStateRejected}},
			{"recent", a2a.ListTasksRequest{StatusTimestampAfter: &recent}},
		} {
			b.Run("filter="+f.name, func(b *testing.B) {
				ctx := call(b.Context(), "me")
				for b.Loop() {
					if _, err := db.Tasks().List(ctx, &f.req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
