package executor

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/hitl"
)

// The host lets go of a run when its task is input-required, but not when it is
// auth-required: the stream stays open and follow-ups are refused for ever. So
// the executor parks both as input-required, and a question for credentials,
// which its data part's schema tells, becomes auth-required on the two ways out
// of the host: into the store (watchedStore), and to clients (protocol).

// awaits reports whether a task in this state waits for an answer.
func awaits(s a2a.TaskState) bool {
	return s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}

// authState gives the state that a status is to have outside of the host.
func authState(s a2a.TaskStatus) a2a.TaskState {
	if s.State != a2a.TaskStateInputRequired || s.Message == nil {
		return s.State
	}
	for _, p := range s.Message.Parts {
		if p != nil && p.Meta()["schema"] == hitl.SchemaAuth {
			return a2a.TaskStateAuthRequired
		}
	}
	return s.State
}
