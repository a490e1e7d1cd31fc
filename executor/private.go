package executor

import (
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/retained"
)

// withoutKept gives an answer, or an event, as clients see it: without what a
// parked task keeps for the agent's code. What changes is a copy.
func withoutKept[T any](v T) T {
	var out any
	switch v := any(v).(type) {
	case *a2a.Task:
		out = taskWithoutKept(v)
	case *a2a.TaskStatusUpdateEvent:
		if v == nil || !keeps(v.Metadata) {
			break
		}
		c := *v
		c.Metadata = metadataWithoutKept(v.Metadata)
		out = &c
	case *a2a.ListTasksResponse:
		if v == nil {
			break
		}
		c := *v
		c.Tasks = make([]*a2a.Task, len(v.Tasks))
		for i, t := range v.Tasks {
			c.Tasks[i] = taskWithoutKept(t)
		}
		out = &c
	}
	if changed, ok := out.(T); ok {
		return changed
	}
	return v
}

func keeps(metadata map[string]any) bool {
	_, ok := metadata[retained.Key]
	return ok
}

func taskWithoutKept(t *a2a.Task) *a2a.Task {
	if t == nil || !keeps(t.Metadata) {
		return t
	}
	c := *t
	c.Metadata = metadataWithoutKept(t.Metadata)
	return &c
}

func metadataWithoutKept(m map[string]any) map[string]any {
	out := maps.Clone(m)
	delete(out, retained.Key)
	if len(out) == 0 {
		return nil
	}
	return out
}
