package tool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// The MCP library calls handlers in goroutines of its own, where a panic would
// end the program.

// containClient keeps what a server sends from ending the program.
func containClient(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				res, err = nil, errcode.NewPanicError(v, debug.Stack())
			}
		}()
		if lacksParams(req) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "expected params"}
		}
		return next(ctx, method, req)
	}
}

// lacksParams reports whether a message has no params where the library looks
// into them all the same, one of them with a lock held.
func lacksParams(req mcp.Request) bool {
	switch p := req.GetParams().(type) {
	case *mcp.ElicitParams:
		return p == nil
	case *mcp.ElicitationCompleteParams:
		return p == nil
	}
	return false
}

// containServer has a handler of a server in this program end as an error
// whatever it does: it panics, exits its goroutine, does not listen to ctx.
func containServer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		o := apart(ctx, errExited, func() (mcp.Result, error) { return next(ctx, method, req) })
		if o.err == error(errExited) { //nolint:errorlint // our own sentinel
			return nil, ended(ctx, endData{Exited: true})
		}
		if p, ok := errtree.As[*errcode.PanicError](o.err); ok {
			return nil, ended(ctx, endData{Panic: fmt.Sprint(p.Value()), Stack: string(p.Stack())})
		}
		return o.out, o.err
	}
}

// endData tells how a handler ended, on the way through the library, which
// passes on nothing but JSON.
type endData struct {
	By           string // a server elsewhere may say anything, and often has a stack
	Panic, Stack string
	Exited       bool
}

// here is what no server elsewhere knows.
var here = rand.Text()

// insideKey marks the sessions of [InProcess]: a server may have others, too, whose
// clients are told nothing of its inside.
type insideKey struct{}

func ended(ctx context.Context, d endData) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errExited.Message()}
	if ctx.Value(insideKey{}) == nil {
		return e
	}
	d.By = here
	if data, err := json.Marshal(d); err == nil {
		e.Data = data
	}
	return e
}

// endIn is how a handler ended that containServer tells of, nil for anything else.
func endIn(e *jsonrpc.Error) error {
	var d endData
	if len(e.Data) > 0 {
		_ = json.Unmarshal(e.Data, &d) // what is no such thing tells nothing
	}
	switch {
	case d.By != here:
	case d.Exited:
		return errExited
	case d.Stack != "":
		return errcode.NewPanicError(d.Panic, []byte(d.Stack))
	}
	return nil
}
