package executor

import (
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// How the status of a task is told outside of the host: in the store, to
// clients, and to receivers of push notifications.

// told gives the status as it is told: see park.go for the state; the time is in
// UTC and in milliseconds (A2A v1.0 section 5.6.1), in the store too, so that a
// filter by time agrees with what clients see.
func told(s a2a.TaskStatus) a2a.TaskStatus {
	s.State, s.Timestamp = authState(s), inMillis(s.Timestamp)
	return s
}

func inMillis(t *time.Time) *time.Time {
	if t == nil || t.Location() == time.UTC && t.Nanosecond()%int(time.Millisecond) == 0 {
		return t
	}
	whole := t.UTC().Truncate(time.Millisecond)
	return &whole
}

// toldEvent gives the event as clients see it. Events are shared between
// readers: what changes is a copy.
func toldEvent(ev a2a.Event) a2a.Event {
	switch e := ev.(type) {
	case *a2a.Task:
		if e == nil {
			return ev
		}
		if s := told(e.Status); s != e.Status {
			c := *e
			c.Status = s
			return &c
		}
	case *a2a.TaskStatusUpdateEvent:
		if s := told(e.Status); s != e.Status {
			c := *e
			c.Status = s
			return &c
		}
	}
	return ev
}
