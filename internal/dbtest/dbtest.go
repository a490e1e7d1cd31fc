// Package dbtest gives tests empty databases of the kinds that package
// executor/sqlstore knows. The drivers are those that the test is linked with.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each runs a test with an empty database of each kind, all at once.
func Each(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, PostgreSQL(t))
	})
}

// SQLite names a file that does not exist yet, and is removed with the test.
func SQLite(tb testing.TB) (dsn string) {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "test.db")
}

// PostgreSQL makes an empty schema, which is dropped with the test, on the server
// that A2AEXEC_POSTGRES names. Without one the test is skipped, or fails if
// A2AEXEC_POSTGRES_REQUIRED is set.
func PostgreSQL(tb testing.TB) (dsn string) {
	tb.Helper()
	server := os.Getenv("A2AEXEC_POSTGRES")
	if server == "" {
		if os.Getenv("A2AEXEC_POSTGRES_REQUIRED") != "" {
			tb.Fatal("A2AEXEC_POSTGRES is not set")
		}
		tb.Skip("no PostgreSQL: run with .ci/postgres, or set A2AEXEC_POSTGRES to the URL of one")
	}
	schema := "t" + strings.ToLower(rand.Text())
	do(tb, server, "CREATE SCHEMA "+schema)
	tb.Cleanup(func() { do(tb, server, "DROP SCHEMA "+schema+" CASCADE") })
	return server + "&search_path=" + schema
}

func do(tb testing.TB, server, statement string) {
	tb.Helper()
	db, err := sql.Open("pgx", server)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.WithoutCancel(tb.Context()), statement); err != nil {
		tb.Fatal(err)
	}
}
