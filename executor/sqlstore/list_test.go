package sqlstore

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// plan tells how a database answers a statement, tables of any size taken for
// large ones.
func (d *DB) plan(t *testing.T, statement string, args ...any) string {
	t.Helper()
	var lines []string
	err := d.inTx(t.Context(), func(tx *sql.Tx) error {
		explain := "EXPLAIN QUERY PLAN "
		if d.dialect.numbered {
			explain = "EXPLAIN "
			for _, way := range []string{"seqscan", "bitmapscan", "sort"} {
				if _, err := tx.ExecContext(t.Context(), "SET LOCAL enable_"+way+" = off"); err != nil {
					return err
				}
			}
		}
		rows, err := tx.QueryContext(t.Context(), explain+d.text(statement), args...) //nolint:rowserrcheck,sqlclosecheck // by all
		lines, err = all(rows, err, func(r *sql.Rows) (line string, err error) {
			if d.dialect.numbered {
				return line, r.Scan(&line)
			}
			var n any
			return line, r.Scan(&n, &n, &n, &line)
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// ranked expects that an index leads to the rows of a statement, in their order.
func ranked(t *testing.T, d *DB, index, statement string, args ...any) {
	t.Helper()
	plan := d.plan(t, statement, args...)
	for line := range strings.Lines(plan) {
		whole := strings.Contains(line, "SCAN") && !strings.Contains(line, "USING") || strings.Contains(line, "Seq Scan")
		if whole || strings.Contains(line, "TEMP B-TREE") || strings.Contains(line, "Sort") {
			t.Errorf("%s: not by an index:\n%s", statement, plan)
		}
	}
	if !strings.Contains(plan, d.prefix+index) {
		t.Errorf("%s: not by %s:\n%s", statement, index, plan)
	}
}

// TestListsAreByIndex: a page is read, whatever the filter, and not searched and
// sorted.
func TestListsAreByIndex(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, _ := openAt(t, dsn)
		at := time.Now()
		for _, c := range []struct {
			index string
			req   a2a.ListTasksRequest
		}{
			{"tasks_list", a2a.ListTasksRequest{}},
			{"tasks_list", a2a.ListTasksRequest{StatusTimestampAfter: &at}},
			{"tasks_context", a2a.ListTasksRequest{ContextID: "c"}},
			{"tasks_context", a2a.ListTasksRequest{ContextID: "c", StatusTimestampAfter: &at}},
			{"tasks_state", a2a.ListTasksRequest{Status: a2a.TaskStateFailed}},
			{"tasks_state", a2a.ListTasksRequest{Status: a2a.TaskStateFailed, StatusTimestampAfter: &at}},
			{"tasks_context", a2a.ListTasksRequest{ContextID: "c", Status: a2a.TaskStateFailed, StatusTimestampAfter: &at}},
		} {
			f := filterOf("me", &c.req)
			f.where(afterCursor, int64(1), "id")
			if db.dialect.numbered {
				c.index = "tasks_" // which one, it knows by what is in the tables
			}
			ranked(t, db, c.index, pageOf(f), append(f.args, 50)...)
		}
	})
}

// A list was in the order of the last writes (A2A 1.0.1 section 3.1.4 has that of
// the statuses), in a database of that time too.
func TestMigrationOrdersListsByStatus(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := mustConfig(t)
		old, err := open(t.Context(), dsn, c, migrations[:2])
		if err != nil {
			t.Fatal(err)
		}
		base := time.Now()
		for i, id := range []string{"middle", "last", "first"} {
			at := base.Add([]time.Duration{0, -time.Hour, time.Hour}[i]) // written in another order
			task := &a2a.Task{ID: a2a.TaskID(id), Status: a2a.TaskStatus{State: a2a.TaskStateCompleted, Timestamp: &at}}
			if _, err := old.Tasks().Create(owned(t.Context()), task); err != nil {
				t.Fatal(err)
			}
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := open(t.Context(), dsn, c, migrations)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		checkList(t, db, "first", "middle", "last")
		st, err := db.Tasks().Get(owned(t.Context()), "last")
		if err != nil {
			t.Fatal(err)
		}
		st.Task.Artifacts = []*a2a.Artifact{{ID: "a"}} // a chunk, and no other status
		if _, err := db.Tasks().Update(owned(t.Context()), &taskstore.UpdateRequest{Task: st.Task, Event: st.Task}); err != nil {
			t.Fatal(err)
		}
		checkList(t, db, "first", "middle", "last")
	})
}

func checkList(t *testing.T, db *DB, want ...a2a.TaskID) {
	t.Helper()
	res, err := db.Tasks().List(owned(t.Context()), &a2a.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []a2a.TaskID
	for _, task := range res.Tasks {
		got = append(got, task.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
