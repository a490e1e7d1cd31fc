package showcase

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/stream"
)

// tools is the row "tool MODE": a model calls the tool of an MCP server, which is
// started on a free port for each message.
func tools(ctx context.Context, mode string, w *stream.Writer) (*agent.Result, error) {
	switch mode {
	case "ok", "bad-args", "down", "flaky", "loop":
	default:
		return nil, unknown("tool " + mode)
	}
	bank, err := openBank(mode == "flaky")
	if err != nil {
		return nil, err
	}
	defer bank.close()
	server := tool.NewServer("bank", tool.HTTP(bank.url, bank.client))
	defer func() { _ = server.Close() }()
	offered, err := server.Tools(ctx)
	if err != nil {
		return nil, err
	}
	if mode == "down" {
		bank.close()
	}
	loop, err := tool.NewLoop(teller{mode}, offered, tool.MaxIterations(5))
	if err != nil {
		return nil, err
	}
	if _, err := loop.Run(stream.NewContext(ctx, w), tool.UserText("How much is on account 4711?")); err != nil {
		return nil, err
	}
	return nil, nil //nolint:nilnil // the answer was streamed
}

// teller stands in for a language model: it asks for the balance, deals with what
// the guard tells it, and answers.
type teller struct{ mode string }

// Generate implements tool.Model.
func (m teller) Generate(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
	ask := tool.ModelResponse{Calls: []tool.Call{{Name: "balance", Args: json.RawMessage(`{"account_id":"4711"}`)}}}
	last := req.Messages[len(req.Messages)-1]
	switch {
	case last.Role == tool.User && m.mode == "bad-args":
		ask.Calls[0].Args = json.RawMessage(`{}`)
		return ask, nil
	case last.Role == tool.User, m.mode == "loop", last.Results[0].IsError:
		return ask, nil
	}
	return tool.ModelResponse{Text: fmt.Sprintf("%s (calls: %d)", last.Results[0].Text, len(req.Messages)/2)}, nil
}

// bank is an MCP server on loopback.
type bank struct {
	url    string
	client *http.Client
	web    *http.Server
	done   chan struct{}
}

// openBank starts one; a flaky one refuses the first two calls of a tool.
func openBank(flaky bool) (*bank, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "0.1.0"}, nil)
	type input struct {
		AccountID string `json:"account_id" jsonschema:"the number of the account"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "balance", Description: "the balance of an account"},
		func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			text := fmt.Sprintf("The balance of account %s is 12.50.", in.AccountID)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	var handler http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	if flaky {
		handler = refuseTwice(handler)
	}
	b := &bank{
		url: fmt.Sprintf("http://%s/", l.Addr()), client: &http.Client{Transport: &http.Transport{}},
		web: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}, done: make(chan struct{}),
	}
	go func() {
		defer close(b.done)
		_ = b.web.Serve(l)
	}()
	return b, nil
}

func (b *bank) close() {
	_ = b.web.Close()
	<-b.done
	b.client.CloseIdleConnections()
}

// refuseTwice answers the first two calls of a tool with 503.
func refuseTwice(next http.Handler) http.Handler {
	var refused atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(string(body), `"tools/call"`) && refused.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}
