package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

func mustConfig(t *testing.T, opts ...Option) config {
	t.Helper()
	c, err := newConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProcessesThatStartAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				db, err := Open(t.Context(), dsn)
				if err != nil {
					t.Error(err)
					return
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestMigrationsGoForward(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := mustConfig(t)
		steps := append(slices.Clip(migrations), []string{`ALTER TABLE {p}tasks ADD COLUMN note {text}`})
		for i, s := range [][][]string{migrations, steps, steps} {
			db, err := open(t.Context(), dsn, c, s)
			if err != nil {
				t.Fatalf("opening number %d: %v", i, err)
			}
			if i > 0 {
				if _, err := db.do(t.Context(), `UPDATE {p}tasks SET note = 'x'`); err != nil {
					t.Errorf("opening number %d: %v", i, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := open(t.Context(), dsn, c, migrations); !errors.Is(err, ErrNewerSchema) {
			t.Errorf("an older program got %v, want ErrNewerSchema", err)
		}
	})
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := mustConfig(t)
		bad := append(slices.Clip(migrations), []string{`ALTER TABLE {p}tasks ADD COLUMN note {text}`, `nonsense`})
		if _, err := open(t.Context(), dsn, c, bad); err == nil {
			t.Fatal("no error")
		}
		db, err := open(t.Context(), dsn, c, migrations)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if _, err := db.do(t.Context(), `UPDATE {p}tasks SET note = 'x'`); err == nil {
			t.Error("half of the migration is there")
		}
	})
}

func TestPrefixesAreApart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		ctx := owned(t.Context())
		one, err1 := Open(t.Context(), dsn, Prefix("one_"))
		two, err2 := Open(t.Context(), dsn, Prefix("two_"))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = one.Close(), two.Close() }()
		if _, err := one.Tasks().Create(ctx, &a2a.Task{ID: "t"}); err != nil {
			t.Fatal(err)
		}
		if _, err := two.Tasks().Get(ctx, "t"); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("got %v, want ErrTaskNotFound", err)
		}
	})
}

func TestBadOptionsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"),
		Prefix("Bad Prefix"), Lease(time.Millisecond), MaxBytes(-1), Conns(0), Keep(0), Keep(time.Hour, a2a.TaskStateWorking),
		KeepNumber(0), KeepFlows(-1), PurgeEvery(-1), Authenticator(nil), Option{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"Prefix", "Lease", "MaxBytes", "Conns", "Keep", "TASK_STATE_WORKING", "KeepNumber", "KeepFlows", "PurgeEvery", "Authenticator"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, []byte(strings.Repeat("this is no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, dsn, want string }{
		{"a file that is something else", junk, "not a database"},
		{"a directory", dir, "unable to open"},
		{"a directory that does not exist", filepath.Join(dir, "no", "x.db"), "unable to open"},
		{"no name", "", "expected the name of a file"},
		{"memory", ":memory:", "expected the name of a file"},
		{"memory as a URI", "file:x?mode=memory", "expected the name of a file"},
		{"nobody listens", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=5", "refused"},
		{"a bad URL", "postgres://u:secret@127.0.0.1:port/x", "cannot parse"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), tc.dsn)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("got %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestFileNamesMayBeOdd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "50%.db", "ü?x=1.db", "#1.db"} {
		path := filepath.Join(t.TempDir(), name)
		db, err := Open(t.Context(), path)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func owned(ctx context.Context) context.Context { return call(ctx, "me") }

// Tasks that were parked before parked_at was kept have been since they were
// last updated.
func TestMigrationKeepsWhenTasksWereParked(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		c := mustConfig(t)
		old, err := open(t.Context(), dsn, c, migrations[:1])
		if err != nil {
			t.Fatal(err)
		}
		for state, age := range map[a2a.TaskState]time.Duration{
			a2a.TaskStateInputRequired: 2 * time.Hour, a2a.TaskStateAuthRequired: time.Minute, a2a.TaskStateCompleted: 2 * time.Hour,
		} {
			_, err := old.do(t.Context(), `INSERT INTO {p}tasks (id, owner, context_id, state, status_at, updated_at, version, worker, body)
				VALUES (?, 'me', 'c', ?, 0, ?, 1, '', '{}')`, string(state), string(state), time.Now().Add(-age).UnixNano())
			if err != nil {
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
		found, err := db.Tasks().Overdue(t.Context(), time.Hour, 10)
		if err != nil || len(found) != 1 || found[0].Task != a2a.TaskID(a2a.TaskStateInputRequired) {
			t.Errorf("got the overdue tasks %v, %v", found, err)
		}
	})
}
