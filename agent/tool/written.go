package tool

import (
	"context"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// writtenKey is where a call finds out whether anything of it was written. Only
// what surely was not may be repeated in secret.
type writtenKey struct{}

func markWritten(ctx context.Context) (called bool) {
	w, ok := ctx.Value(writtenKey{}).(*atomic.Bool)
	if ok {
		w.Store(true)
	}
	return ok
}

// watches reports whether a transport's connection tells what it writes: over
// HTTP the round tripper does, over those of bytes [watched]. The library asks others
// for methods that a wrapper has not got.
func watches(t mcp.Transport) (wrap, known bool) {
	switch t.(type) {
	case *mcp.StreamableClientTransport:
		return false, true
	case *mcp.CommandTransport, *mcp.InMemoryTransport, *mcp.IOTransport, *mcp.StdioTransport:
		return true, true
	}
	return false, false
}

// watched is a connection that tells what it writes.
type watched struct{ mcp.Connection }

// Write implements mcp.Connection.
func (w watched) Write(ctx context.Context, msg jsonrpc.Message) error {
	markWritten(ctx)
	return w.Connection.Write(ctx, msg)
}
