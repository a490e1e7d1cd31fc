package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// serveBindings gives a server on loopback, and a client for each binding of 1.0.
func serveBindings(t *testing.T, a *agent.Agent, opts ...executor.Option) (srv *executor.Server, url string, clients map[string]*a2aclient.Client) {
	t.Helper()
	srv = newServer(t, a, opts...)
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gs := grpc.NewServer()
	srv.RegisterGRPC(gs)
	done := make(chan struct{})
	go func() { defer close(done); _ = gs.Serve(l) }()
	t.Cleanup(func() { gs.Stop(); <-done })
	clients = map[string]*a2aclient.Client{}
	insecurely := grpc.WithTransportCredentials(insecure.NewCredentials())
	for binding, at := range map[a2a.TransportProtocol]string{
		a2a.TransportProtocolJSONRPC: hs.URL + "/", a2a.TransportProtocolHTTPJSON: hs.URL + "/v1", a2a.TransportProtocolGRPC: l.Addr().String(),
	} {
		c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{{URL: at, ProtocolBinding: binding, ProtocolVersion: a2a.Version}},
			a2aclient.WithJSONRPCTransport(hs.Client()), a2aclient.WithRESTTransport(hs.Client()), a2agrpc.WithGRPCTransport(insecurely))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Destroy() })
		clients[string(binding)] = c
	}
	return srv, hs.URL, clients
}

// gate is an agent whose runs wait until they are let through.
type gate struct {
	*agent.Agent
	entered, open chan struct{}
}

func newGate() gate {
	g := gate{entered: make(chan struct{}, 100), open: make(chan struct{})}
	g.Agent = agent.New("gate", agent.Stream(func(ctx context.Context, _ *agent.Request, _ *stream.Writer) (*agent.Result, error) {
		g.entered <- struct{}{}
		select {
		case <-g.open:
			return agent.Text("through"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}))
	return g
}

func TestMaxRunsOnEveryBinding(t *testing.T) {
	t.Parallel()
	g := newGate()
	var log syncBuffer
	srv, url, clients := serveBindings(t, g.Agent, executor.MaxRuns(2, 7*time.Second), executor.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	var wg sync.WaitGroup
	for range 2 {
		ctx := call(t)
		wg.Go(func() {
			if _, err := srv.SendMessage(ctx, userMessage("x")); err != nil {
				t.Error(err)
			}
		})
		<-g.entered
	}
	for binding, c := range clients {
		_, err := c.SendMessage(t.Context(), userMessage("x"))
		mustBeFull(t, binding, err)
		for _, err := range c.SendStreamingMessage(t.Context(), userMessage("x")) {
			mustBeFull(t, binding+" stream", err)
		}
	}
	_, err := srv.SendMessage(call(t), userMessage("x"))
	st := status.Convert(err)
	if st.Code() != codes.Unavailable || delayIn(st) != 7*time.Second {
		t.Errorf("gRPC: got %v with %v", st, st.Details())
	}
	rest, body := postJSON(t, url+"/v1/message:send", `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"x"}]}}`)
	if rest.StatusCode != http.StatusServiceUnavailable || rest.Header.Get("Retry-After") != "7" ||
		!strings.Contains(body, `"code":503`) || !strings.Contains(body, `"status":"UNAVAILABLE"`) || !strings.Contains(body, `"retryDelay":"7s"`) {
		t.Errorf("HTTP+JSON: got %d, Retry-After %q, %s", rest.StatusCode, rest.Header.Get("Retry-After"), body)
	}
	_, body = postJSON(t, url+"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"x"}]}}}`)
	for _, want := range []string{`"code":-32603`, `google.rpc.RetryInfo`, `"retryDelay":"7s"`, `"errorCode":"UPSTREAM_UNAVAILABLE"`} {
		if !strings.Contains(body, want) {
			t.Errorf("JSON-RPC: %s is not in %s", want, body)
		}
	}
	if log.String() != "" {
		t.Errorf("a busy server is no fault to be logged: %s", log.String())
	}
	close(g.open)
	wg.Wait()
	for binding, c := range clients {
		if _, err := c.SendMessage(t.Context(), userMessage("x")); err != nil {
			t.Errorf("%s: still refused: %v", binding, err)
		}
	}
}

func mustBeFull(t *testing.T, how string, err error) {
	t.Helper()
	e := errcode.FromClient(err)
	if delay, ok := e.RetryAfter(); e.Code() != errcode.UpstreamUnavailable || !e.Retriable() || !ok || delay != 7*time.Second {
		t.Errorf("%s: got %v (%q, retriable %t, after %v)", how, err, e.Code(), e.Retriable(), delay)
	}
}

func delayIn(st *status.Status) time.Duration {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

func postJSON(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if !strings.Contains(url, "/v0.3") {
		req.Header.Set("A2A-Version", "1.0")
	}
	return fetch(t, req)
}

// TestSlotComesBackWhateverTheHandlerDoes: one client, one slot, and it is free
// again as soon as the answer has come.
func TestSlotComesBackWhateverTheHandlerDoes(t *testing.T) {
	t.Parallel()
	worst := map[string]agent.StreamFunc{
		"returns": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) { return nil, nil },
		"fails": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, errors.New("no")
		},
		"panics": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) { panic("no") },
		"exits": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			runtime.Goexit()
			return nil, nil
		},
		"parks": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, hitl.InputRequired("?")
		},
		"logs in": func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, hitl.AuthRequired("?")
		},
		"streams": func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, w.Text("x")
		},
	}
	for name, f := range worst {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHandler(t, streaming(f), executor.MaxRuns(1, 0))
			for i := range 20 {
				answered(call(t), t, h, userMessage("x"), i%2 == 0)
			}
		})
	}
}

