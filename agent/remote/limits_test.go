package remote_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// hangs answers a stream with events and says no more; a cancel is told.
func hangs(canceled chan<- string, events ...string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, method string) {
		switch method {
		case "SendStreamingMessage":
			if len(events) > 0 {
				sse(w, events...)
			}
			<-r.Context().Done()
		case "CancelTask":
			canceled <- method
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","status":{"state":"TASK_STATE_CANCELED"}}}`)
		default:
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","status":{"state":"TASK_STATE_WORKING"}}}`)
		}
	}
}

// TestSilence: a remote that says nothing any more, or nothing at all, fails the
// call in time, and its task is cancelled.
func TestSilence(t *testing.T) {
	t.Parallel()
	part := []string{atWork, chunk("a", "part", false, false)}
	for name, tc := range map[string]struct {
		limit  func(time.Duration) remote.Option
		reason string
		events []string // with some there is a task to be cancelled
	}{
		"after a chunk":     {remote.IdleTimeout, "remote_idle", part},
		"from the start":    {remote.IdleTimeout, "remote_idle", nil},
		"the whole call":    {remote.Timeout, "remote_timeout", part},
		"the whole, silent": {remote.Timeout, "remote_timeout", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cancelWithin := 50 * time.Millisecond
			if tc.events != nil {
				cancelWithin = 5 * time.Second
			}
			canceled := make(chan string, 100)
			s := answering(t, hangs(canceled, tc.events...))
			var answer *remote.Answer
			for limit := 50 * time.Millisecond; ; limit *= 2 { // until the machine brings the events in time
				a := to(t, s.url, tc.limit(limit), remote.CancelTimeout(cancelWithin), remote.Retry(retry.MaxAttempts(1)))
				var err error
				answer, err = a.Call(t.Context(), remote.Text("x"))
				e := errcode.Default().Convert(err)
				if e.Code() != errcode.UpstreamTimeout || e.Reason() != tc.reason || e.Retriable() || !errors.Is(err, remote.ErrOutcomeUnknown) || e.Source() != a.Source() {
					t.Fatalf("got %v, source %q", e, e.Source())
				}
				if answer.Text() != "" || tc.events == nil || limit > time.Minute {
					break
				}
			}
			if tc.events == nil {
				return
			}
			if answer.Text() != "part" {
				t.Fatalf("kept %q", answer.Text())
			}
			<-canceled
		})
	}
}

// TestCancelCascades: whatever ends the caller's run cancels the remote task.
func TestCancelCascades(t *testing.T) {
	t.Parallel()
	causes := map[string]struct {
		opts []executor.Option
		end  func(k *talk)
		want a2a.TaskState
	}{
		"a cancel":  {nil, func(k *talk) { k.cancel() }, a2a.TaskStateCanceled},
		"a timeout": {[]executor.Option{executor.InactivityTimeout(50 * time.Millisecond)}, func(*talk) {}, a2a.TaskStateFailed},
	}
	for name, tc := range causes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started, stopped := make(chan string, 1), make(chan struct{})
			back := serve(t, streaming("bank", func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				_ = w.Text("part")
				started <- req.TaskID()
				<-ctx.Done()
				close(stopped)
				return nil, ctx.Err()
			}))
			front := serve(t, agent.New("front", agent.Stream(to(t, back.url).Handle)), tc.opts...)
			k := front.talk(t)
			res, err := k.client.SendMessage(t.Context(), &a2a.SendMessageRequest{
				Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("x")), Config: &a2a.SendMessageConfig{ReturnImmediately: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			k.task, _ = res.(*a2a.Task)
			id := <-started
			tc.end(k)
			<-stopped
			if got := back.await(t, id); got != a2a.TaskStateCanceled {
				t.Errorf("the remote task is %s", got)
			}
			if got := front.await(t, string(k.task.ID)); got != tc.want {
				t.Errorf("the caller's task is %s, want %s", got, tc.want)
			}
		})
	}
}

// TestCancelBeforeTheTaskIsKnown: the remote task that a call began in the
// moment in which it was cancelled does not go on.
func TestCancelBeforeTheTaskIsKnown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("because")
	asked, canceled := make(chan struct{}), make(chan string, 1)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
		if method != "SendStreamingMessage" {
			hangs(canceled)(w, r, method)
			return
		}
		close(asked)
		<-ctx.Done()
		sse(w, atWork) // too late
		<-r.Context().Done()
	})
	a := to(t, s.url, remote.CancelTimeout(10*time.Second))
	go func() { <-asked; cancel(because) }()
	_, err := a.Call(ctx, remote.Text("x"))
	if !errors.Is(err, because) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-canceled; got != "CancelTask" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"SendStreamingMessage", "CancelTask"}, s.methods()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestCallsThatWriteToNobody: where the caller's stream has ended, so has the
