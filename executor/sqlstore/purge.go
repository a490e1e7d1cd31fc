package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Purge removes what [Keep], [KeepNumber] and [KeepFlows] no longer keep, and
// tells how many tasks that were. It is called in the background, see [PurgeEvery].
func (d *DB) Purge(ctx context.Context) (tasks int, err error) {
	for _, k := range d.keep {
		for _, state := range k.states {
			n, err := d.purgeTasks(ctx, agedTasks, string(state), nanos(d.now().Add(-k.age)))
			tasks += n
			if err != nil {
				return tasks, fmt.Errorf("purge tasks: %w", err)
			}
		}
	}
	n, err := d.purgeSurplus(ctx)
	tasks += n
	if err != nil {
		return tasks, fmt.Errorf("purge tasks: %w", err)
	}
	if err := d.purgeConfigs(ctx); err != nil {
		return tasks, fmt.Errorf("purge push configs: %w", err)
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

// The tasks to be removed, those first that were updated longest ago.
const (
	agedTasks    = `FROM {p}tasks WHERE state = ? AND updated_at < ? AND ` + dead + ` ORDER BY updated_at`
	surplusTasks = `FROM {p}tasks {by ended} WHERE state IN ` + hasEnded + ` AND (updated_at, id) <= (?, ?) ORDER BY updated_at, id`
	lastKept     = `SELECT updated_at, id FROM {p}tasks {by ended} WHERE state IN ` + hasEnded + ` ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET ?`
)

// purgeSurplus removes the tasks that are more than so many, as of now.
func (d *DB) purgeSurplus(ctx context.Context) (int, error) {
	if d.keepNumber == 0 {
		return 0, nil
	}
	var first cursor
	rows, err := d.query(ctx, lastKept, d.keepNumber)
	if found, err := one(rows, err, &first.At, &first.ID); err != nil || !found {
		return 0, err
	}
	return d.purgeTasks(ctx, surplusTasks, first.At, first.ID)
}

// purgeTasks removes tasks, some at a time, so that nobody waits for long.
func (d *DB) purgeTasks(ctx context.Context, from string, args ...any) (n int, err error) {
	for {
		gone, err := d.purgeSome(ctx, from, args)
		n += gone
		if err != nil || gone == 0 {
			return n, err
		}
	}
}

func (d *DB) purgeSome(ctx context.Context, from string, args []any) (n int, err error) {
	err = d.inTx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, d.text(`DELETE FROM {p}tasks WHERE id IN (
			SELECT id `+from+` LIMIT ? {skip locked}) RETURNING id`), append(slices.Clip(args), batch)...)
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

// orphanAge is how long a push configuration stays whose task is not there: one
// may be saved a moment before its task.
const orphanAge = time.Hour

// purgeConfigs removes the push configurations of tasks that are not there: that
// were removed as the configuration was saved, or never stored.
func (d *DB) purgeConfigs(ctx context.Context) error {
	if len(d.keep) == 0 && d.keepNumber == 0 {
		return nil // the tasks may be in another store
	}
	since := nanos(d.now().Add(-orphanAge))
	rows, err := d.query(ctx, `SELECT DISTINCT task_id FROM {p}push_configs c WHERE saved_at < ?
		AND NOT EXISTS (SELECT 1 FROM {p}tasks t WHERE t.id = c.task_id)`, since)
	ids, err := all(rows, err, scanID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := d.do(ctx, `DELETE FROM {p}push_configs WHERE task_id = ? AND saved_at < ?`, string(id), since); err != nil {
			return err
		}
	}
	return nil
}

// startPurge purges now and then, until stopPurge is called.
func (d *DB) startPurge() {
	if d.purgeEvery <= 0 || len(d.keep) == 0 && d.keepNumber == 0 && d.keepFlows == 0 {
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
