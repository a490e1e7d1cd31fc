package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

// evil is a server that answers JSON-RPC as a test says.
type evil struct {
	url string

	mu       sync.Mutex
	calls    []string // the methods called
	canceled []string // the tasks that were to be cancelled
}

// answering makes an evil server; answer is called for each request but that
// for the card.
func answering(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, method string)) *evil {
	t.Helper()
	e := &evil{}
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".json") {
			_, _ = fmt.Fprintf(w, `{"name":"evil","capabilities":{"streaming":true},"supportedInterfaces":[
				{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, e.url+"/")
			return
		}
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Method string
			Params struct{ ID string }
		}
		_ = json.Unmarshal(body, &req)
		e.mu.Lock()
		e.calls = append(e.calls, req.Method)
		if req.Method == "CancelTask" {
			e.canceled = append(e.canceled, req.Params.ID)
		}
		e.mu.Unlock()
		answer(w, r, req.Method)
	}))
	e.url = hs.URL
	t.Cleanup(hs.Close)
	return e
}

// methods are those called so far.
func (e *evil) methods() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.calls...)
}

// sse writes events; each is the result of a JSON-RPC answer, or, where it
// begins with "!", the answer itself.
func sse(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, ev := range events {
		ev = strings.ReplaceAll(ev, "\n", "") // an event is one line
		if raw, isRaw := strings.CutPrefix(ev, "!"); isRaw {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
		} else {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":%s}\n\n", ev)
		}
		w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // every ResponseWriter here is one
	}
}

func plainJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

const (
	atWork   = `{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`
	notFound = `{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"no such task"}}`
)

func chunk(id, text string, more, last bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","append":%t,"lastChunk":%t,"artifact":{"artifactId":%q,"parts":[{"text":%q}]}}}`, more, last, id, text)
}

func status(state, text string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":%q,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%q}]}}}}`, state, text)
}

func streams(events ...string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, method string) {
		if method != "SendStreamingMessage" {
			plainJSON(w, notFound)
			return
		}
		sse(w, events...)
	}
}

