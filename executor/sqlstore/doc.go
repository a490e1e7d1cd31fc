// Package sqlstore keeps what must outlive the process in an SQL database: the
// tasks and push configurations of an agent's server, and the checkpoints of
// its flows. Questions and their answers are part of both.
//
//	db, err := sqlstore.Open(ctx, "agent.db") // or "postgres://…"
//	defer db.Close()
//	a := agent.New("loans", agent.Flow(f, begin, finish, agent.FlowStore(db.Flows())))
//	err = executor.Serve(ctx, addr, a, executor.TaskStore(db.Tasks()))
//
// There are two databases. SQLite is one file and needs nothing else; any
// number of processes of one machine can share it. PostgreSQL is for processes on several.
//
// Processes that share a database share its tasks: each holds a lease of what it
// works on, and takes over what a process that died has left behind, see
// executor.RecoverEvery. Two different agents in one database need a [Prefix]
// each.
//
// Everything here is safe for concurrent use.
package sqlstore
