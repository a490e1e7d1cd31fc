package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
)

// migrate brings the database to the current schema, in one transaction that
// excludes all others that would do the same.
func (d *DB) migrate(ctx context.Context, steps [][]string) error {
	return d.inTx(ctx, func(tx *sql.Tx) error {
		if lock := d.dialect.lock; lock != "" {
			if _, err := tx.ExecContext(ctx, lock, d.prefix+"schema"); err != nil {
				return fmt.Errorf("lock: %w", err)
			}
		}
		version, err := d.schemaVersion(ctx, tx)
		switch {
		case err != nil:
			return err
		case version > len(steps):
			return fmt.Errorf("%w: it is %d, this program knows %d", ErrNewerSchema, version, len(steps))
		case version == len(steps):
			return nil
		}
		for i, step := range steps[version:] {
			for _, text := range step {
				if _, err := tx.ExecContext(ctx, d.text(text)); err != nil {
					return fmt.Errorf("step %d: %w", version+i+1, err)
				}
			}
		}
		_, err = tx.ExecContext(ctx, d.text(`UPDATE {p}schema SET version = ?`), len(steps))
		return err
	})
}

// schemaVersion reads the version, 0 for an empty database.
func (d *DB) schemaVersion(ctx context.Context, tx *sql.Tx) (version int, err error) {
	if _, err := tx.ExecContext(ctx, d.text(`CREATE TABLE IF NOT EXISTS {p}schema (version {int} NOT NULL)`)); err != nil {
		return 0, err
	}
	row := tx.QueryRowContext(ctx, d.text(`SELECT count(*), coalesce(max(version), 0) FROM {p}schema`))
	var rows int
	if err := row.Scan(&rows, &version); err != nil {
		return 0, err
	}
	if rows == 0 {
		_, err = tx.ExecContext(ctx, d.text(`INSERT INTO {p}schema (version) VALUES (0)`))
	}
	return version, err
}
