package tool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

// asked is a JSON-RPC request.
type asked struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Cursor    string
		Arguments struct{ Slow bool }
	}
}

// rawHTTP is a server that speaks JSON-RPC without a library, with a session, and
// answers as f does. It counts calls of tools.
func rawHTTP(t *testing.T, f func(w http.ResponseWriter, a asked) (handled bool), opts ...tool.ServerOption) (*tool.Server, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &a) != nil || len(a.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if a.Method == "tools/call" {
			calls.Add(1)
		}
		if f(w, a) {
			return
		}
		w.Header().Set("Mcp-Session-Id", "s1")
		switch a.Method {
		case "initialize":
			result(w, a, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
		case "tools/list":
			result(w, a, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			result(w, a, `{"content":[{"type":"text","text":"fine"}]}`)
		default:
			failed(w, a, -32601, "no such method")
		}
	}))
	t.Cleanup(web.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s := tool.NewServer("S", tool.HTTP(web.URL, client), opts...)
	closed(t, s)
	return s, &calls
}

func result(w http.ResponseWriter, a asked, res string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, a.ID, res)
}

func failed(w http.ResponseWriter, a asked, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, a.ID, code, message)
}

func events(text string) func(w http.ResponseWriter, a asked) {
	return func(w http.ResponseWriter, _ asked) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

// oneFails are ways in which a server fails one call.
func oneFails() map[string]func(w http.ResponseWriter, a asked) {
	ways := map[string]func(w http.ResponseWriter, a asked){
		"session missing": func(w http.ResponseWriter, _ asked) { w.WriteHeader(http.StatusNotFound) },
		"bad request": func(w http.ResponseWriter, a asked) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(500)
		},
		"no JSON": func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		},
		"endless": func(w http.ResponseWriter, a asked) {
			w.Header().Set("Content-Type", "application/json")
			for more := []byte(strings.Repeat(" ", 1<<16)); ; {
				if _, err := w.Write(more); err != nil {
					return
				}
			}
		},
		"an event without JSON":              events("data: {nonsense\n\n"),
		"an event with two":                  events("data: {}\ndata: {}\n\n"),
		"a line of an event without a colon": events("Internal Server Error\n\n"),
		"an event that breaks off":           events("id: 1\nretry: 1\ndata: {\"jsonrpc\":"),
		"events without a way back":          events("retry: 1\nid: 1\ndata:\n\n"), // the rest is refused
		"an endless event": func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Content-Type", "text/event-stream")
			for more := bytes.Repeat([]byte("data: x\n"), 1<<12); ; {
				if _, err := w.Write(more); err != nil {
					return
				}
			}
		},
		"an error that says nothing": func(w http.ResponseWriter, a asked) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{}}`, a.ID)
		},
		"a call put off": func(w http.ResponseWriter, a asked) {
			result(w, a, `{"resultType":"input_required","inputRequests":{},"requestState":"later"}`)
		},
		"a question of another kind": func(w http.ResponseWriter, a asked) {
			result(w, a, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{}}}}`)
		},
		"null requests": func(w http.ResponseWriter, a asked) {
			result(w, a, `{"resultType":"input_required","inputRequests":{"a":null}}`)
		},
	}
	for _, code := range []int{-32003, -32004, -32005, -32603, -32000, -32001} {
		ways[fmt.Sprint(code)] = func(w http.ResponseWriter, a asked) { failed(w, a, code, "no") }
	}
	return ways
}

// TestNeverAFourthNetworkCall: whatever a server answers, nothing is repeated in
// secret, and each is a strike.
func TestNeverAFourthNetworkCall(t *testing.T) {
	t.Parallel()
	for name, fail := range oneFails() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
				if a.Method == "tools/call" {
					fail(w, a)
				}
				return a.Method == "tools/call"
			}, tool.MaxBytes(1<<20))
			g, ctx := guardedTool(t, s, "t"), request(t)
			for i := range 4 {
				out, err := g.Call(ctx, nil)
				if told := err == nil && out.Text == fmt.Sprintf(unavailable, "t"); told != (i < 2) {
					t.Errorf("call %d: got %v, %v", i+1, out, err)
				}
				if i == 2 && !errcode.Is(err, errcode.UpstreamUnavailable) && !errcode.Is(err, errcode.UpstreamTimeout) {
					t.Errorf("got %v", err)
				}
			}
			if n := calls.Load(); n != 3 {
				t.Errorf("the server got %d calls, want 3", n)
			}
		})
	}
}

// TestOneFailureEndsNoOtherCall: what one request's call came to leaves that of
// another, on the same connection, alone.
func TestOneFailureEndsNoOtherCall(t *testing.T) {
	t.Parallel()
	for name, fail := range oneFails() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			running, goOn := make(chan struct{}), make(chan struct{})
			s, _ := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
				switch {
				case a.Method != "tools/call":
					return false
				case a.Params.Arguments.Slow:
					close(running)
					<-goOn
					return false
				}
				fail(w, a)
				return true
			}, tool.MaxBytes(1<<20))
			g := guardedTool(t, s, "t")
			type got struct {
				out tool.Output
				err error
			}
			slow := make(chan got)
			go func() {
				out, err := g.Call(request(t), json.RawMessage(`{"Slow":true}`))
				slow <- got{out, err}
			}()
			<-running
			out, err := g.Call(request(t), nil)
			if err != nil || !out.IsError {
				t.Errorf("the one that fails: got %v, %v", out, err)
			}
			close(goOn)
			if o := <-slow; o.err != nil || o.out.Text != "fine" {
				t.Errorf("the other: got %v, %v", o.out, o.err)
			}
		})
	}
}

// TestEndlessList: cursors that come again, and those that never end.
func TestEndlessList(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(string) string{
		"the same": func(string) string { return "a" },
		"longer":   func(c string) string { return c + "a" },
	} {
		s, _ := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
			if a.Method == "tools/list" {
				result(w, a, fmt.Sprintf(`{"tools":[],"nextCursor":%q}`, next(a.Params.Cursor)))
			}
			return a.Method == "tools/list"
		})
		if _, err := s.Tools(t.Context()); err == nil {
			t.Errorf("%s: expected an error", name)
		}
	}
}

// TestEndlessEvent: a message of a stream is bounded too.
func TestEndlessEvent(t *testing.T) {
	t.Parallel()
	s, _ := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
		if a.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for more := bytes.Repeat([]byte("data: x\n"), 1<<12); ; {
			if _, err := w.Write(more); err != nil {
				return true
			}
		}
	}, tool.MaxBytes(1<<20))
	out, err := guardedTool(t, s, "t", tool.Timeout(time.Minute)).Call(request(t), nil)
	if err != nil || out.Text != fmt.Sprintf(unavailable, "t") {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestRefusedArguments: a server's own word on them reaches the model without what
// is inside the server.
func TestRefusedArguments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"missing account_id at /srv/internal/x.go:55 token=abcdef123456\npanic: stack": "missing account_id at … token=[redacted]",
		"": "The tool 't' refused the arguments.",
	} {
		s, _ := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
			if a.Method == "tools/call" {
				failed(w, a, -32602, text)
			}
			return a.Method == "tools/call"
		})
		out, err := guardedTool(t, s, "t").Call(request(t), nil)
		if err != nil || !out.IsError || out.Text != want {
			t.Errorf("got %q, %v, want %q", out.Text, err, want)
		}
	}
}
