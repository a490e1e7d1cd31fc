package tool

import (
	"context"
	"net/http"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Dial gives a new transport to an MCP server, for each connection one. It may
// be any of package mcp or one's own.
type Dial func(ctx context.Context) (mcp.Transport, error)

// Stdio runs an MCP server as a child process and speaks with it over its
// standard input and output. The function makes the command anew for each
// connection. A message of more than 16 MiB (mcp.DefaultMaxLineLength) ends the
// connection, as anything else that is no message. A child that does not end by itself when it is no longer wanted
// is terminated after two seconds, and killed after two more.
func Stdio(command func() *exec.Cmd) Dial {
	return func(context.Context) (mcp.Transport, error) {
		return &mcp.CommandTransport{Command: command(), TerminateDuration: 2 * time.Second}, nil
	}
}

// HTTP speaks with an MCP server over streamable HTTP. A nil client is
// http.DefaultClient; one of your own is the place for authentication. An answer
// that breaks off is resumed twice where the server allows it.
//
// For OAuth or other settings return an mcp.StreamableClientTransport from a
// [Dial] of your own.
func HTTP(endpoint string, client *http.Client) Dial {
	return func(context.Context) (mcp.Transport, error) {
		return &mcp.StreamableClientTransport{
			Endpoint: endpoint, HTTPClient: client, MaxRetries: 2, DisableStandaloneSSE: true,
		}, nil
	}
}

// InProcess speaks with an MCP server in the same program, which gets a
// middleware: a handler that panics or exits its goroutine fails the call, not
// the program. Clients that the server has elsewhere are told of it in fixed words.
func InProcess(server *mcp.Server) Dial {
	server.AddReceivingMiddleware(containServer)
	return func(ctx context.Context) (mcp.Transport, error) {
		there, here := mcp.NewInMemoryTransports()
		life := context.WithValue(context.WithoutCancel(ctx), insideKey{}, true)
		if _, err := server.Connect(life, there, nil); err != nil {
			return nil, err
		}
		return here, nil
	}
}
