package realerrors_test

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/errcode"
)

func mcpServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "v1"}, nil)
	type in struct {
		Kind string `json:"kind"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		if i.Kind == "wire" {
			return nil, nil, &jsonrpc.Error{Code: -32002, Message: "resource not found"}
		}
		return nil, nil, errors.New("plain")
	})
	return s
}

func mcpClient(t *testing.T, transport mcp.Transport) (*mcp.ClientSession, error) {
	t.Helper()
	return mcp.NewClient(&mcp.Implementation{Name: "c", Version: "v1"}, nil).Connect(t.Context(), transport, nil)
}

func mcpErrors(t *testing.T) []sample {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	serving, err := mcpServer().Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcpClient(t, here)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, unknown := session.CallTool(ctx, &mcp.CallToolParams{Name: "nothing"})
	_, wire := session.CallTool(ctx, &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{"kind": "wire"}})
	_, resource := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///missing"})
	_, prompt := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "missing"})
	_ = serving.Close()
	_, closed := session.CallTool(ctx, &mcp.CallToolParams{Name: "fail"})

	overHTTP := func(url string) error {
		_, err := mcpClient(t, &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1})
		return err
	}
	return []sample{
		{"unknown tool", unknown, want{code: errcode.InvalidInput, reason: "wire_error"}},
		{"error of a tool", wire, want{code: errcode.NotFound, reason: "wire_error"}},
		{"unknown resource", resource, want{code: errcode.InvalidInput, reason: "wire_error"}},
		{"unknown prompt", prompt, want{code: errcode.InvalidInput, reason: "wire_error"}},
		{"closed", closed, want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
		{"refused", overHTTP("http://" + refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "wire_error"}},
		// The library keeps nothing of the status but its text.
		{"401", overHTTP(answering(t, reply{status: 401})), want{code: errcode.Internal, reason: "internal_error"}},
		{"503", overHTTP(answering(t, reply{status: 503})), want{code: errcode.UpstreamUnavailable, reason: "wire_error"}},
		{"method not found", &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "m"}, want{code: errcode.InvalidInput, reason: "wire_error"}},
		{"internal", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "m"}, want{code: errcode.Internal, reason: "wire_error"}},
		{"session gone", mcp.ErrSessionMissing, want{code: errcode.NotFound, reason: "session_not_found"}},
	}
}
