package sqlstore_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/executor/sqlstore"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// databases are the two kinds of databases.
var databases = []struct {
	name  string
	empty func(*testing.T) (dsn string)
}{{"SQLite", sqliteDSN}, {"PostgreSQL", postgresDSN}}

func sqliteDSN(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "test.db")
}

// postgresDSN makes an empty schema.
func postgresDSN(t *testing.T) string {
	t.Helper()
	base := os.Getenv("A2AEXEC_POSTGRES")
	if base == "" {
		if os.Getenv("A2AEXEC_POSTGRES_REQUIRED") != "" {
			t.Fatal("A2AEXEC_POSTGRES is not set")
		}
		t.Skip("no PostgreSQL: run with .ci/postgres, or set A2AEXEC_POSTGRES to the URL of one")
	}
	schema := "t" + strings.ToLower(rand.Text())
	admin(t, base, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { admin(t, base, "DROP SCHEMA "+schema+" CASCADE") })
	return base + "&search_path=" + schema
}

func admin(t *testing.T, dsn, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

// open opens a database for the length of a test.
func open(t *testing.T, dsn string, opts ...sqlstore.Option) *sqlstore.DB {
	t.Helper()
	db, err := sqlstore.Open(t.Context(), dsn, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// asMe gives the context of a call by the user "me".
func asMe(ctx context.Context) context.Context {
	ctx, call := a2asrv.NewCallContext(ctx, nil)
	call.User = a2asrv.NewAuthenticatedUser("me", nil)
	return ctx
}

func updateOf(task *a2a.Task) *taskstore.UpdateRequest {
	return &taskstore.UpdateRequest{Task: task, Event: task}
}
