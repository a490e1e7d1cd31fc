package executor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// TestArtifactsOfOneName: artifacts that share a name are told apart.
func TestArtifactsOfOneName(t *testing.T) {
	t.Parallel()
	h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		one, two := w.NewArtifact("report"), w.NewArtifact("report")
		return nil, errors.Join(one.Text("a"), two.Text("b"), one.Text("c"))
	}))
	task := sent(call(t), t, h, userMessage("x"))
	if len(task.Artifacts) != 2 || task.Artifacts[0].ID == task.Artifacts[1].ID {
		t.Fatalf("got %+v", task.Artifacts)
	}
	for i, want := range []string{"ac", "b"} {
		got := ""
		for _, p := range task.Artifacts[i].Parts {
			got += p.Text()
		}
		if got != want || task.Artifacts[i].Name != "report" {
			t.Errorf("artifact %d: got %q %q", i, task.Artifacts[i].Name, got)
		}
	}
}
