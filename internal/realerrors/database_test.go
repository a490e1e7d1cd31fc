package realerrors_test

import (
	"context"
	"database/sql"
	"net"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lib/pq"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/a2aexec/a2aexec/errcode"
)

// postgres starts a server that answers every connection with one error.
func postgres(t *testing.T, state string) string {
	t.Helper()
	return "postgres://u:p@" + listening(t, func(c net.Conn) {
		backend := pgproto3.NewBackend(c, c)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: state, Message: "m"})
		_ = backend.Flush()
	}) + "/db?sslmode=disable"
}

func postgresErrors(t *testing.T) []sample {
	t.Helper()
	connect := func(ctx context.Context, url string) error {
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			_ = c.Close(ctx)
		}
		return err
	}
	samples := []sample{
		{"no rows", pgx.ErrNoRows, want{code: errcode.NotFound, reason: "no_rows"}},
		{"refused", connect(t.Context(), "postgres://"+refusing(t)+"/db?sslmode=disable"), want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		{"deadline", connect(soon(t), "postgres://"+listening(t, func(c net.Conn) { readSome(c); readSome(c) })+"/db?sslmode=disable"), want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
		{"starting up", connect(t.Context(), postgres(t, "57P03")), want{code: errcode.UpstreamUnavailable, reason: "pg_error"}},
		{"wrong password", connect(t.Context(), postgres(t, "28P01")), want{code: errcode.AuthRequired, reason: "pg_error"}},
		{"too many connections", connect(t.Context(), postgres(t, "53300")), want{code: errcode.UpstreamUnavailable, reason: "pg_error"}},
		{"configuration", connect(t.Context(), "postgres://h:port/db"), want{code: errcode.Internal, reason: "parse_config_error"}},
		{"pq serialization", &pq.Error{Code: "40001"}, want{code: errcode.UpstreamUnavailable, reason: "pq_error"}},
		{"pq unique", &pq.Error{Code: "23505"}, want{code: errcode.Internal, reason: "pq_error"}},
		{"closed", pgconn.ErrConnClosed, want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
	}
	for state, code := range map[string]errcode.Code{
		"08006": errcode.UpstreamUnavailable, "57P01": errcode.UpstreamUnavailable, "40001": errcode.UpstreamUnavailable,
		"40P01": errcode.UpstreamUnavailable, "57014": errcode.UpstreamTimeout, "28000": errcode.AuthRequired,
		"23505": errcode.Internal, "42P01": errcode.Internal,
	} {
		samples = append(samples, sample{state, &pgconn.PgError{Severity: "ERROR", Code: state, Message: "m"}, want{code: code, reason: "pg_error"}})
	}
	return samples
}

func mysqlErrors(*testing.T) []sample {
	return []sample{
		{"deadlock", &mysql.MySQLError{Number: 1213, SQLState: [5]byte([]byte("40001")), Message: "m"}, want{code: errcode.UpstreamUnavailable, reason: "my_sql_error"}},
		{"access denied", &mysql.MySQLError{Number: 1045, SQLState: [5]byte([]byte("28000")), Message: "m"}, want{code: errcode.AuthRequired, reason: "my_sql_error"}},
		{"syntax", &mysql.MySQLError{Number: 1064, SQLState: [5]byte([]byte("42000")), Message: "m"}, want{code: errcode.Internal, reason: "my_sql_error"}},
		{"invalid connection", mysql.ErrInvalidConn, want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
	}
}

func sqlErrors(t *testing.T) []sample {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ctx := t.Context()
	if _, err := db.ExecContext(ctx, "create table t (id integer primary key)"); err != nil {
		t.Fatal(err)
	}
	var id int
	noRows := db.QueryRowContext(ctx, "select id from t").Scan(&id)
	_, syntax := db.ExecContext(ctx, "selec nothing")
	_, _ = db.ExecContext(ctx, "insert into t values (1)")
	_, unique := db.ExecContext(ctx, "insert into t values (1)")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback()
	_, late := db.QueryContext(soon(t), "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c")
	return []sample{
		{"no rows", noRows, want{code: errcode.NotFound, reason: "no_rows"}},
		{"syntax", syntax, want{code: errcode.Internal, reason: "sqlite_error"}},
		{"unique", unique, want{code: errcode.Internal, reason: "sqlite_error"}},
		{"connection is done", conn.PingContext(ctx), want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
		{"transaction is done", tx.Commit(), want{code: errcode.Internal, reason: "internal_error"}},
		{"deadline", late, want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
	}
}
