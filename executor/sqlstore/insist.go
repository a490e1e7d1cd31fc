package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// insist calls f again for a while, as long as the database is out of reach. It
// tells whether it did, for then nobody knows whether a call changed something
// before the connection broke.
func (d *DB) insist(ctx context.Context, f func() error) (again bool, err error) {
	if !d.dialect.numbered {
		return false, f()
	}
	patience := time.Now().Add(d.lease / 3)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err = f()
		if !outOfReach(ctx, err) || time.Now().Add(pause).After(patience) {
			return again, err
		}
		again = true
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return again, errors.Join(ctx.Err(), err)
		case <-t.C:
		}
	}
}

// outOfReach reports whether err comes from the connection: a server that
// answers says what it is that it does not like, unless it is going down or
// coming up.
func outOfReach(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	var told *pgconn.PgError
	if errors.As(err, &told) {
		return strings.HasPrefix(told.Code, "57P0") || strings.HasPrefix(told.Code, "08")
	}
	var parse *pgconn.ParseConfigError
	return !errors.As(err, &parse)
}
