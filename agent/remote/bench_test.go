package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// BenchmarkPassThrough streams 5,000 chunks to a client: from where they come
// from, and through an agent that stands in front of that.
//
//	events  a server without a host behind it that sends each chunk as an event:
//	        what it costs to pass chunks on
//	paced   an agent of ours that writes 10,000 chunks a second: what a client
//	        waits for
//	burst   the same as fast as it can, merged into a few events: the work of two
//	        hosts against that of one
//
// The client speaks JSON-RPC always, and so does the agent in front unless its
// name says otherwise.
func BenchmarkPassThrough(b *testing.B) {
	const n = 5000
	cases := []struct {
		name  string
		serve func(b *testing.B) string
		grpc  bool
	}{
		{"events", func(b *testing.B) string { b.Helper(); return eventServer(b, n) }, false},
		{"paced", func(b *testing.B) string { b.Helper(); return benchServer(b, writing(n, true)) }, true},
		{"burst", func(b *testing.B) string { b.Helper(); return benchServer(b, writing(n, false)) }, true},
	}
	for _, c := range cases {
		hc := &http.Client{Transport: &http.Transport{}}
		back := c.serve(b)
		front := func(opts ...remote.Option) string {
			a, err := remote.New(back, append([]remote.Option{remote.HTTPClient(hc)}, opts...)...)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = a.Close() })
			return benchServer(b, agent.New("front", agent.Stream(a.Handle)))
		}
		ways := []struct{ name, url string }{{"direct", back}, {"hop", front()}}
		if c.grpc {
			dial := remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials()))
			ways = append(ways, struct{ name, url string }{"hop-grpc", front(dial, only(a2a.TransportProtocolGRPC))})
		}
		for _, to := range ways {
			b.Run(fmt.Sprintf("%s/%s=%d", c.name, to.name, n), func(b *testing.B) {
				client, err := a2aclient.NewFromEndpoints(b.Context(), []*a2a.AgentInterface{
					{URL: to.url + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
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

func writing(n int, paced bool) *agent.Agent {
	return agent.New("back", agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for i := range n {
			if paced && i%50 == 49 {
				time.Sleep(5 * time.Millisecond)
			}
			if err := w.Text(fmt.Sprintf("chunk-%d ", i)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
}

// eventServer answers each message with the same stream, made before.
func eventServer(b *testing.B, n int) string {
	b.Helper()
	var body bytes.Buffer
	event := func(result string) {
		_, _ = fmt.Fprintf(&body, "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":%s}\n\n", result)
	}
	event(atWork)
	for i := range n {
		event(chunk("a", fmt.Sprintf("chunk-%d ", i), i > 0, i == n-1))
	}
	event(status("TASK_STATE_COMPLETED", ""))
	mux := http.NewServeMux()
	hs := httptest.NewServer(mux)
	b.Cleanup(hs.Close)
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"name":"back","capabilities":{"streaming":true},"supportedInterfaces":[
			{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, hs.URL+"/")
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body.Bytes())
	})
	return hs.URL
}

func benchServer(b *testing.B, a *agent.Agent) string {
	b.Helper()
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv, err := executor.NewServer(a, executor.Logger(slog.New(slog.DiscardHandler)), executor.GRPCAddr(l.Addr().String()))
	if err != nil {
		b.Fatal(err)
	}
	gs := grpc.NewServer()
	srv.RegisterGRPC(gs)
	go func() { _ = gs.Serve(l) }()
	b.Cleanup(gs.Stop)
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
