package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/flow"
)

// Flows is a flow.Store. It keeps the last checkpoint of a run, whatever
// flow.KeepLast says. Get it from [DB.Flows].
type Flows struct{ db *DB }

var _ flow.Store = (*Flows)(nil)

// Save implements flow.Store. Besides the interface's errors there is one that
// wraps [ErrTooLarge].
func (s *Flows) Save(ctx context.Context, c flow.Checkpoint) error {
	if err := checkID("run id", c.Run); err != nil {
		return err
	}
	if err := s.db.checkSize("checkpoint", len(c.Data)); err != nil {
		return err
	}
	data := c.Data
	if data == nil {
		data = []byte{}
	}
	n, again, err := s.put(ctx, c, data)
	if err != nil || n > 0 {
		return err
	}
	if again { // a try before, of which nothing was heard, may have stored it
		last, err := s.Load(ctx, c.Run)
		if err != nil && !errors.Is(err, flow.ErrUnknownRun) {
			return err
		}
		if last.Seq == c.Seq && bytes.Equal(last.Data, data) {
			return nil
		}
	}
	return fmt.Errorf("%w: checkpoint %d does not follow", flow.ErrConflict, c.Seq)
}

func (s *Flows) put(ctx context.Context, c flow.Checkpoint, data []byte) (n int64, again bool, err error) {
	now := nanos(s.db.now())
	switch c.Seq {
	case 0:
		return 0, false, nil
	case 1:
		return s.db.exec(ctx, `INSERT INTO {p}flows (run, seq, saved_at, data) VALUES (?, 1, ?, ?) ON CONFLICT (run) DO NOTHING`,
			c.Run, now, data)
	default:
		return s.db.exec(ctx, `UPDATE {p}flows SET seq = ?, saved_at = ?, data = ? WHERE run = ? AND seq = ?`,
			int64(c.Seq), now, data, c.Run, int64(c.Seq-1)) //nolint:gosec // a run has fewer
	}
}

// Load implements flow.Store.
func (s *Flows) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	c := flow.Checkpoint{Run: run}
	if unstorable(run) {
		return flow.Checkpoint{}, fmt.Errorf("%w: %q", flow.ErrUnknownRun, run)
	}
	var seq int64
	rows, err := s.db.query(ctx, `SELECT seq, data FROM {p}flows WHERE run = ?`, run)
	found, err := one(rows, err, &seq, &c.Data)
	switch {
	case err != nil:
		return flow.Checkpoint{}, err
	case !found:
		return flow.Checkpoint{}, fmt.Errorf("%w: %q", flow.ErrUnknownRun, run)
	}
	c.Seq = uint64(seq) //nolint:gosec // it was one
	return c, nil
}

// Delete implements flow.Store.
func (s *Flows) Delete(ctx context.Context, run string) error {
	if unstorable(run) {
		return ctx.Err()
	}
	_, err := s.db.do(ctx, `DELETE FROM {p}flows WHERE run = ?`, run)
	return err
}
