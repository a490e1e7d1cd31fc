package executor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/stream"
)

// TestChunksAreStoredAsOneText: who gets the task reads the text as it was
// written, not where it happened to be cut; what was written as parts of a
// result, or beside other parts, stays so.
func TestChunksAreStoredAsOneText(t *testing.T) {
	t.Parallel()
	parts := agent.Artifact{Parts: []stream.Part{stream.TextPart("d"), stream.TextPart("e")}}
	for name, c := range map[string]struct {
		write func(w *stream.Writer) error
		want  []string
	}{
		"chunks": {func(w *stream.Writer) error {
			return errors.Join(w.Text("a"), w.Text("b"), w.Text("c"))
		}, []string{"abc", "d", "e"}},
		"a value between": {func(w *stream.Writer) error {
			return errors.Join(w.Text("a"), w.Data(map[string]any{}), w.Text("b"), w.Text("c"))
		}, []string{"a", "", "bc", "d", "e"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := executortest.Run(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
				return agent.Artifacts(parts), c.write(w)
			}), "x", executortest.With(executor.StreamBuffer(stream.Buffer{})))
			var texts []string
			for _, a := range got.Task.Artifacts {
				for _, p := range a.Parts {
					texts = append(texts, p.Text())
				}
			}
			if diff := cmp.Diff(c.want, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}
