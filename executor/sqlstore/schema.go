package sqlstore

// migrations are the steps from an empty database to the current schema, each
// some statements. A step that was released is never changed. Their {words} are
// the dialect's types and the prefix of names.
//
// The times status_at, updated_at and saved_at are nanoseconds of the writers'
// clocks, since 1970; the leases' and parked_at are milliseconds of the database's. Rows hold
// the worker that has the lease of the task; a worker that is not in workers is
// dead. The request is that of the run that works on the task, "" when none does;
// parked_at is 0 unless the task waits for an answer.
var migrations = [][]string{
	{
		`CREATE TABLE {p}tasks (
			id {text} NOT NULL PRIMARY KEY,
			owner {text} NOT NULL,
			context_id {text} NOT NULL,
			state {text} NOT NULL,
			status_at {int} NOT NULL,
			updated_at {int} NOT NULL,
			version {int} NOT NULL,
			worker {text} NOT NULL,
			body {text} NOT NULL
		)`,
		`CREATE INDEX {p}tasks_list ON {p}tasks (owner, updated_at, id, status_at)`,
		`CREATE INDEX {p}tasks_context ON {p}tasks (owner, context_id, updated_at, id, state, status_at)`,
		`CREATE INDEX {p}tasks_state ON {p}tasks (owner, state, updated_at, id, status_at)`,
		`CREATE INDEX {p}tasks_time ON {p}tasks (owner, status_at)`,
		`CREATE INDEX {p}tasks_purge ON {p}tasks (state, updated_at)`,
		`CREATE TABLE {p}workers (
			worker {text} NOT NULL PRIMARY KEY,
			leased_until {int} NOT NULL
		)`,
		`CREATE TABLE {p}push_configs (
			task_id {text} NOT NULL,
			id {text} NOT NULL,
			body {text} NOT NULL,
			PRIMARY KEY (task_id, id)
		)`,
		`CREATE TABLE {p}flows (
			run {text} NOT NULL PRIMARY KEY,
			seq {int} NOT NULL,
			saved_at {int} NOT NULL,
			data {blob} NOT NULL
		)`,
		`CREATE INDEX {p}flows_purge ON {p}flows (saved_at)`,
	},
	{
		`ALTER TABLE {p}tasks ADD COLUMN request {text} NOT NULL DEFAULT ''`,
		`ALTER TABLE {p}tasks ADD COLUMN parked_at {int} NOT NULL DEFAULT 0`,
		`UPDATE {p}tasks SET parked_at = updated_at / 1000000 WHERE state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`,
		`CREATE INDEX {p}tasks_parked ON {p}tasks (parked_at) WHERE parked_at > 0`,
	},
	{ // lists are in the order of the statuses' times
		`DROP INDEX {p}tasks_list`,
		`DROP INDEX {p}tasks_context`,
		`DROP INDEX {p}tasks_state`,
		`CREATE INDEX {p}tasks_list ON {p}tasks (owner, status_at, id)`,
		`CREATE INDEX {p}tasks_context ON {p}tasks (owner, context_id, status_at, id, state)`,
		`CREATE INDEX {p}tasks_state ON {p}tasks (owner, state, status_at, id)`,
	},
	{ // tasks are kept by number
		`CREATE INDEX {p}tasks_ended ON {p}tasks (updated_at, id)
			WHERE state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`,
		`ALTER TABLE {p}push_configs ADD COLUMN saved_at {int} NOT NULL DEFAULT 0`,
	},
}
