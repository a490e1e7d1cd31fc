package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/stream"
)

// balancer is a reverse proxy in front of a real agent that has trouble.
type balancer struct {
	url string
	// trouble says what becomes of the nth request of a method: 0 passes it on,
	// else it is the status of the answer, or cut or drop.
	trouble func(method string, n int) int
	asked   chan string // the methods, where it is not nil

	mu     sync.Mutex
	counts map[string]int
}

const (
	cut  = -1 // the stream of the answer breaks after the first text
	drop = -2 // the connection is closed instead of an answer
)

func balanced(t *testing.T, back served, b *balancer) *balancer {
	t.Helper()
	to, err := url.Parse(back.url)
	if err != nil {
		t.Fatal(err)
	}
	b.counts = map[string]int{}
	tr := newClient(t).Transport
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: tr, FlushInterval: -1,
		ModifyResponse: func(res *http.Response) error {
			if res.Request.Context().Value(cutKey{}) != nil {
				res.Body = &cutBody{ReadCloser: res.Body}
			}
			return nil
		},
	}
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.serve(w, r, proxy) }))
	t.Cleanup(hs.Close)
	b.url = hs.URL
	return b
}

func (b *balancer) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var msg struct{ Method string }
	_ = json.Unmarshal(body, &msg)
	b.mu.Lock()
	b.counts[msg.Method]++
	n := b.counts[msg.Method]
	b.mu.Unlock()
	if b.asked != nil {
		b.asked <- msg.Method
	}
	switch what := b.trouble(msg.Method, n); what {
	case 0:
		next.ServeHTTP(w, r)
	case cut:
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), cutKey{}, true)))
	case drop:
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(what)
	}
}

func (b *balancer) count(method string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[method]
}

type cutKey struct{}

// cutBody ends with an error after the first text of an artifact.
type cutBody struct {
	io.ReadCloser
	done bool
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.done {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p)
	b.done = bytes.Contains(p[:n], []byte("artifactUpdate"))
	return n, err
}

// behind makes an agent of what is behind the balancer, as its card would say.
func behind(t *testing.T, b *balancer, streams bool, opts ...remote.Option) *remote.Agent {
	t.Helper()
	a, err := remote.FromCard(&a2a.AgentCard{
		Name: "bank", Capabilities: a2a.AgentCapabilities{Streaming: streams},
		SupportedInterfaces: []*a2a.AgentInterface{{URL: b.url + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}},
	}, append([]remote.Option{remote.HTTPClient(newClient(t)), atOnce}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// slowBank writes "one", and when it may go on "two" and "three".
type slowBank struct {
	goOn     chan struct{}
	canceled atomic.Bool
	runs     atomic.Int32
}

func (s *slowBank) run(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
	s.runs.Add(1)
	if err := errors.Join(w.Progress("Looking."), w.Text("one ")); err != nil {
		return nil, err
	}
	select {
	case <-s.goOn:
	case <-ctx.Done():
		s.canceled.Store(true)
		return nil, ctx.Err()
	}
	return nil, errors.Join(w.Text("two "), w.Data(map[string]any{"n": 1}), w.Text("three"))
}

// TestOneFailedReadEndsNothing: what a load balancer does to the requests that
// only read what a remote is doing: the task goes on, nothing of it is lost or
// comes twice, and it is not cancelled.
func TestOneFailedReadEndsNothing(t *testing.T) {
	t.Parallel()
	twice := func(method string, what int) func(string, int) int {
		return func(m string, n int) int {
			if m == method && n <= 2 {
				return what
			}
			return 0
		}
	}
	streamCut := func(next func(method string, n int) int) func(string, int) int {
		return func(m string, n int) int {
			if m == "SendStreamingMessage" {
				return cut
			}
			return next(m, n)
		}
	}
	cases := []struct {
		name    string
		streams bool
		goOn    string // the request after which the remote goes on
		trouble func(string, int) int
	}{
		{"a poll meets 503", false, "GetTask", twice("GetTask", 503)},
		{"a poll meets 502", false, "GetTask", twice("GetTask", 502)},
		{"a poll meets 429", false, "GetTask", twice("GetTask", 429)},
		{"a poll loses its connection", false, "GetTask", twice("GetTask", drop)},
		{"a stream breaks", true, "SubscribeToTask", streamCut(func(string, int) int { return 0 })},
		{"a stream breaks, and reading meets 503", true, "GetTask", streamCut(twice("GetTask", 503))},
		{"a stream breaks, and following it is refused", true, "SubscribeToTask", streamCut(twice("SubscribeToTask", 503))},
		{"a stream breaks, and following it loses its connection", true, "SubscribeToTask", streamCut(twice("SubscribeToTask", drop))},
		{"all streams break", true, "SubscribeToTask", func(m string, _ int) int {
			if strings.Contains(m, "Stream") || strings.Contains(m, "Subscribe") {
				return cut
			}
			return 0
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bank := &slowBank{goOn: make(chan struct{})}
			back := serve(t, streaming("bank", bank.run))
			b := balanced(t, back, &balancer{trouble: tc.trouble, asked: make(chan string, 1000)})
			a := behind(t, b, tc.streams)
			go func() {
				defer close(bank.goOn)
				for m := range b.asked {
					if m == tc.goOn {
						return
					}
				}
			}()
			k := serve(t, streaming("front", a.Handle)).talk(t)
			k.follow("pay 100")
			if got := contents(k.task); k.task.Status.State != a2a.TaskStateCompleted || len(got) != 1 || got[0] != ": one two {data}three" {
				t.Errorf("got %s %q", k.task.Status.State, got)
			}
			said := 0
			for _, m := range k.task.History {
				if m.Role == a2a.MessageRoleAgent {
					said++
				}
			}
			if said > 1 || bank.runs.Load() != 1 || bank.canceled.Load() || b.count("CancelTask") != 0 {
				t.Errorf("%d messages, %d runs, cancelled %t, by %d requests", said, bank.runs.Load(), bank.canceled.Load(), b.count("CancelTask"))
			}
		})
	}
}

// TestReadsThatKeepFailing: the policy says how often, and the outcome is not
// known then. The task is cancelled, again and again as the policy says.
func TestReadsThatKeepFailing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		streams bool
		status  int // that reading meets
		policy  remote.Option
		reads   int
		code    errcode.Code
	}{
		"a poll":                  {false, 503, atOnce, 3, errcode.UpstreamUnavailable},
		"a stream":                {true, 503, atOnce, 3, errcode.UpstreamUnavailable},
		"a poll, not repeated":    {false, 503, remote.Retry(retry.MaxAttempts(1)), 1, errcode.UpstreamUnavailable},
		"a poll that is refused":  {false, 403, atOnce, 1, errcode.AuthRequired},
		"a stream, five attempts": {true, 503, remote.Retry(retry.InitialDelay(0), retry.MaxAttempts(5)), 5, errcode.UpstreamUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bank := &slowBank{goOn: make(chan struct{})}
			b := balanced(t, serve(t, streaming("bank", bank.run)), &balancer{trouble: func(m string, n int) int {
				switch {
				case m == "SendStreamingMessage":
					return cut
				case m == "GetTask":
					return tc.status
				case m == "CancelTask" && n < tc.reads:
					return 503
				}
				return 0
			}})
			_, err := behind(t, b, tc.streams, tc.policy, remote.CancelTimeout(10*time.Second)).Call(t.Context(), remote.Text("pay"))
			e := errcode.Default().Convert(err)
			if e.Code() != tc.code || e.Retriable() || !errors.Is(err, remote.ErrOutcomeUnknown) {
				t.Errorf("got %v, retriable %t", e, e.Retriable())
			}
			if b.count("GetTask") != tc.reads || b.count("CancelTask") != tc.reads || bank.runs.Load() != 1 {
				t.Errorf("read %d times, cancelled %d times, of %d runs", b.count("GetTask"), b.count("CancelTask"), bank.runs.Load())
			}
		})
	}
}

