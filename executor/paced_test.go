package executor_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// TestPacedStream: a model's pace, 100 chunks a second for two minutes, costs
// few events, for each of which the host copies the whole task; and nothing of
// it is lost. It logs the processor time, which is that of the test alone only
// when it runs alone.
func TestPacedStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chunks = 120 * 100
		h := newHandler(t, streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for range chunks {
				if err := w.Text(chunk20); err != nil {
					return nil, err
				}
				time.Sleep(10 * time.Millisecond)
			}
			return nil, nil
		}))
		before := processorTime(t)
		started := time.Now()
		events, text := 0, strings.Builder{}
		for ev, err := range h.SendStreamingMessage(call(t), userMessage("x")) {
			if err != nil {
				t.Fatal(err)
			}
			events++
			if a, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok {
				text.WriteString(a.Artifact.Parts[0].Text())
			}
		}
		t.Logf("%d chunks in %v: %d events, %v of processor time", chunks, time.Since(started), events, processorTime(t)-before)
		if events > 600 {
			t.Errorf("%d events, want at most 600", events)
		}
		if text.String() != strings.Repeat(chunk20, chunks) {
			t.Errorf("%d bytes came, want %d", text.Len(), chunks*len(chunk20))
		}
	})
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
