package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// TestHeldBackTextSurvivesTheEnd: what a writer holds back was lost when its
// time came in the moment in which the agent's code returned.
func TestHeldBackTextSurvivesTheEnd(t *testing.T) {
	t.Parallel()
	for range repeats(100, 1000) {
		synctest.Test(t, func(t *testing.T) {
			const interval = 30 * time.Millisecond
			h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
				err := errors.Join(w.Text("a"), w.Text("b"))
				time.Sleep(interval) // the timer's time comes now
				return nil, err
			}), executor.StreamBuffer(stream.Buffer{Bytes: 1 << 10, First: interval}))
			task := sent(call(t), t, h, userMessage("x"))
			got := ""
			for _, p := range task.Artifacts[0].Parts {
				got += p.Text()
			}
			if got != "ab" {
				t.Fatalf("got %q", got)
			}
		})
	}
}
