package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

// legacy is a server over HTTP with a session; handle answers what else comes.
func legacy(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, a asked) (handled bool), opts ...tool.ServerOption) *tool.Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &a)
		if handle(w, r, a) {
			return
		}
		switch a.Method {
		case "initialize":
			result(w, a, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
		case "tools/list":
			result(w, a, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			result(w, a, `{"content":[{"type":"text","text":"fine"}]}`)
		default:
			if len(a.ID) > 0 {
				failed(w, a, -32601, "no such method")
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(web.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s := tool.NewServer("S", tool.HTTP(web.URL, client), opts...)
	closed(t, s)
	return s
}

// TestStreamIsResumed: an answer that breaks off is asked for again, from where it
// was, until nothing more comes of that.
func TestStreamIsResumed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rest func(w http.ResponseWriter, n int64, id string)
		gets int64
		text string
	}{
		"the rest comes": {func(w http.ResponseWriter, _ int64, id string) {
			events("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"late\"}]}}\n\n")(w, asked{})
		}, 1, "late"},
		"the second time": {func(w http.ResponseWriter, n int64, id string) {
			if n == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			events("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"late\"}]}}\n\n")(w, asked{})
		}, 2, "late"},
		"it never comes": {func(w http.ResponseWriter, _ int64, _ string) {
			events("retry: 1\nid: 1\ndata:\n\n")(w, asked{})
		}, 2, fmt.Sprintf(unavailable, "t")},
		"rubbish comes": {func(w http.ResponseWriter, _ int64, _ string) {
			events("id: 2\ndata: rubbish\n\n")(w, asked{})
		}, 1, fmt.Sprintf(unavailable, "t")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var id atomic.Value
			var gets, inits atomic.Int64
			s := legacy(t, func(w http.ResponseWriter, r *http.Request, a asked) bool {
				switch {
				case r.Method == http.MethodGet:
					called, _ := id.Load().(string)
					c.rest(w, gets.Add(1), called)
				case a.Method == "tools/call" && id.Load() == nil:
					id.Store(string(a.ID))
					events("retry: 1\nid: 1\ndata:\n\n")(w, a)
				default:
					if a.Method == "initialize" {
						inits.Add(1)
					}
					return false
				}
				return true
			})
			g := guardedTool(t, s, "t")
			out, err := g.Call(request(t), nil)
			if err != nil || out.Text != c.text || gets.Load() != c.gets {
				t.Errorf("got %v, %v, asked %d times for the rest", out, err, gets.Load())
			}
			if out, err := g.Call(request(t), nil); err != nil || out.Text != "fine" || inits.Load() != 1 {
				t.Errorf("the next call: got %v, %v, connected %d times", out, err, inits.Load())
			}
		})
	}
}

// TestSessionForgottenWith400: many servers say so with 400 instead of 404; every
// later call failed until our program was started again.
func TestSessionForgottenWith400(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		},
		"text": func(w http.ResponseWriter) { http.Error(w, "Invalid session", http.StatusBadRequest) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var session atomic.Int64
			s := legacy(t, func(w http.ResponseWriter, r *http.Request, a asked) bool {
				id := fmt.Sprint("s", session.Load())
				if a.Method == "initialize" {
					w.Header().Set("Mcp-Session-Id", id)
					return false
				}
				if r.Header.Get("Mcp-Session-Id") != id {
					answer(w)
					return true
				}
				return false
			})
			g := guardedTool(t, s, "t")
			session.Add(1) // it is started again
			if out, err := g.Call(request(t), nil); err != nil || out.Text != fmt.Sprintf(unavailable, "t") {
				t.Errorf("the first call: got %v, %v", out, err)
			}
			if out, err := g.Call(request(t), nil); err != nil || out.Text != "fine" {
				t.Errorf("the second call: got %v, %v", out, err)
			}
		})
	}
}

// TestRefusalOfACallWith400: an answer to the call itself is its error.
func TestRefusalOfACallWith400(t *testing.T) {
	t.Parallel()
	s := legacy(t, func(w http.ResponseWriter, _ *http.Request, a asked) bool {
		if a.Method == "initialize" {
			w.Header().Set("Mcp-Session-Id", "s")
		}
		if a.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"missing account_id"}}`, a.ID)
		return true
	})
	if out, err := guardedTool(t, s, "t").Call(request(t), nil); err != nil || out.Text != "missing account_id" {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestKeyInTheAddress: what follows the host of an MCP server's address is told
// to nobody.
func TestKeyInTheAddress(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(broken.Close)
	for name, address := range map[string]string{"refused": refusing(t), "bad gateway": broken.URL} {
		s := tool.NewServer("MCP-001", tool.HTTP(strings.TrimSuffix(address, "/")+"/hunter2/mcp?key=hunter2&code=hunter2", broken.Client()))
		closed(t, s)
		a := agent.New("a", agent.Invoke(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
			_, err := s.Tools(ctx)
			return nil, err
		}))
		raw, _ := json.Marshal(executortest.Run(t, a, "x").Task)
		if bytes.Contains(raw, []byte("hunter2")) {
			t.Errorf("%s: the client reads %s", name, raw)
		}
	}
}

// TestSignInThatIsRequired: the error with which servers of each protocol version
// ask for it failed the task.
func TestSignInThatIsRequired(t *testing.T) {
	t.Parallel()
	var signed atomic.Bool
	s := mcp.NewServer(&mcp.Implementation{Name: "travel", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "book"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		if signed.Load() {
			return text("booked"), nil, nil
		}
		return nil, nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{
			{Mode: "url", Message: "Please sign in.", URL: "https://login.example/", ElicitationID: "e1"},
		})
	})
	dial := tool.InProcess(s)
	asks := executortest.Run(t, booker(t, dial, `{}`), "x")
	if data := asks.AssertAuthRequired(t, "Please sign in."); data["url"] != "https://login.example/" || data["provider"] != "travel" {
		t.Errorf("got %v", data)
	}
	again := asks.Reply(t, "done") // but was not
	again.AssertAuthRequired(t, "Please sign in.")
	signed.Store(true)
	again.Reply(t, "now").AssertText(t, "booked")

	signed.Store(false)
	executortest.Run(t, booker(t, dial, `{}`), "x").Reply(t, `{"action":"decline"}`).AssertText(t, "The user declined to sign in.")

	srv := tool.NewServer("travel", dial)
	closed(t, srv)
	if _, err := guardedTool(t, srv, "book").Call(request(t), nil); !errcode.Is(err, errcode.Internal) {
		t.Errorf("where nobody can be asked: got %v", err)
	}
}
