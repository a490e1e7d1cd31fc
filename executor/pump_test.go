package executor

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The bytes kept for a slow reader counted neither progress nor data.
func TestEverythingInAnEventHasASize(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1000)
	data := a2a.NewDataPart(map[string]any{"v": []any{big}})
	message := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(big))
	for name, ev := range map[string]a2a.Event{
		"progress": &a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{Message: message}},
		"text":     &a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{Parts: a2a.ContentParts{nil, a2a.NewTextPart(big)}}},
		"data":     &a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{Parts: a2a.ContentParts{data}}},
		"metadata": &a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{Metadata: map[string]any{"m": big}}},
		"message":  message,
		"history":  &a2a.Task{History: []*a2a.Message{nil, message}},
		"status":   &a2a.Task{Status: a2a.TaskStatus{Message: message}},
		"artifact": &a2a.Task{Artifacts: []*a2a.Artifact{nil, {Parts: a2a.ContentParts{data}}}},
	} {
		if n := sizeOf(ev); n < 1000 || n > 1300 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	for _, ev := range []a2a.Event{nil, &a2a.TaskStatusUpdateEvent{}, &a2a.TaskArtifactUpdateEvent{}, &a2a.Task{}} {
		if n := sizeOf(ev); n != 0 {
			t.Errorf("%T: %d bytes", ev, n)
		}
	}
}
