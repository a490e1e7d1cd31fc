package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// flood is an agent that writes chunks, each an event of its own, and waits
// until it is told to end.
type flood struct {
	chunk string
	count int
	end   chan struct{}
}

func newFlood(count int, chunk string) *flood {
	return &flood{chunk: chunk, count: count, end: make(chan struct{})}
}

func (f *flood) agent() *agent.Agent {
	return streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for i := range f.count {
			if err := w.Text(fmt.Sprintf("%d%s ", i, f.chunk)); err != nil {
				return nil, err
			}
		}
		<-f.end
		return nil, nil
	})
}

// options: each write is an event.
func (f *flood) options(more ...executor.Option) []executor.Option {
	return append(more, quiet, executor.StreamBuffer(stream.Buffer{}))
}

func (f *flood) whole() (text string) {
	for i := range f.count {
		text += fmt.Sprintf("%d%s ", i, f.chunk)
	}
	return text
}

// TestSlowReaderIsDropped: a reader that falls behind stalls neither the task
// nor another reader. It gets what was kept for it, without a gap, then an
// error, and can subscribe again.
func TestSlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chunk   string
		backlog executor.Option
		most    int // bytes that the slow reader may get
	}{
		"events": {"", executor.ReaderBacklog(8, 1<<20), 11 * 3},
		"bytes":  {strings.Repeat("x", 1000), executor.ReaderBacklog(1000, 20_000), 23 * 1010},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlood(40, c.chunk)
			h, err := executor.NewHandler(f.agent(), f.options(c.backlog)...)
			if err != nil {
				t.Fatal(err)
			}
			var id a2a.TaskID
			var text strings.Builder
			var failure error
			for ev, err := range h.SendStreamingMessage(call(t), userMessage("x")) {
				if err != nil {
					failure = err
					break
				}
				if a, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok {
					text.WriteString(a.Artifact.Parts[0].Text())
					if id == "" { // reads no further until another has read all
						id = a.TaskID
						readUntil(t, h, id, f.whole())
					}
				}
			}
			if !errors.Is(failure, a2a.ErrServerError) || !strings.Contains(fmt.Sprint(failure), "too slowly") {
				t.Errorf("the slow reader's stream ends with %v", failure)
			}
			if got := text.String(); len(got) == 0 || len(got) > c.most || !strings.HasPrefix(f.whole(), got) {
				t.Errorf("the slow reader got %d bytes: %q", len(got), got)
			}
			close(f.end)
			if last := readUntil(t, h, id, "never"); last != nil && stateIn(last) != a2a.TaskStateCompleted {
				t.Errorf("the new subscription ends with %+v", last)
			}
		})
	}
}

func stateIn(ev a2a.Event) a2a.TaskState {
	switch e := ev.(type) {
	case *a2a.Task:
		return e.Status.State
	case *a2a.TaskStatusUpdateEvent:
		return e.Status.State
	}
	return ""
}

// readUntil subscribes to a task until it has read all of text, and gives the
// last event; nil when the task had ended before.
func readUntil(t *testing.T, h *executor.Handler, id a2a.TaskID, text string) (last a2a.Event) {
	t.Helper()
	var got string
	for ev, err := range h.SubscribeToTask(call(t), &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			if errors.Is(err, a2a.ErrServerError) { // too slow itself
				return readUntil(t, h, id, text)
			}
			if !errors.Is(err, a2a.ErrUnsupportedOperation) {
				t.Errorf("subscription: %v", err)
			}
			return nil
		}
		switch e := ev.(type) {
		case *a2a.Task:
			got = artifactText(e)
		case *a2a.TaskArtifactUpdateEvent:
			got += e.Artifact.Parts[0].Text()
		}
		last = ev
		if got == text {
			break
		}
	}
	return last
}

func artifactText(task *a2a.Task) (text string) {
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			text += p.Text()
		}
	}
	return text
}

