package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// DB is an open database. Make one with [Open]. It is safe for concurrent use,
// and so are the stores that it gives.
type DB struct {
	config
	dialect     dialect
	write, read *sql.DB
	pulse       *sql.DB       // for what is urgent, see urgently
	queue       chan struct{} // of SQLite: whoever writes has put something in
	texts       sync.Map      // statements as written → as the database wants them
	prepared    sync.Map      // of SQLite: statements by pool
	self        *worker
	stopPurge   func()
}

// Open opens a database and brings its schema up to date, which is safe when
// several processes do so at once. A dsn that begins with postgres:// or
// postgresql:// is a PostgreSQL database, anything else the file of an SQLite
// one, which is made if there is none; as a URI, file:NAME?_pragma=…, it may have pragmas.
//
// The error wraps [ErrNewerSchema] for a database that a later version has
// changed, and never has the dsn's password.
func Open(ctx context.Context, dsn string, opts ...Option) (*DB, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	return open(ctx, dsn, c, migrations)
}

func open(ctx context.Context, dsn string, c config, steps [][]string) (d *DB, err error) {
	d = &DB{config: c, self: newWorker(), stopPurge: func() {}}
	if isPostgres(dsn) {
		d.dialect = pgDialect.named(c.prefix)
		d.write, d.pulse, err = openPostgres(dsn, c.conns)
		d.read = d.write
	} else {
		d.dialect = sqliteDialect.named(c.prefix)
		d.write, d.read, err = openSQLite(ctx, dsn, c.conns)
		d.pulse, d.queue = d.write, make(chan struct{}, 1)
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := d.migrate(ctx, steps); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: migrate: %w", err), d.close())
	}
	d.startPurge() //nolint:contextcheck // it goes on until Close
	return d, nil
}

// Close gives back the leases of this process and closes the database. Whoever
// uses it must have stopped: Close the DB after the server.
func (d *DB) Close() error {
	d.stopPurge()
	return errors.Join(d.resign(), d.close())
}

func (d *DB) close() error {
	err := d.write.Close()
	for _, pool := range []*sql.DB{d.read, d.pulse} {
		if pool != d.write {
			err = errors.Join(err, pool.Close())
		}
	}
	return err
}

type urgentKey struct{}

// urgently marks what must not wait behind everything else that the process wants
// of the database: its heartbeat.
func urgently(ctx context.Context) context.Context {
	return context.WithValue(ctx, urgentKey{}, true)
}

func isUrgent(ctx context.Context) bool { return ctx.Value(urgentKey{}) != nil }

// enqueue waits until nothing else is written to SQLite, which has one writer, and
// only what is urgent goes past. The caller calls leave when it has written.
func (d *DB) enqueue(ctx context.Context) (leave func(), err error) {
	if d.queue == nil || isUrgent(ctx) {
		return func() {}, nil
	}
	select {
	case d.queue <- struct{}{}:
		return func() { <-d.queue }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Tasks is the server's task store, for executor.TaskStore.
func (d *DB) Tasks() *Tasks { return &Tasks{d} }

// Flows is the flows' store, for agent.FlowStore and flow.WithStore.
func (d *DB) Flows() *Flows { return &Flows{d} }

// PushConfigs is the server's store of push configurations.
func (d *DB) PushConfigs() *PushConfigs { return &PushConfigs{d} }

// statement is one of a pool that keeps it compiled.
type statement struct {
	pool *sql.DB
	text string
}

// prepare gives SQLite's compiled statement; PostgreSQL's driver keeps its own.
func (d *DB) prepare(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	key := statement{pool, text}
	if s, ok := d.prepared.Load(key); ok {
		return s.(*sql.Stmt), nil //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	s, err := pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if first, taken := d.prepared.LoadOrStore(key, s); taken {
		_ = s.Close()
		return first.(*sql.Stmt), nil //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	return s, nil
}

// exec runs a statement and tells how many rows it changed. again tells that it
// was tried before, and that nobody knows whether that changed anything.
func (d *DB) exec(ctx context.Context, text string, args ...any) (n int64, again bool, err error) {
	again, err = d.insist(ctx, func() error {
		res, err := d.run(ctx, d.text(text), args)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, again, d.told(ctx, err)
}

// do is exec for a statement whose second time changes nothing.
func (d *DB) do(ctx context.Context, text string, args ...any) (n int64, err error) {
	n, _, err = d.exec(ctx, text, args...)
	return n, err
}

func (d *DB) run(ctx context.Context, text string, args []any) (sql.Result, error) {
	if d.dialect.numbered {
		return d.poolFor(ctx, d.write).ExecContext(ctx, text, args...)
	}
	leave, err := d.enqueue(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	s, err := d.prepare(ctx, d.write, text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// query runs a statement that reads.
func (d *DB) query(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	_, err = d.insist(ctx, func() (err error) {
		rows, err = d.rows(ctx, d.poolFor(ctx, d.read), text, args) //nolint:rowserrcheck,sqlclosecheck // by who reads them
		return err
	})
	return rows, d.told(ctx, err)
}

// poolFor is the pool for a statement, or that for what is urgent; SQLite can be
// read at any time.
func (d *DB) poolFor(ctx context.Context, pool *sql.DB) *sql.DB {
	if d.dialect.numbered && isUrgent(ctx) {
		return d.pulse
	}
	return pool
}

// change runs a statement that changes rows and gives them.
func (d *DB) change(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := d.rows(ctx, d.write, text, args)
	return rows, d.told(ctx, err)
}

func (d *DB) rows(ctx context.Context, pool *sql.DB, text string, args []any) (*sql.Rows, error) {
	text = d.text(text)
	if d.dialect.numbered {
		return pool.QueryContext(ctx, text, args...)
	}
	s, err := d.prepare(ctx, pool, text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// one scans the only row. It reports false when there is none.
func one(rows *sql.Rows, err error, into ...any) (found bool, _ error) {
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	if rows.Next() {
		found = true
		if err := rows.Scan(into...); err != nil {
			return false, err
		}
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// all scans every row.
func all[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// inTx runs f in a transaction.
func (d *DB) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	leave, err := d.enqueue(ctx)
	if err != nil {
		return err
	}
	defer leave()
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
