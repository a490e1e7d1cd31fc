package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/a2aexec/a2aexec/errcode"
)

// What [Open] refuses, and what the stores refuse to keep.
var (
	// ErrNewerSchema says that a later version of this package has changed the
	// database: this one must not write to it.
	ErrNewerSchema = errors.New("the database's schema is newer than this program")
	// ErrTooLarge says that a task or a checkpoint is larger than [MaxBytes].
	ErrTooLarge = errors.New("too large to be stored")
	// ErrCorrupt says that what is stored cannot be read.
	ErrCorrupt = errors.New("what is stored cannot be read")
)

// errSilent is why a statement was given up.
var errSilent = errors.New("the database does not answer in time")

// unavailable says that the database is out of reach, or has no room: it is worth
// trying again later.
func unavailable(err error) error {
	return fmt.Errorf("%w: %w", errAway, err)
}

var errAway = errcode.New(errcode.UpstreamUnavailable, "database_unavailable",
	errcode.Source("db:sqlstore"), errcode.Message("The database is out of reach."))

// told makes the error of a database that is out of reach one that says so.
func (d *DB) told(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent):
		return err
	case d.dialect.numbered && (outOfReach(context.WithoutCancel(ctx), err) || exhausted(err)), !d.dialect.numbered && stuck(err):
		return unavailable(err)
	}
	return err
}

// exhausted reports whether a PostgreSQL server lacks something for now: class
// 53 of its errors.
func exhausted(err error) bool {
	var told *pgconn.PgError
	return errors.As(err, &told) && strings.HasPrefix(told.Code, "53")
}

// stuck reports whether SQLite cannot use its file for now: it is locked, the
// disk is full or does not work.
func stuck(err error) bool {
	var told *sqlite.Error
	if !errors.As(err, &told) {
		return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errSilent)
	}
	switch told.Code() & 0xff { // the others are details
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}

// maxID bounds what is in an index: ids, and names of users.
const maxID = 1024

// checkID refuses what neither database can have in an index.
func checkID(what, id string) error {
	switch {
	case len(id) > maxID:
		return fmt.Errorf("%s of %d bytes, longer than %d: %w", what, len(id), maxID, a2a.ErrInvalidParams)
	case strings.ContainsRune(id, 0) || !utf8.ValidString(id):
		return fmt.Errorf("%s has a zero byte or is not UTF-8: %w", what, a2a.ErrInvalidParams)
	}
	return nil
}

// unstorable says whether nothing can be stored under an id.
func unstorable(id string) bool { return checkID("", id) != nil }

func (d *DB) checkSize(what string, n int) error {
	if d.maxBytes > 0 && n > d.maxBytes {
		return fmt.Errorf("%s of %d bytes, more than %d: %w", what, n, d.maxBytes, ErrTooLarge)
	}
	return nil
}