// TestStoppedReader: a client that stops reading its stream, on a connection
// that takes no more, delays neither its task, nor another reader of it, nor
// the shutdown; after the write timeout its request is over.
func TestStoppedReader(t *testing.T) {
	t.Parallel()
	body := `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`
	body03 := `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}}`
	_, rest, _ := strings.Cut(strings.TrimSuffix(body, "}"), `"params":`)
	for name, open := range map[string]func(*testing.T, string, string){
		"JSON-RPC":     func(t *testing.T, addr, _ string) { t.Helper(); postUnread(t, addr, "/", "1.0", body) },
		"HTTP+JSON":    func(t *testing.T, addr, _ string) { t.Helper(); postUnread(t, addr, "/v1/message:stream", "1.0", rest) },
		"JSON-RPC 0.3": func(t *testing.T, addr, _ string) { t.Helper(); postUnread(t, addr, "/v0.3", "", body03) },
		"gRPC":         func(t *testing.T, _, addr string) { t.Helper(); _ = callGRPC(t, addr) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlood(16, strings.Repeat("x", 16<<10))
			close(f.end)
			outcome := make(chan executor.Outcome, 1)
			srv, err := executor.NewServer(f.agent(), f.options(
				executor.WriteTimeout(50*time.Millisecond),
				executor.OnOutcome(func(_ context.Context, o executor.Outcome) { outcome <- o }),
			)...)
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			open(t, serveSmall(t, srv, over), serveSmallGRPC(t, srv, over))
			if o := <-outcome; o.State != executor.Completed {
				t.Errorf("the task ends as %+v", o)
			}
			<-over
			if err := srv.Shutdown(t.Context()); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		})
	}
}

// serveSmall serves HTTP on connections that hold little of what their client
// does not read. It closes over when a request is over.
func serveSmall(t *testing.T, srv http.Handler, over chan struct{}) (addr string) {
	t.Helper()
	hs := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(over)
		srv.ServeHTTP(w, r)
	}))
	hs.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if tcp, ok := c.(*net.TCPConn); !ok || tcp.SetWriteBuffer(4<<10) != nil {
			t.Error("the connection's buffer cannot be made small")
		}
		return ctx
	}
	hs.Start()
	t.Cleanup(hs.Close)
	return hs.Listener.Addr().String()
}

// serveSmallGRPC does so with gRPC.
func serveSmallGRPC(t *testing.T, srv *executor.Server, over chan struct{}) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gs := grpc.NewServer(grpc.StreamInterceptor(func(s any, st grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		defer close(over)
		return next(s, st)
	}))
	srv.RegisterGRPC(gs)
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	return l.Addr().String()
}

// postUnread sends a request and reads nothing of the answer, on a connection that
// holds little of it. It closes the connection with the test.
func postUnread(t *testing.T, addr, path, version, body string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if tcp, ok := conn.(*net.TCPConn); !ok || tcp.SetReadBuffer(4<<10) != nil {
		t.Fatal("the connection's buffer cannot be made small")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+path, io.NopCloser(bytes.NewBufferString(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(body))
	req.Header.Set("Content-Type", "application/json")
	if version != "" {
		req.Header.Set("A2A-Version", version)
	}
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
}

// A gRPC client that was too slow got the binding's text around the error, and
// ABORTED.
func TestStoppedGRPCReaderIsToldWhy(t *testing.T) {
	t.Parallel()
	f := newFlood(16, strings.Repeat("x", 16<<10))
	close(f.end)
	srv, err := executor.NewServer(f.agent(), f.options(executor.WriteTimeout(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	events := callGRPC(t, serveSmallGRPC(t, srv, over))
	<-over
	for err == nil {
		_, err = events.Recv()
	}
	if st := status.Convert(err); st.Code() != codes.ResourceExhausted || !strings.HasPrefix(st.Message(), "The client reads too slowly") || len(st.Details()) == 0 {
		t.Errorf("got %v, details %v", err, st.Details())
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// The host's bindings logged a client that had left as an error, and to
// slog.Default().
func TestClientThatHasLeftIsNoError(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	srv := newServer(t, echo("a"), executor.Logger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	body := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/message:stream", strings.NewReader(body))
	req.Header.Set("A2A-Version", "1.0")
	req.Header.Set("Content-Type", "application/json")
	r, w := io.Pipe()
	_ = r.Close()
	srv.ServeHTTP(&pipeWriter{header: http.Header{}, w: w}, req)
	if got := log.String(); !strings.Contains(got, `level=DEBUG msg="failed to write an event"`) {
		t.Errorf("log: %s", got)
	}
}

func callGRPC(t *testing.T, addr string) grpc.ServerStreamingClient[a2apb.StreamResponse] {
	t.Helper()
	cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithInitialWindowSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	events, err := a2apb.NewA2AServiceClient(cc).SendStreamingMessage(t.Context(), &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return events
}
