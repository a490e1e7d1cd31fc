package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/executor"
)

var atOnce = remote.Retry(retry.InitialDelay(0))

// outcomeUnknown checks the failure of a message that may have been received.
func outcomeUnknown(t *testing.T, err error, code errcode.Code) {
	t.Helper()
	e := errcode.Default().Convert(err)
	if e.Code() != code || e.Retriable() || e.Retried() != 0 || !errors.Is(err, remote.ErrOutcomeUnknown) {
		t.Errorf("got %v, retriable %t, retried %d", err, e.Retriable(), e.Retried())
	}
}

// TestReceivedMessageIsNotSentAgain: the remote read it, and its answer is lost,
// in whichever way.
func TestReceivedMessageIsNotSentAgain(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, string)
		code   errcode.Code
	}{
		{"it closes the connection", func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) }, errcode.UpstreamUnavailable},
		{"a header, then silence", func(w http.ResponseWriter, r *http.Request, _ string) {
			sse(w)
			w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // every ResponseWriter here is one
			<-r.Context().Done()
		}, errcode.UpstreamTimeout},
		{"no header, but silence", func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, errcode.UpstreamTimeout},
		{"a proxy's 502", answerOnce(502, "X-A: b", ""), errcode.UpstreamUnavailable},
		{"a proxy's 504", answerOnce(504, "X-A: b", ""), errcode.UpstreamTimeout},
		{"an empty stream", func(w http.ResponseWriter, _ *http.Request, _ string) { sse(w) }, errcode.UpstreamUnavailable},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Length", "1000")
			plainJSON(w, `{"jsonrpc":`)
		}, errcode.UpstreamUnavailable},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, tc.answer)
			_, err := to(t, s.url, atOnce, remote.IdleTimeout(300*time.Millisecond)).Call(t.Context(), remote.Text("pay 100"))
			outcomeUnknown(t, err, tc.code)
			if got := s.methods(); len(got) != 1 {
				t.Errorf("called %v", got)
			}
		})
	}
}

// losing loses the answers to messages, of a server that has worked on them.
type losing struct {
	next http.RoundTripper
	lost atomic.Int32
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		l.lost.Add(1)
		_ = res.Body.Close()
		return nil, &net.OpError{Op: "read", Err: errors.New("connection reset by a proxy")}
	}
	return res, err
}

// TestBankPaysOnce: a real agent does what it was asked once, though the answer
// never arrives.
func TestBankPaysOnce(t *testing.T) {
	t.Parallel()
	var paid atomic.Int32
	done := make(chan struct{}, 8)
	back := serve(t, invoking("bank", func(context.Context, *agent.Request) (*agent.Result, error) {
		paid.Add(1)
		done <- struct{}{}
		return agent.Text("paid"), nil
	}))
	hc := newClient(t)
	l := &losing{next: hc.Transport}
	hc.Transport = l
	_, err := to(t, back.url, remote.HTTPClient(hc), atOnce).Call(t.Context(), remote.Text("pay 100"))
	outcomeUnknown(t, err, errcode.UpstreamUnavailable)
	<-done
	if paid.Load() != 1 || l.lost.Load() != 1 {
		t.Errorf("the bank paid %d times, of %d messages", paid.Load(), l.lost.Load())
	}
}

