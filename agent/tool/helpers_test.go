package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// childFile names the file in which a child process counts its calls; set, this
// program is an MCP server on its standard input and output.
const childFile = "A2AEXEC_TEST_MCP_CHILD"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		os.Exit(serveChild(file))
	}
	goleak.VerifyTestMain(m)
}

func serveChild(file string) int {
	s := mcpServer(func() {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(".")
		}
		if err := errors.Join(err, f.Close()); err != nil {
			os.Exit(3)
		}
	}, nil)
	add := func(name string, f func()) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			f()
			return nil, nil, nil
		})
	}
	add("die", func() { os.Exit(1) })
	add("stop", func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP); select {} }) // the signal may take a moment
	add("babble", func() { _, _ = os.Stdout.WriteString("Segmentation fault, I believe\n") })
	add("flood", func() {
		for more := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := os.Stdout.Write(more); err != nil {
				os.Exit(4)
			}
		}
	})
	add("half", func() { _, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","id":`); os.Exit(1) })
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

type account struct {
	ID     string `json:"account_id"       jsonschema:"the account"`
	Amount int    `json:"amount,omitempty" jsonschema:"how much"`
}

// mcpServer is a real server; count is called for each call of a tool, and what
// hangs ends with over.
func mcpServer(count func(), over <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "v1"}, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				count()
			}
			return next(ctx, method, req)
		}
	})
	mcp.AddTool(s, &mcp.Tool{Name: "balance", Description: "the balance of an account"},
		func(_ context.Context, _ *mcp.CallToolRequest, in account) (*mcp.CallToolResult, any, error) {
			return text("balance of " + in.ID + ": 12"), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "refuse"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("no account 4711, tried with password=hunter2")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-over:
		}
		return nil, nil, ctx.Err()
	})
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// child gives a server that is a process of its own, and the number of calls it got.
func child(t *testing.T) (*tool.Server, func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "calls")
	s := tool.NewServer("MCP-001", tool.Stdio(func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childFile+"="+file)
		return cmd
	}))
	closed(t, s)
	return s, func() int {
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		return len(b)
	}
}

func closed(t *testing.T, s *tool.Server) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// overHTTP is a server over streamable HTTP, whose answers to calls of tools can
// be replaced.
type overHTTP struct {
	*tool.Server
	web     *httptest.Server
	calls   atomic.Int64                     // requests that call a tool, answered or not
	replace atomic.Pointer[http.HandlerFunc] // of the answer to a call
	all     atomic.Pointer[http.HandlerFunc] // of the answer to anything
}

func (o *overHTTP) answer(f http.HandlerFunc) { o.replace.Store(&f) }

func newHTTP(t *testing.T) *overHTTP {
	t.Helper()
	o := &overHTTP{}
	over := make(chan struct{})
	serve := mcpOverHTTP(t, over)
	o.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var msg struct{ Method string }
		if f := o.all.Load(); f != nil {
			(*f)(w, r)
			return
		}
		if json.Unmarshal(body, &msg) == nil && msg.Method == "tools/call" {
			o.calls.Add(1)
			if f := o.replace.Load(); f != nil {
				(*f)(w, r)
				return
			}
		}
		serve(w, r)
	}))
	t.Cleanup(o.web.Close)
	t.Cleanup(func() { close(over) }) // a server waits for its tools before it closes
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	o.Server = tool.NewServer("MCP-001", tool.HTTP(o.web.URL, client))
	closed(t, o.Server)
	return o
}

// mcpOverHTTP is a new server with no sessions.
func mcpOverHTTP(t *testing.T, over <-chan struct{}) http.HandlerFunc {
	t.Helper()
	s := mcpServer(func() {}, over)
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil).ServeHTTP
}

// guardedTool finds a tool of the server and guards it.
func guardedTool(t *testing.T, s *tool.Server, name string, opts ...tool.GuardOption) tool.Tool {
	t.Helper()
	return guard(t, toolNamed(t, s, name), opts...)
}

func toolNamed(t *testing.T, s *tool.Server, name string) tool.Tool {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, candidate := range tools {
		if candidate.Spec().Name == name {
			return candidate
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

func guard(t *testing.T, bare tool.Tool, opts ...tool.GuardOption) tool.Tool {
	t.Helper()
	g, err := tool.Guard(bare, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// request is the context of one request.
func request(t *testing.T) context.Context {
	t.Helper()
	return tool.WithRequest(t.Context())
}

// refusing is an address at which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprintf("http://%s/", l.Addr())
}

const anAccount = `{"account_id":"a"}`

// soon is a time in which nothing happens that should not.
const soon = 50 * time.Millisecond

const unavailable = "Upstream tool '%s' temporarily unavailable. Retry may succeed."