// TestSlotOfRunsThatAreStopped: a run that is cancelled, or out of time, gives
// its slot back when its code returns, or is given up.
func TestSlotOfRunsThatAreStopped(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"heeds its context": false, "is deaf": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang := make(chan struct{})
			defer close(hang)
			entered := make(chan struct{}, 1)
			over := make(chan executor.Outcome, 1)
			a := streaming(func(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
				if req.Text() == "quick" {
					return nil, nil
				}
				entered <- struct{}{}
				if deaf {
					<-hang
				}
				<-ctx.Done()
				return nil, nil
			})
			h := newHandler(t, a, executor.MaxRuns(1, 0), executor.GracePeriod(time.Millisecond),
				executor.OnOutcome(func(_ context.Context, o executor.Outcome) { over <- o }))
			id := begun(t, h, userMessage("slow"))
			<-entered
			if _, err := h.SendMessage(call(t), userMessage("quick")); errcode.CodeOf(err) != errcode.UpstreamUnavailable {
				t.Errorf("while it runs: got %v", err)
			}
			if _, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: id}); err != nil {
				t.Error(err)
			}
			<-over
			if _, state := answered(call(t), t, h, userMessage("quick"), false); state != a2a.TaskStateCompleted {
				t.Errorf("ended as %q", state)
			}
			<-over
		})
	}
}

// begun sends a message and leaves once its task is there.
func begun(t *testing.T, h *executor.Handler, msg *a2a.SendMessageRequest) a2a.TaskID {
	t.Helper()
	for ev, err := range h.SendStreamingMessage(call(t), msg) {
		if err != nil {
			t.Fatal(err)
		}
		return ev.TaskInfo().TaskID
	}
	t.Fatal("no event")
	return ""
}

// TestFollowUpOnAFullServer: it is refused, and its task stays parked.
func TestFollowUpOnAFullServer(t *testing.T) {
	t.Parallel()
	g := newGate()
	a := streaming(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		switch req.Text() {
		case "ask":
			return nil, hitl.InputRequired("?")
		case "answer":
			return agent.Text("thanks"), nil
		}
		return g.StreamFunc()(ctx, req, w)
	})
	h := newHandler(t, a, executor.MaxRuns(1, 0))
	parked, state := answered(call(t), t, h, userMessage("ask"), false)
	if state != a2a.TaskStateInputRequired {
		t.Fatalf("got %q", state)
	}
	begun(t, h, userMessage("slow"))
	<-g.entered
	answer := userMessage("answer")
	answer.Message.TaskID = parked
	if _, err := h.SendMessage(call(t), answer); errcode.CodeOf(err) != errcode.UpstreamUnavailable {
		t.Errorf("got %v", err)
	}
	task, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: parked})
	if err != nil || task.Status.State != a2a.TaskStateInputRequired || len(task.History) != 1 {
		t.Errorf("got %+v, %v", task, err)
	}
	close(g.open)
	for {
		_, err := h.SendMessage(call(t), answer)
		if err == nil {
			break
		}
		if errcode.CodeOf(err) != errcode.UpstreamUnavailable {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// TestMaxRunsHolds under many clients at once: never more runs, and nobody
// gets anything but an answer or the refusal.
func TestMaxRunsHolds(t *testing.T) {
	t.Parallel()
	const limit = 4
	var now, most, refused, served atomic.Int64
	a := streaming(func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for range 100 {
			runtime.Gosched()
		}
		return nil, nil
	})
	h := newHandler(t, a, executor.MaxRuns(limit, 0))
	var wg sync.WaitGroup
	for i := range 20 {
		ctx := call(t)
		wg.Go(func() {
			for j := range 20 {
				_, err := h.SendMessage(ctx, userMessage(fmt.Sprint(i, j)))
				switch {
				case err == nil:
					served.Add(1)
				case errcode.CodeOf(err) == errcode.UpstreamUnavailable:
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most.Load() > limit || served.Load() == 0 || served.Load()+refused.Load() != 400 {
		t.Errorf("%d runs at once, %d served, %d refused", most.Load(), served.Load(), refused.Load())
	}
	for range limit * 2 {
		answered(call(t), t, h, userMessage("x"), false) // no slot is lost
	}
}

func TestMaxRunsRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, o := range []executor.Option{executor.MaxRuns(-1, 0), executor.MaxRuns(1, -1)} {
		if _, err := executor.NewHandler(echo("a"), o); err == nil || !strings.Contains(err.Error(), "MaxRuns") {
			t.Errorf("got %v", err)
		}
	}
}