// TestParkedRemoteIsCancelledThroughTrouble: one refused request is not the last
// word on a task that nobody will answer.
func TestParkedRemoteIsCancelledThroughTrouble(t *testing.T) {
	t.Parallel()
	bank := &bank{}
	back := serve(t, streaming("bank", bank.run))
	b := balanced(t, back, &balancer{trouble: func(m string, n int) int {
		if m == "CancelTask" && n == 1 {
			return 503
		}
		return 0
	}})
	k := serve(t, streaming("front", behind(t, b, true).Handle)).talk(t)
	k.say("go")
	k.cancel()
	if got := back.await(t, bank.distinct()[0]); got != a2a.TaskStateCanceled || b.count("CancelTask") != 2 {
		t.Errorf("the remote task is %s after %d requests", got, b.count("CancelTask"))
	}
}

// TestSubscriptionsThatCannotBeTrusted: a second stream that does not begin with
// all there is, as of A2A 0.3, may miss something; the task is asked instead.
func TestSubscriptionsThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	snapshot := func(state, text string) string {
		return fmt.Sprintf(`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_%s"},"artifacts":[{"artifactId":"a","parts":[{"text":%q}]}]}`, state, text)
	}
	for name, first := range map[string]string{
		"no snapshot":  chunk("a", "e", true, false),
		"an older one": `{"task":` + snapshot("WORKING", "ab") + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads atomic.Int32
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
				switch method {
				case "SendStreamingMessage":
					sse(w, atWork, chunk("a", "ab", false, false), chunk("a", "c", true, false))
				case "SubscribeToTask":
					sse(w, first, chunk("a", "e", true, true), status("TASK_STATE_COMPLETED", ""))
				default:
					// The first is older than what the stream had.
					all := []string{snapshot("WORKING", "ab"), snapshot("WORKING", "abcd"), snapshot("COMPLETED", "abcde")}
					plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+all[min(int(reads.Add(1)), 3)-1]+`}`)
				}
			})
			answer, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
			if err != nil || answer.Text() != "abcde" {
				t.Errorf("got %q, %v; called %v", answer.Text(), err, s.methods())
			}
		})
	}
}

// TestBrokenStreamOfATaskThatStandsStill: a task that says that it is at work, and
// nothing else, ends the call in time, and is cancelled. It is not asked in a
// burst meanwhile.
func TestBrokenStreamOfATaskThatStandsStill(t *testing.T) {
	t.Parallel()
	canceled := make(chan string, 1)
	s := answering(t, func(w http.ResponseWriter, r *http.Request, method string) {
		switch method {
		case "SendStreamingMessage", "SubscribeToTask":
			sse(w, atWork)
		default:
			hangs(canceled)(w, r, method)
		}
	})
	_, err := to(t, s.url, atOnce, remote.IdleTimeout(time.Second), remote.CancelTimeout(10*time.Second)).Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "remote_idle" || e.Retriable() || !errors.Is(err, remote.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	<-canceled
	if n := len(s.methods()); n > 20 {
		t.Errorf("%d requests: %v", n, s.methods())
	}
}