// call, and the remote task.
func TestCallsThatWriteToNobody(t *testing.T) {
	t.Parallel()
	canceled := make(chan string, 1)
	s := answering(t, hangs(canceled, atWork, chunk("a", "part", false, false)))
	w, control := stream.New(nil)
	control.Close()
	_, err := to(t, s.url, remote.CancelTimeout(10*time.Second)).Stream(stream.NewContext(t.Context(), w), remote.Text("x"))
	if !errors.Is(err, stream.ErrClosed) {
		t.Errorf("got %v", err)
	}
	<-canceled
}

// TestPanicOfTheCallersStream is not blamed on the remote, whose task is cancelled.
func TestPanicOfTheCallersStream(t *testing.T) {
	t.Parallel()
	canceled := make(chan string, 1)
	s := answering(t, hangs(canceled, atWork, chunk("a", "part", false, false)))
	w, _ := stream.New(panicking{})
	_, err := to(t, s.url, remote.CancelTimeout(10*time.Second)).Stream(stream.NewContext(t.Context(), w), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "panic" || e.Source() != "" {
		t.Errorf("got %v from %q", e, e.Source())
	}
	<-canceled
}

type panicking struct{}

func (panicking) Chunk(stream.Chunk) error { panic("no") }
func (panicking) Progress(string) error    { panic("no") }

// TestRetries: what failed before the remote had begun is repeated, as the
// failure says; what failed later is not.
func TestRetries(t *testing.T) {
	t.Parallel()
	fast := remote.Retry(retry.InitialDelay(0))
	done := streams(atWork, status("TASK_STATE_COMPLETED", ""))
	cases := []struct {
		name    string
		first   func(http.ResponseWriter, *http.Request, string) // answers all but the last
		calls   int32                                            // to SendStreamingMessage
		fails   bool
		retried int
	}{
		{"503 twice", answerOnce(503, "Retry-After: 0", ""), 3, false, 0},
		{"429 twice", answerOnce(429, "Retry-After: 0", ""), 3, false, 0},
		{"a refusal that asks to come again", answerOnce(200, "Content-Type: application/json",
			`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"busy",
			"data":[{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"errorCode":"RATE_LIMITED","errorReason":"busy","errorMessage":"x","retriable":true}}]}}`), 3, false, 0},
		{"a dead connection is not", func(w http.ResponseWriter, _ *http.Request, _ string) { _ = hijacked(w).Close() }, 1, true, 0},
		{"502 is not", answerOnce(502, "X-A: b", ""), 1, true, 0},
		{"504 is not", answerOnce(504, "Retry-After: 0", ""), 1, true, 0},
		{"a stream that says nothing is not", streams(), 1, true, 0},
		{"400 is not", answerOnce(400, "X-A: b", ""), 1, true, 0},
		{"401 is not", answerOnce(401, "X-A: b", ""), 1, true, 0},
		{"rubbish is not", answerOnce(200, "Content-Type: text/html", "<html>"), 1, true, 0},
		{"a failed task is not", streams(atWork, status("TASK_STATE_FAILED", "")), 1, true, 0},
		{"a task that broke off is not", streams(atWork), 1, true, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			s := answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
				if method == "SendStreamingMessage" && n.Add(1) == 3 {
					done(w, r, method)
					return
				}
				tc.first(w, r, method)
			})
			_, err := to(t, s.url, fast).Call(t.Context(), remote.Text("x"))
			if (err != nil) != tc.fails || n.Load() != tc.calls {
				t.Errorf("got %v after %d calls, want %d", err, n.Load(), tc.calls)
			}
		})
	}
	refused := to(t, "http://127.0.0.1:1", fast)
	_, err := refused.Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "connection_refused" || e.Retried() != 2 || e.Source() != "http:127.0.0.1:1" {
		t.Errorf("got %v, retried %d, %q", e, e.Retried(), e.Source())
	}
}

// TestDeadGRPC: of gRPC the A2A client keeps no more than a text.
func TestDeadGRPC(t *testing.T) {
	t.Parallel()
	a, err := remote.FromCard(&a2a.AgentCard{
		Name: "bank", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{{URL: "127.0.0.1:1", ProtocolBinding: a2a.TransportProtocolGRPC, ProtocolVersion: a2a.Version}},
	}, remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials())), remote.Retry(retry.InitialDelay(0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	_, err = a.Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Code() != errcode.UpstreamUnavailable || e.Retried() != 2 || a.Source() != e.Source() {
		t.Errorf("got %v, retried %d, %q", e, e.Retried(), e.Source())
	}
}

// TestRetriedIsCounted: the failure tells of the attempts before the one that
// reached the remote.
func TestRetriedIsCounted(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
		if method == "SendStreamingMessage" && n.Add(1) < 3 {
			answerOnce(503, "Retry-After: 0", "")(w, r, method)
			return
		}
		streams(atWork, `{"statusUpdate":{"taskId":"t-1","status":{"state":"TASK_STATE_FAILED","message":{"messageId":"m","role":"ROLE_AGENT",
			"parts":[{"data":{"errorCode":"RATE_LIMITED","errorReason":"quota","errorMessage":"x","retriable":true,"retried":4}}]}}}}`)(w, r, method)
	})
	_, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Code() != errcode.RateLimited || e.Retried() != 6 {
		t.Errorf("got %v, retried %d, want 4 there and 2 here", e, e.Retried())
	}
}

