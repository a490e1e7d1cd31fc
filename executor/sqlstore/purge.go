package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Purge removes what [Keep] and [KeepFlows] no longer keep, and tells how many
// tasks that were. It is called in the background, see [PurgeEvery].
func (d *DB) Purge(ctx context.Context) (tasks int, err error) {
	for _, k := range d.keep {
		for _, state := range k.states {
			n, err := d.purgeState(ctx, state, d.now().Add(-k.age))
			tasks += n
			if err != nil {
				return tasks, fmt.Errorf("purge tasks: %w", err)
			}
		}
	}
	if d.keepFlows > 0 {
		_, err = d.do(ctx, `DELETE FROM {p}flows WHERE saved_at < ?
			AND NOT EXISTS (SELECT 1 FROM {p}tasks t WHERE t.id = {task of run})`, nanos(d.now().Add(-d.keepFlows)))
		if err != nil {
			return tasks, fmt.Errorf("purge flows: %w", err)
		}
	}
	return tasks, nil
}

// purgeState removes the tasks of a state that were not updated since, some at
// a time, so that nobody waits for long.
func (d *DB) purgeState(ctx context.Context, state a2a.TaskState, since time.Time) (n int, err error) {
	for {
		gone, err := d.purgeSome(ctx, state, since)
		n += gone
		if err != nil || gone == 0 {
			return n, err
		}
	}
}

func (d *DB) purgeSome(ctx context.Context, state a2a.TaskState, since time.Time) (n int, err error) {
	err = d.inTx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, d.text(`DELETE FROM {p}tasks WHERE id IN (SELECT id FROM {p}tasks
			WHERE state = ? AND updated_at < ? ORDER BY updated_at LIMIT ? {skip locked}) RETURNING id`),
			string(state), nanos(since), batch)
		ids, err := all(rows, err, scanID)
		if err != nil {
			return err
		}
		n = len(ids)
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, d.text(`DELETE FROM {p}push_configs WHERE task_id = ?`), string(id)); err != nil {
				return err
			}
			// Run ids begin with the task's id and a slash, after which comes a zero.
			if _, err := tx.ExecContext(ctx, d.text(`DELETE FROM {p}flows WHERE run >= ? AND run < ?`), string(id)+"/", string(id)+"0"); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// startPurge purges now and then, until stopPurge is called.
func (d *DB) startPurge() {
	if d.purgeEvery <= 0 || len(d.keep) == 0 && d.keepFlows == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	d.stopPurge = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		t := time.NewTicker(d.purgeEvery)
		defer t.Stop()
		for {
			_, _ = d.Purge(ctx) // what is left is removed the next time
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
		}
	}()
}
