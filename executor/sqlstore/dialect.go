package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// dialect is what differs between the databases.
type dialect struct {
	words    *strings.Replacer // of statements
	lock     string            // locks a name until the transaction ends; "" where each has the database to itself
	numbered bool              // placeholders are $1, $2 …
}

var (
	sqliteDialect = dialect{}
	pgDialect     = dialect{
		lock:     `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
		numbered: true,
	}
)

func (d dialect) named(prefix string) dialect {
	words := []string{
		"{p}", prefix, "{text}", "TEXT", "{int}", "INTEGER", "{blob}", "BLOB",
		"{now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)", "{skip locked}", "",
		"{task of run}", "substr(run, 1, instr(run, '/') - 1)",
		"{by list}", "INDEXED BY " + prefix + "tasks_list",
		"{by time}", "INDEXED BY " + prefix + "tasks_time",
		"{by state}", "INDEXED BY " + prefix + "tasks_state",
		"{by context}", "INDEXED BY " + prefix + "tasks_context",
		"{by ended}", "INDEXED BY " + prefix + "tasks_ended",
	}
	if d.numbered {
		words = []string{
			"{p}", prefix, "{text}", `TEXT COLLATE "C"`, "{int}", "BIGINT", "{blob}", "BYTEA",
			"{now}", "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", "{skip locked}", "FOR UPDATE SKIP LOCKED",
			"{task of run}", "split_part(run, '/', 1)",
			"{by list}", "", "{by time}", "", "{by state}", "", "{by context}", "", "{by ended}", "", // it knows by itself
		}
	}
	d.words = strings.NewReplacer(words...)
	return d
}

// text gives a statement in the database's own language.
func (d *DB) text(statement string) string {
	if s, ok := d.texts.Load(statement); ok {
		return s.(string) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	s := d.dialect.words.Replace(statement)
	if d.dialect.numbered {
		s = number(s)
	}
	d.texts.Store(statement, s)
	return s
}

// number replaces each ? by $1, $2 …
func number(statement string) string {
	var b strings.Builder
	n := 0
	for _, r := range statement {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// openPostgres opens one pool for all, and one of a single connection for the
// heartbeat, which must not wait for a free one.
func openPostgres(dsn string, conns int) (pool, pulse *sql.DB, err error) {
	if pool, err = sql.Open("pgx", dsn); err != nil {
		return nil, nil, err
	}
	if pulse, err = sql.Open("pgx", dsn); err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pulse.SetMaxOpenConns(1)
	return pool, pulse, nil
}

// openSQLite opens a pool of one connection for writing and one for reading.
func openSQLite(ctx context.Context, dsn string, conns int) (write, read *sql.DB, err error) {
	name, err := sqliteName(dsn)
	if err != nil {
		return nil, nil, err
	}
	write, err = sql.Open("sqlite", name+"&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil { // makes the file, which reading does not
		return nil, nil, errors.Join(err, write.Close())
	}
	read, err = sql.Open("sqlite", name+"&_pragma=query_only(1)")
	if err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(conns)
	read.SetMaxIdleConns(conns)
	return write, read, nil
}

// sqliteName makes the driver's name of a file. Of a commit nothing is lost
// even when the machine loses its power.
func sqliteName(dsn string) (string, error) {
	name, query, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	if !strings.HasPrefix(dsn, "file:") {
		name, query = dsn, ""
	}
	given, err := url.ParseQuery(query)
	switch {
	case err != nil:
		return "", fmt.Errorf("query of the file's name: %w", err)
	case name == "" || strings.HasPrefix(name, ":memory:") || given.Get("mode") == "memory":
		return "", errors.New("expected the name of a file: a database in memory does not outlive the process")
	}
	pragmas := url.Values{"_pragma": given["_pragma"]}
	for name, value := range map[string]string{"busy_timeout": "5000", "synchronous": "FULL"} {
		if !strings.Contains(strings.ToLower(strings.Join(given["_pragma"], " ")), name) {
			pragmas.Add("_pragma", name+"("+value+")")
		}
	}
	return "file:" + (&url.URL{Path: name}).EscapedPath() + "?" + pragmas.Encode(), nil
}