// TestCircuitBreaker: an agent that does not answer is left alone for a while,
// then tried once; one that answers with failures is not.
func TestCircuitBreaker(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	var healthy atomic.Bool
	s := answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
		n.Add(1)
		if healthy.Load() {
			streams(atWork, status("TASK_STATE_COMPLETED", ""))(w, r, method)
			return
		}
		answerOnce(503, "X-A: b", "")(w, r, method)
	})
	const cooldown = 300 * time.Millisecond
	a := to(t, s.url, remote.Retry(retry.MaxAttempts(1)), remote.CircuitBreaker(2, cooldown))
	call := func() *errcode.Error {
		_, err := a.Call(t.Context(), remote.Text("x"))
		return errcode.Default().Convert(err)
	}
	for range 2 {
		if e := call(); e.Reason() != "http_status_error" {
			t.Fatalf("got %v", e)
		}
	}
	e := call()
	delay, ok := e.RetryAfter()
	if e.Code() != errcode.UpstreamUnavailable || e.Reason() != "circuit_open" || !e.Retriable() || !ok || delay <= 0 || delay > cooldown || e.Source() != a.Source() {
		t.Errorf("got %v after %v", e, delay)
	}
	if n.Load() != 2 {
		t.Errorf("%d calls, want 2", n.Load())
	}
	healthy.Store(true)
	for e = call(); e != nil && e.Reason() == "circuit_open"; e = call() {
		delay, _ := e.RetryAfter()
		<-time.After(delay) // what the failure says
	}
	if e != nil {
		t.Errorf("after the cooldown: got %v", e)
	}
}

// TestCircuitCountsOnlySilence: failures that the remote tells, refusals and
// calls that their callers end do not open the circuit.
func TestCircuitCountsOnlySilence(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, string){
		"a failed task": streams(atWork, status("TASK_STATE_FAILED", "")),
		"429":           answerOnce(429, "Retry-After: 0", ""),
		"401":           answerOnce(401, "X-A: b", ""),
	} {
		a := to(t, answering(t, answer).url, remote.Retry(retry.MaxAttempts(1)), remote.CircuitBreaker(1, time.Hour))
		for range 3 {
			if _, err := a.Call(t.Context(), remote.Text("x")); errcode.Default().Convert(err).Reason() == "circuit_open" {
				t.Errorf("%s opens the circuit", name)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := to(t, answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
		cancel()
		hangs(make(chan string, 9), atWork)(w, r, method)
	}).url, remote.CircuitBreaker(1, time.Hour))
	for range 2 {
		if _, err := a.Call(ctx, remote.Text("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: got %v", err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]remote.Option{
		"Name": remote.Name(" x"), "HTTPClient": remote.HTTPClient(nil), "IdleTimeout": remote.IdleTimeout(-1), "Timeout": remote.Timeout(-1),
		"CancelTimeout": remote.CancelTimeout(-1), "MaxBytes": remote.MaxBytes(0), "CircuitBreaker": remote.CircuitBreaker(0, 1),
		"TracerProvider": remote.TracerProvider(nil),
	} {
		if _, err := remote.New("http://127.0.0.1", opt, remote.Option{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, address := range []string{"", "127.0.0.1:80", "ftp://x", "http://", "::"} {
		if _, err := remote.New(address); err == nil {
			t.Errorf("%q: no error", address)
		}
	}
	if _, err := remote.FromCard(nil); err == nil {
		t.Error("no card: no error")
	}
	if _, err := remote.FromClient(nil, "x"); err == nil {
		t.Error("no client: no error")
	}
}

// TestCircuitThatOpensBetweenAttempts: the failure is the one that opened it,
// and counts the calls that were made.
func TestCircuitThatOpensBetweenAttempts(t *testing.T) {
	t.Parallel()
	s := answering(t, answerOnce(503, "X-A: b", ""))
	a := to(t, s.url, atOnce, remote.CircuitBreaker(2, time.Hour))
	_, err := a.Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "http_status_error" || e.Retried() != 1 || len(s.methods()) != 2 {
		t.Errorf("got %v, retried %d, called %v", err, e.Retried(), s.methods())
	}
	_, err = a.Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "circuit_open" || e.Retried() != 0 || len(s.methods()) != 2 {
		t.Errorf("next: got %v, retried %d, called %v", err, e.Retried(), s.methods())
	}
}

// TestRemoteThatAsksForAnHour: the call does not sleep for it, and tells the
// delay.
func TestRemoteThatAsksForAnHour(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		s := answering(t, answerOnce(code, "Retry-After: 3600", "no"))
		_, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
		var e *errcode.Error
		if !errors.As(err, &e) || !e.Retriable() || len(s.methods()) != 1 {
			t.Fatalf("%d: got %v after %v", code, err, s.methods())
		}
		if d, _ := e.RetryAfter(); d != time.Hour {
			t.Errorf("%d: the delay is %v", code, d)
		}
	}
}
