package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

// TestHandlersInProcess: the library calls them in goroutines of its own, where a
// panic ended the program.
func TestHandlersInProcess(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "v1"}, nil)
	for name, f := range map[string]func(){"panics": func() { panic("index of ours") }, "exits": runtime.Goexit, "works": func() {}} {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			f()
			return text("fine"), nil, nil
		})
	}
	srv := tool.NewServer("MCP-001", tool.InProcess(s))
	closed(t, srv)
	_, err := guardedTool(t, srv, "panics").Call(request(t), nil)
	expectEscape(t, err, errcode.Internal, "panic", "mcp:MCP-001/panics", 0)
	var p *errcode.PanicError
	if !errors.As(err, &p) || p.Value() != "index of ours" || !strings.Contains(string(p.Stack()), "TestHandlersInProcess") {
		t.Errorf("the log would say %v", p.Value())
	}
	if strings.Contains(err.Error(), "ours") {
		t.Errorf("the panic's value is public: %v", err)
	}
	_, err = guardedTool(t, srv, "exits").Call(request(t), nil)
	expectEscape(t, err, errcode.Internal, "tool_exited", "mcp:MCP-001/exits", 0)
	if out, err := guardedTool(t, srv, "works").Call(request(t), nil); err != nil || out.Text != "fine" {
		t.Errorf("after that: got %v, %v", out, err)
	}
}

// TestMessagesWithoutParams: one such message of a server ended the program.
func TestMessagesWithoutParams(t *testing.T) {
	t.Parallel()
	for _, msg := range []string{
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":null}`,
		`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":null}`,
		`{"jsonrpc":"2.0","id":"e","method":"elicitation/create"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}`,
		`{"jsonrpc":"2.0","id":"r","method":"roots/list","params":null}`,
		`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":null}`,
		`{"jsonrpc":"2.0","id":"p","method":"ping","params":null}`,
	} {
		s, _ := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
			if a.Method == "tools/call" {
				w.Header().Set("Content-Type", "text/event-stream")
				for range 2 { // a lock that was left would be met the second time
					_, _ = fmt.Fprintf(w, "data: %s\n\n", msg)
				}
				_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"fine\"}]}}\n\n", a.ID)
			}
			return a.Method == "tools/call"
		})
		if out, err := guardedTool(t, s, "t").Call(request(t), nil); err != nil || out.Text != "fine" {
			t.Errorf("%s: got %v, %v", msg, out, err)
		}
	}
}

// TestErrorsOfAServerStayInside: those that are no word on the arguments told
// the model paths and hosts, and said that it had made a mistake.
func TestErrorsOfAServerStayInside(t *testing.T) {
	t.Parallel()
	for _, code := range []int{-32700, -32600, -32601, -32002, -32003, -32004, -32005, -32008, -32009, -32603, -32000, -32001, 404, 1} {
		s, calls := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
			if a.Method == "tools/call" {
				failed(w, a, code, "open /srv/app/secret.cfg failed: dial tcp 10.0.0.7:5432\nstack trace")
			}
			return a.Method == "tools/call"
		})
		ctx, bank := request(t), guardedTool(t, s, "t")
		for range 3 {
			out, err := bank.Call(ctx, nil)
			if strings.Contains(out.Text, "srv") || strings.Contains(out.Text, "10.0.0.7") {
				t.Errorf("%d: the model reads %q", code, out.Text)
			}
			if errcode.Is(err, errcode.InvalidInput) {
				t.Errorf("%d: the client is blamed: %v", code, err)
			}
		}
		if n := calls.Load(); n > 3 {
			t.Errorf("%d: %d calls", code, n)
		}
	}
}

// TestStackOfAServer: servers of other languages give the stack of a failure as data,
// which was taken for a panic of ours, and failed the request at once.
func TestStackOfAServer(t *testing.T) {
	t.Parallel()
	s, calls := rawHTTP(t, func(w http.ResponseWriter, a asked) bool {
		if a.Method == "tools/call" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"m","data":{"stack":"at bank.js:1","exited":true}}}`, a.ID)
		}
		return a.Method == "tools/call"
	})
	ctx, bank := request(t), guardedTool(t, s, "t")
	for range 2 {
		if out, err := bank.Call(ctx, nil); err != nil || out.Text != fmt.Sprintf(unavailable, "t") {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	_, err := bank.Call(ctx, nil)
	expectEscape(t, err, errcode.UpstreamUnavailable, "component_invoke_error", "mcp:S/t", 2)
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls", n)
	}
}

// TestPanicOfASharedServer: of a server that is in the program, and served to others,
// too, those were sent the value of a panic and its stack.
func TestPanicOfASharedServer(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "panics"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		panic("index of ours")
	})
	here := tool.NewServer("here", tool.InProcess(s))
	closed(t, here)
	_, err := guardedTool(t, here, "panics").Call(request(t), nil)
	expectEscape(t, err, errcode.Internal, "panic", "mcp:here/panics", 0)

	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(web.Close)
	res, err := web.Client().Do(call(t, web.URL, "panics"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(body), "-32603") || strings.Contains(string(body), "ours") || strings.Contains(string(body), ".go") {
		t.Errorf("got %s, %v", body, err)
	}
}

func call(t *testing.T, url, name string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return req
}
