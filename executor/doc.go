// Package executor runs an agent under a2a-go, so that every failure of its
// code reaches clients as a failed task that says what went wrong.
//
// [Serve] is one line over [NewServer], which is built on [NewHandler]; all
// three keep the same guarantees, whatever the agent's code does:
//
//   - the task is published before the code runs, so a client can always get,
//     cancel and subscribe to it;
//   - each run ends in exactly one final event, and nothing follows it, though
//     the code panics, exits its goroutine, returns nothing, ignores its
//     context or writes after it returned;
//   - an error of the code never becomes a protocol error: it is classified by
//     the table of package errcode and told in the failed task's status message,
//     a text part for people and a data part for programs, the same in a
//     blocking answer, a stream and a later GetTask, over every binding;
//   - what was written before the failure stays stored, except where a
//     guardrail blocked it; the open artifact is closed first;
//   - a client that leaves changes nothing;
//   - a question (package hitl) parks the task, and the next message resumes it;
//   - no goroutine of a run outlives it, except code that ignores its cancelled
//     context beyond the [GracePeriod].
//
// Where tasks outlive the process (a [LeaseStore], as in package
// executor/sqlstore), so do these guarantees: what was at work when a process
// died goes on or ends as failed, in its successor or another process, once.
//
// What cannot be contained is a panic in a goroutine that the agent's code
// started itself: Go ends the program.
//
// Package executortest runs an agent in a test and asserts on what a client
// would see.
package executor