// hijacked takes the connection from the server.
func hijacked(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

func answerOnce(status int, header, body string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		if k, v, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestBadAnswers: whatever a server answers, the failure is one of the eight
// codes, soon, and what came before is kept.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 3<<20)
	cases := []struct {
		name    string
		answer  func(http.ResponseWriter, *http.Request, string)
		code    errcode.Code
		reason  string
		partial string
	}{
		{"HTML", answerOnce(200, "Content-Type: text/html", "<html>"), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"no media type", answerOnce(200, "X-A: b", ""), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"broken JSON", answerOnce(200, "Content-Type: application/json", `{"jsonrpc":`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"JSON of something else", answerOnce(200, "Content-Type: application/json", `[1,2]`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"no result", answerOnce(200, "Content-Type: application/json", `{"jsonrpc":"2.0","id":"1"}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"an empty stream", streams(), errcode.UpstreamUnavailable, "remote_stream_ended", ""},
		{"garbage in the stream", streams(atWork, chunk("a", "part", false, false), "!{{{"), errcode.UpstreamUnavailable, "remote_answer_invalid", "part"},
		{"an unknown event", streams(atWork, `{"surprise":{}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"two events in one", streams(`{"task":{"id":"t"},"message":{"messageId":"m"}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"a null event", streams(`null`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"a null artifact", streams(`{"artifactUpdate":{"taskId":"t-1","artifact":null}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"a task without an id", streams(`{"task":{"status":{"state":"TASK_STATE_COMPLETED"}}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"an unknown state", streams(`{"task":{"id":"t-1","status":{"state":"TASK_STATE_DANCING"}}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"no state", streams(`{"task":{"id":"t-1","status":{}}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"no final status", streams(atWork, chunk("a", "part", false, true)), errcode.UpstreamUnavailable, "remote_stream_ended", "part"},
		{"an event too large", streams(atWork, chunk("a", big, false, false)), errcode.UpstreamUnavailable, "remote_answer_too_large", ""},
		{"too much of small events", func(w http.ResponseWriter, r *http.Request, method string) {
			if method != "SendStreamingMessage" {
				plainJSON(w, notFound)
				return
			}
			sse(w, atWork)
			for r.Context().Err() == nil {
				sse(w, chunk("a", big[:200_000], true, false))
			}
		}, errcode.UpstreamUnavailable, "remote_answer_too_large", "x…"},
		{"a refusal as JSON", answerOnce(200, "Content-Type: application/json",
			`{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"bad"}}`), errcode.InvalidInput, "invalid_params", ""},
		{"a refusal in the stream", streams(`!{"jsonrpc":"2.0","id":"1","error":{"code":-31401,"message":"who?"}}`), errcode.AuthRequired, "unauthenticated", ""},
		{"a refusal whose details are null", streams(`!{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"odd","data":[null]}}`), errcode.UpstreamUnavailable, "remote_answer_invalid", ""},
		{"an unknown refusal", streams(`!{"jsonrpc":"2.0","id":"1","error":{"code":-32050,"message":"odd"}}`), errcode.Internal, "internal_error", ""},
		{"a failure without data", streams(atWork, status("TASK_STATE_FAILED", "it broke")), errcode.Internal, "remote_task_failed", ""},
		{"a failure of another vendor", streams(atWork, `{"statusUpdate":{"taskId":"t-1","status":{"state":"TASK_STATE_FAILED","message":{"messageId":"m","role":"ROLE_AGENT",
			"parts":[{"data":{"error_code":429,"reason":"too_fast"}}]}}}}`), errcode.RateLimited, "too_fast", ""},
		{"a message of a failure", streams(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"errorCode":"NOT_FOUND","errorReason":"gone","errorMessage":"x","retriable":false}}]}}`), errcode.NotFound, "gone", ""},
		{"cancelled by somebody", streams(atWork, status("TASK_STATE_CANCELED", "")), errcode.UpstreamUnavailable, "remote_task_canceled", ""},
		{
			"a guardrail", streams(atWork, chunk("a", "part", false, false), `{"statusUpdate":{"taskId":"t-1","status":{"state":"TASK_STATE_FAILED","message":{"messageId":"m","role":"ROLE_AGENT",
			"parts":[{"data":{"errorCode":"GUARDRAIL_BLOCKED","errorReason":"pii","errorMessage":"x","retriable":false,"guardrail":{"violationCategory":"pii"}}}]}}}}`),
			errcode.GuardrailBlocked, "pii", "",
		},
		{"a redirect", answerOnce(307, "Location: http://127.0.0.1:1/", ""), errcode.UpstreamUnavailable, "remote_redirected", ""},
		{"a redirect to a GET", answerOnce(302, "Location: /.well-known/agent-card.json", ""), errcode.UpstreamUnavailable, "remote_redirected", ""},
		{"400", answerOnce(400, "X-A: b", "no"), errcode.Internal, "http_status_error", ""},
		{"401", answerOnce(401, "X-A: b", "no"), errcode.AuthRequired, "http_status_error", ""},
		{"404", answerOnce(404, "X-A: b", "no"), errcode.NotFound, "http_status_error", ""},
		{"429", answerOnce(429, "Retry-After: 7", "no"), errcode.RateLimited, "http_status_error", ""},
		{"500", answerOnce(500, "X-A: b", "no"), errcode.UpstreamUnavailable, "http_status_error", ""},
		{"503", answerOnce(503, "Retry-After: 7", "no"), errcode.UpstreamUnavailable, "http_status_error", ""},
		{"504", answerOnce(504, "X-A: b", "no"), errcode.UpstreamTimeout, "http_status_error", ""},
		{"it dies before it answers", func(w http.ResponseWriter, _ *http.Request, _ string) {
			_ = hijacked(w).Close()
		}, errcode.UpstreamUnavailable, "connection_closed", ""},
		{"it dies in mid-stream", func(w http.ResponseWriter, _ *http.Request, method string) {
			if method == "SendStreamingMessage" {
				sse(w, atWork, chunk("a", "part", false, false))
			}
			_ = hijacked(w).Close()
		}, errcode.UpstreamUnavailable, "connection_closed", "part"},
		{"it dies in mid-event", func(w http.ResponseWriter, _ *http.Request, method string) {
			if method == "SendStreamingMessage" {
				sse(w, atWork, chunk("a", "part", false, false))
				_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","res`)
				w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // as in sse
			}
			_ = hijacked(w).Close()
		}, errcode.UpstreamUnavailable, "connection_closed", "part"},
		{"a reset in mid-stream", func(w http.ResponseWriter, _ *http.Request, method string) {
			if method == "SendStreamingMessage" {
				sse(w, atWork, chunk("a", "part", false, false))
			}
			conn := hijacked(w)
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}, errcode.UpstreamUnavailable, "connection_reset", "part"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, tc.answer)
			a := to(t, s.url, remote.Retry(retry.MaxAttempts(1)), remote.MaxBytes(2<<20))
			answer, err := a.Call(t.Context(), remote.Text("x"))
			var e *errcode.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Code() != tc.code || e.Reason() != tc.reason || e.Source() != "http:"+host(s.url)+"/evil" {
				t.Errorf("got %v, source %q, cause %v", e, e.Source(), errors.Unwrap(e))
			}
			got := answer.Text()
			if tc.partial == "x…" && strings.HasPrefix(got, "xxx") {
				got = "x…"
			}
			if got != tc.partial {
				t.Errorf("kept %.40q, want %q", got, tc.partial)
			}
			if d, ok := e.RetryAfter(); ok != (tc.name == "429" || tc.name == "503") || ok && d != 7*time.Second {
				t.Errorf("delay %v %v", d, ok)
			}
			if d, err := (errcode.Builder{}).Data(e); err != nil || d.ErrorCode != tc.code {
				t.Errorf("cannot be sent on: %+v, %v", d, err)
			}
		})
	}
}

// TestOddAnswers: what is unusual, but an answer.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, string)
		want   string
	}{
		{"a message", streams(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`), "hi"},
		{"a message as plain JSON", answerOnce(200, "Content-Type: application/json; charset=utf-8",
			`{"jsonrpc":"2.0","id":"1","result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}}`), "hi"},
		{"a finished task as plain JSON", answerOnce(200, "Content-Type: application/json",
			`{"jsonrpc":"2.0","id":"1","result":{"task":{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[null,{"artifactId":"a","parts":[null,{"text":"hi"}]}]}}}`), "hi"},
		{"events after the end", streams(atWork, chunk("a", "hi", false, true), status("TASK_STATE_COMPLETED", ""), chunk("a", "more", true, false), "!{{{"), "hi"},
		{"each chunk the whole so far", streams(atWork, chunk("a", "h", false, false), chunk("a", "hi", false, false), chunk("a", "hi!", false, true), status("TASK_STATE_COMPLETED", "")), "hi!"},
		{"an artifact that is replaced", streams(atWork, chunk("a", "draft", false, false), chunk("a", "final", false, true), status("TASK_STATE_COMPLETED", "")), "draft\nfinal"},
		{"an append to nothing", streams(atWork, chunk("a", "hi", true, false), status("TASK_STATE_COMPLETED", "")), "hi"},
		{"a snapshot at the end", streams(atWork, chunk("a", "h", false, false), chunk("a", "i", true, false),
			`{"task":{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"hi"}]},{"artifactId":"b","parts":[{"text":"new"}]}]}}`), "hi\nnew"},
		{"no ids of artifacts", streams(atWork, chunk("", "h", false, false), chunk("", "i", true, true), status("TASK_STATE_COMPLETED", "")), "hi"},
		{"comments and empty lines", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hello\n\n\n\nid: 1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":\ndata: "+status("TASK_STATE_COMPLETED", "")+"}\n\n")
		}, ""},
		{"the status is lost, the task is not", func(w http.ResponseWriter, _ *http.Request, method string) {
			if method == "GetTask" {
				plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"part"},{"text":" two"}]}]}}`)
				return
			}
			sse(w, atWork, chunk("a", "part", false, false))
		}, "part two"},
		{"it cannot stream, though its card says so", func(w http.ResponseWriter, _ *http.Request, method string) {
			switch method {
			case "SendStreamingMessage":
				plainJSON(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"no streams"}}`)
			case "SendMessage":
				plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+atWork+`}`)
			default:
				plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"slowly"}]}]}}`)
			}
		}, "slowly"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, tc.answer)
			answer, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
			if err != nil || answer.Text() != tc.want {
				t.Errorf("got %q, %v, want %q; called %v", answer.Text(), err, tc.want, s.methods())
			}
		})
	}
}

// TestLyingCards: what is wrong with a card is a failure too.
func TestLyingCards(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, card, reason string }{
		{"HTML", "<html>", "remote_card_invalid"},
		{"nothing", "", "remote_card_invalid"},
		{"an array", "[]", "remote_card_invalid"},
		{"no interfaces", "{}", "remote_card_invalid"},
		{"a null interface", `{"supportedInterfaces":[null]}`, "remote_card_invalid"},
		{"a transport that nobody speaks", `{"supportedInterfaces":[{"url":"http://x","protocolBinding":"SMOKE","protocolVersion":"1.0"}]}`, "remote_card_invalid"},
		{"a version that nobody speaks", `{"supportedInterfaces":[{"url":"http://x","protocolBinding":"JSONRPC","protocolVersion":"7.0"}]}`, "remote_card_invalid"},
		{"it is too large", `{"name":"` + strings.Repeat("x", 5<<20) + `"}`, "remote_card_invalid"},
		{"nobody listens there", `{"capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://127.0.0.1:1/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, "connection_refused"},
		{"no URL", `{"capabilities":{"streaming":true},"supportedInterfaces":[{"url":"::","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, ""},
		{"a file", `{"capabilities":{"streaming":true},"supportedInterfaces":[{"url":"file:///etc/passwd","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.card) }))
			t.Cleanup(hs.Close)
			_, err := to(t, hs.URL+"/loans/", remote.Retry(retry.MaxAttempts(1))).Call(t.Context(), remote.Text("x"))
			e := errcode.Default().Convert(err)
			if e.Code() != errcode.UpstreamUnavailable || tc.reason != "" && e.Reason() != tc.reason || e.Source() != "http:"+host(hs.URL)+"/loans" {
				t.Errorf("got %v, source %q, cause %v", e, e.Source(), errors.Unwrap(e))
			}
		})
	}
}

// TestRefusalsOverREST: what a body in A2A's form says, and the status it came
// with, are weighed against each other.
func TestRefusalsOverREST(t *testing.T) {
	t.Parallel()
	info := func(reason string) string {
		return fmt.Sprintf(`{"error":{"code":0,"status":"X","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","reason":%q}]}}`, reason)
	}
	for name, tc := range map[string]struct {
		status int
		body   string
		code   errcode.Code
		reason string
		delay  time.Duration
	}{
		"invalid params":             {400, info("INVALID_PARAMS"), errcode.InvalidInput, "invalid_params", 0},
		"who are you":                {401, info("UNAUTHENTICATED"), errcode.AuthRequired, "unauthenticated", 0},
		"internal, but unavailable":  {503, info("INTERNAL_ERROR"), errcode.UpstreamUnavailable, "http_status_error", 7 * time.Second},
		"a quota, told by its error": {429, `{"error":{"details":[{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"errorCode":"RATE_LIMITED","errorReason":"quota","errorMessage":"x","retriable":true}}]}}`, errcode.RateLimited, "quota", 7 * time.Second},
		"a proxy's words":            {502, `<html>`, errcode.UpstreamUnavailable, "http_status_error", 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(hs.Close)
			a, err := remote.FromCard(&a2a.AgentCard{
				Name: "rest", Capabilities: a2a.AgentCapabilities{Streaming: true},
				SupportedInterfaces: []*a2a.AgentInterface{nil, {URL: hs.URL, ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version}},
			}, remote.HTTPClient(newClient(t)), remote.Retry(retry.MaxAttempts(1)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Call(t.Context(), remote.Text("x"))
			e := errcode.Default().Convert(err)
			delay, _ := e.RetryAfter()
			if e.Code() != tc.code || e.Reason() != tc.reason || delay != tc.delay {
				t.Errorf("got %v after %v, cause %v", e, delay, errors.Unwrap(e))
			}
		})
	}
}

// TestOldCard: a card of 0.3 that says no more than it must.
func TestOldCard(t *testing.T) {
	t.Parallel()
	back := serve(t, streaming("bank", everything))
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"name":"old","protocolVersion":"0.3.0","url":%q,"capabilities":{"streaming":true},"skills":[]}`, back.url+"/v0.3")
	}))
	t.Cleanup(hs.Close)
	answer, err := to(t, hs.URL).Call(t.Context(), remote.Text("go"))
	if err != nil || answer.Text() != "abc\nr1{\"n\":1}r2" {
		t.Errorf("got %q, %v", answer.Text(), err)
	}
}

// TestRedirectIsNotFollowed: what was meant for one agent is not sent to another.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	other := answering(t, streams(status("TASK_STATE_COMPLETED", "")))
	s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, other.url, http.StatusTemporaryRedirect)
	})
	if _, err := to(t, s.url).Call(t.Context(), remote.Text("x")); errcode.Default().Convert(err).Reason() != "remote_redirected" {
		t.Errorf("got %v", err)
	}
	if got := other.methods(); len(got) != 0 {
		t.Errorf("the other was called: %v", got)
	}
	if diff := cmp.Diff([]string{"SendStreamingMessage"}, s.methods()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
