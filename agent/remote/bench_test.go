package remote_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// BenchmarkPassThrough streams chunks to a client: from the agent that writes
// them, and through another that stands in front of it. A burst is written as
// fast as it can be, so that it measures the work of one server against that of
// two; a paced one, 10,000 chunks a second, measures what a client waits for.
func BenchmarkPassThrough(b *testing.B) {
	for _, pace := range []string{"burst", "paced"} {
		const n = 5000
		writes := agent.New("back", agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for i := range n {
				if pace == "paced" && i%50 == 49 {
					time.Sleep(5 * time.Millisecond)
				}
				if err := w.Text(fmt.Sprintf("chunk-%d ", i)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
		hc := &http.Client{Transport: &http.Transport{}}
		back := benchServer(b, writes)
		a, err := remote.New(back, remote.HTTPClient(hc))
		if err != nil {
			b.Fatal(err)
		}
		front := benchServer(b, agent.New("front", agent.Stream(a.Handle)))
		for _, c := range []struct{ name, url string }{{"direct", back}, {"hop", front}} {
			b.Run(fmt.Sprintf("%s/%s=%d", pace, c.name, n), func(b *testing.B) {
				client, err := a2aclient.NewFromEndpoints(b.Context(), []*a2a.AgentInterface{
					{URL: c.url + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
				}, a2aclient.WithJSONRPCTransport(hc))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					readAll(b, client)
				}
			})
		}
		hc.CloseIdleConnections()
	}
}

func benchServer(b *testing.B, a *agent.Agent) string {
	b.Helper()
	srv, err := executor.NewServer(a, executor.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		b.Fatal(err)
	}
	hs := httptest.NewServer(srv)
	b.Cleanup(hs.Close)
	return hs.URL
}

func readAll(b *testing.B, c *a2aclient.Client) {
	b.Helper()
	var last a2a.TaskState
	for ev, err := range c.SendStreamingMessage(b.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("x"))}) {
		if err != nil {
			b.Fatal(err)
		}
		if s, ok := ev.(*a2a.TaskStatusUpdateEvent); ok {
			last = s.Status.State
		}
	}
	if last != a2a.TaskStateCompleted {
		b.Fatalf("ended as %s", last)
	}
}