// TestAnswerToAQuestionIsSentOnce: the remote read it, and did not say so.
func TestAnswerToAQuestionIsSentOnce(t *testing.T) {
	t.Parallel()
	const asking = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"who?"}]}}}`
	var sends, answers atomic.Int32
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
		switch {
		case method == "GetTask":
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+asking+`}`)
		case method != "SendStreamingMessage":
			plainJSON(w, notFound)
		case sends.Add(1) == 1:
			sse(w, `{"task":`+asking+`}`)
		default:
			answers.Add(1)
			panic(http.ErrAbortHandler)
		}
	})
	k := serve(t, streaming("front", to(t, s.url, atOnce).Handle)).talk(t)
	k.say("go")
	e := failureOf(t, k.say("Bob"))
	if answers.Load() != 1 || e.Code() != errcode.UpstreamUnavailable || e.Retriable() {
		t.Errorf("sent %d times; got %v", answers.Load(), e)
	}
}

// TestUnsentMessageIsSentAgain: as long as there is no connection to send it by.
func TestUnsentMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler()) // does not speak TLS
	t.Cleanup(plain.Close)
	for name, url := range map[string]string{
		"refused": "http://127.0.0.1:1/",
		"no host": "http://nowhere.invalid/",
		"no TLS":  "https://" + host(plain.URL) + "/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dials atomic.Int32
			tr := &http.Transport{}
			t.Cleanup(tr.CloseIdleConnections)
			tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				if name == "no host" { // not asked of a real resolver
					return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: addr, IsTemporary: true}}
				}
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			}
			a, err := remote.FromCard(&a2a.AgentCard{
				Name: "bank", Capabilities: a2a.AgentCapabilities{Streaming: true},
				SupportedInterfaces: []*a2a.AgentInterface{{URL: url, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}},
			}, remote.HTTPClient(&http.Client{Transport: tr}), atOnce)
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Call(t.Context(), remote.Text("x"))
			e := errcode.Default().Convert(err)
			if errors.Is(err, remote.ErrOutcomeUnknown) || e.Retriable() && (dials.Load() != 3 || e.Retried() != 2) {
				t.Errorf("got %v after %d dials, retried %d", err, dials.Load(), e.Retried())
			}
			if name == "refused" && !e.Retriable() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// rpcAgent is a gRPC server that answers messages as a test says.
type rpcAgent struct {
	a2apb.UnimplementedA2AServiceServer
	calls  atomic.Int32
	answer func(n int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error
}

func (r *rpcAgent) SendStreamingMessage(_ *a2apb.SendMessageRequest, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return r.answer(r.calls.Add(1), s)
}

// overGRPC serves and calls it; stop ends the server and its connections.
func overGRPC(t *testing.T, r *rpcAgent, opts ...remote.Option) (a *remote.Agent, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gs := grpc.NewServer()
	a2apb.RegisterA2AServiceServer(gs, r)
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	a, err = remote.FromCard(&a2a.AgentCard{
		Name: "bank", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{{URL: l.Addr().String(), ProtocolBinding: a2a.TransportProtocolGRPC, ProtocolVersion: a2a.Version}},
	}, append([]remote.Option{remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials())), atOnce}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, gs.Stop
}

// TestReceivedMessageIsNotSentAgainOverGRPC: UNAVAILABLE is repeated only as the
// server's word, which has details.
func TestReceivedMessageIsNotSentAgainOverGRPC(t *testing.T) {
	t.Parallel()
	busy, err := grpcstatus.New(codes.Unavailable, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(0)})
	if err != nil {
		t.Fatal(err)
	}
	refusing := &rpcAgent{answer: func(int32, grpc.ServerStreamingServer[a2apb.StreamResponse]) error { return busy.Err() }}
	a, _ := overGRPC(t, refusing)
	if _, err := a.Call(t.Context(), remote.Text("pay")); refusing.calls.Load() != 3 || errors.Is(err, remote.ErrOutcomeUnknown) {
		t.Errorf("a refusal: %d calls, %v", refusing.calls.Load(), err)
	}
	var stop func()
	dying := &rpcAgent{}
	a, stop = overGRPC(t, dying)
	dying.answer = func(_ int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
		go stop()
		<-s.Context().Done()
		return nil
	}
	_, err = a.Call(t.Context(), remote.Text("pay"))
	outcomeUnknown(t, err, errcode.UpstreamUnavailable)
	if dying.calls.Load() != 1 {
		t.Errorf("a death: %d calls", dying.calls.Load())
	}
}

// TestDeathInMidStreamOverGRPC: what came before is kept, the message is not
// sent again.
func TestDeathInMidStreamOverGRPC(t *testing.T) {
	t.Parallel()
	dying := &rpcAgent{}
	a, stop := overGRPC(t, dying)
	dying.answer = func(_ int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
		err := errors.Join(
			s.Send(&a2apb.StreamResponse{Payload: &a2apb.StreamResponse_Task{Task: &a2apb.Task{
				Id: "t-1", ContextId: "c-1", Status: &a2apb.TaskStatus{State: a2apb.TaskState_TASK_STATE_WORKING},
			}}}),
			s.Send(&a2apb.StreamResponse{Payload: &a2apb.StreamResponse_ArtifactUpdate{ArtifactUpdate: &a2apb.TaskArtifactUpdateEvent{
				TaskId: "t-1", ContextId: "c-1", Artifact: &a2apb.Artifact{ArtifactId: "a", Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "part"}}}},
			}}}))
		if err != nil {
			return err
		}
		<-s.Context().Done()
		return nil
	}
	k := serve(t, streaming("front", a.Handle)).talk(t)
	for ev, err := range k.client.SendStreamingMessage(t.Context(), k.message(a2a.NewTextPart("pay"))) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok {
			stop()
		}
		k.task = &a2a.Task{ID: ev.TaskInfo().TaskID}
	}
	task, err := k.client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: k.task.ID})
	if err != nil {
		t.Fatal(err)
	}
	e := failureOf(t, task)
	if got := contents(task); e.Code() != errcode.UpstreamUnavailable || e.Retriable() || dying.calls.Load() != 1 || len(got) != 1 || got[0] != ": part" {
		t.Errorf("got %v, %q after %d calls", e, got, dying.calls.Load())
	}
}

// TestHugeAnswerOverGRPC: more than gRPC takes fails, and is not asked for again.
func TestHugeAnswerOverGRPC(t *testing.T) {
	t.Parallel()
	huge := &rpcAgent{answer: func(_ int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
		return s.Send(&a2apb.StreamResponse{Payload: &a2apb.StreamResponse_Message{Message: &a2apb.Message{
			MessageId: "m", Role: a2apb.Role_ROLE_AGENT, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: strings.Repeat("x", 5<<20)}}},
		}}})
	}}
	a, _ := overGRPC(t, huge)
	_, err := a.Call(t.Context(), remote.Text("pay"))
	if e := errcode.Default().Convert(err); e.Retriable() || !errors.Is(err, remote.ErrOutcomeUnknown) || huge.calls.Load() != 1 {
		t.Errorf("got %v, retriable %t, after %d calls", err, e.Retriable(), huge.calls.Load())
	}
}

// TestRedirectThatIsFollowed: where the caller's client follows redirects, a
// message goes where they lead, and is not sent again when that place falls silent.
func TestRedirectThatIsFollowed(t *testing.T) {
	t.Parallel()
	there := answering(t, func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) })
	here := answering(t, answerOnce(http.StatusTemporaryRedirect, "Location: "+there.url, ""))
	hc := newClient(t)
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	_, err := to(t, here.url, remote.HTTPClient(hc), atOnce).Call(t.Context(), remote.Text("pay"))
	outcomeUnknown(t, err, errcode.UpstreamUnavailable)
	if len(here.methods()) != 1 || len(there.methods()) != 1 {
		t.Errorf("called %v, %v", here.methods(), there.methods())
	}
}

// TestRemoteRestartsBetweenQuestionAndAnswer: with a store that outlives it, and
// the caller anew as well, the same remote task goes on.
func TestRemoteRestartsBetweenQuestionAndAnswer(t *testing.T) {
	t.Parallel()
	c := &clerk{}
	kept, keptHere := taskStore(), taskStore()
	var backend atomic.Pointer[executor.Server]
	start := func() {
		srv, err := executor.NewServer(invoking("clerk", c.run), quiet, kept)
		if err != nil {
			t.Fatal(err)
		}
		backend.Store(srv)
	}
	start()
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { backend.Load().ServeHTTP(w, r) }))
	t.Cleanup(hs.Close)
	run := func(ctx context.Context, a *remote.Agent) (*agent.Result, error) {
		first, err := a.Tool()(ctx, "greet")
		if err != nil {
			return nil, err
		}
		second, err := a.Tool()(ctx, "transfer 100")
		return agent.Text(first + " / " + second), err
	}
	front := func() served {
		a := to(t, hs.URL)
		return serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) { return run(ctx, a) }), keptHere)
	}
	k := front().talk(t)
	k.say("go")
	start()
	next := front().talk(t)
	next.task = k.task
	if got := contents(next.say("Ann")); len(got) != 1 || got[0] != ": task 1: greet Ann / task 2: done: transfer 100" {
		t.Errorf("got %s %q", next.task.Status.State, got)
	}
}

// TestPrivateTextOfALostCallStaysPrivate: what a transport says about its inside
// is the cause, for the log, and never in what a client reads.
func TestPrivateTextOfALostCallStaysPrivate(t *testing.T) {
	t.Parallel()
	const inside = "proxy-7.internal: /srv/app/upstream.go:42: session of alice is gone"
	back := serve(t, streaming("bank", everything))
	breaking := func(t *testing.T, method string) served {
		t.Helper()
		hc := newClient(t)
		next := hc.Transport
		hc.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			res, err := next.RoundTrip(r)
			if err != nil || !bytes.Contains(body, []byte(`"`+method+`"`)) && method != "" {
				return res, err
			}
			_ = res.Body.Close()
			if method == "SendStreamingMessage" { // the answer breaks later
				res.Body = io.NopCloser(iotest.ErrReader(errors.New(inside)))
				return res, nil
			}
			return nil, errors.New(inside)
		})
		return serve(t, streaming("front", to(t, back.url, remote.HTTPClient(hc), atOnce).Handle))
	}
	for name, method := range map[string]string{"the request": "", "the stream": "SendStreamingMessage"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := breaking(t, method).talk(t).say("pay 100")
			raw, err := json.Marshal(task)
			if err != nil {
				t.Fatal(err)
			}
			e := failureOf(t, task)
			if e.Retriable() || !strings.Contains(e.Message(), "is not known") {
				t.Errorf("got %v", e)
			}
			for _, private := range []string{"proxy-7", "upstream.go", "alice"} {
				if bytes.Contains(raw, []byte(private)) {
					t.Errorf("the client reads %q in %s", private, raw)
				}
			}
		})
	}
}
