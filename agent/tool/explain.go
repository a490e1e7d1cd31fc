package tool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// The codes that the MCP library gives to failures of its own transport.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
)

// explain makes an error of the MCP library into one that the table can judge.
// What the server itself answered stays; everything else is a failure to reach
// the component, around the cause where the library kept it.
func explain(component string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if hitl.Find(err) != nil {
		return err
	}
	if _, panicked := errtree.As[*errcode.PanicError](err); panicked {
		return err
	}
	if e, ok := errtree.As[*url.Error](err); ok {
		return &errcode.ComponentInvokeError{Component: component, Err: e}
	}
	if e, ok := errtree.As[*jsonrpc.Error](err); ok && !ofTransport(e) {
		return e
	}
	return &errcode.ComponentInvokeError{Component: component, Err: &transportError{err}}
}

func ofTransport(e *jsonrpc.Error) bool {
	return e.Code == codeClientClosing || e.Code == codeServerClosing || e.Code == codeRejected
}

// transportError keeps the library's codes from deciding: to the table they
// are answers of the server.
type transportError struct{ err error }

func (e *transportError) Error() string { return errtree.Text(e.err) }

// Is finds what errors.Is would find in the error.
func (e *transportError) Is(target error) bool { return errors.Is(e.err, target) }

// telling makes an HTTP transport tell the status of an answer that is a
// failure, and the delay it asks for: the library keeps neither.
func telling(t mcp.Transport) mcp.Transport {
	h, ok := t.(*mcp.StreamableClientTransport)
	if !ok {
		return t
	}
	client := http.Client{}
	if h.HTTPClient != nil {
		client = *h.HTTPClient
	}
	base := client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	client.Transport = statuses{base, h.OAuthHandler != nil}
	told := *h
	told.HTTPClient = &client
	return &told
}

// statuses makes answers with an error status into errors, but for those that
// the library has a use for.
type statuses struct {
	base  http.RoundTripper
	oauth bool
}

// RoundTrip implements http.RoundTripper.
func (s statuses) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.base.RoundTrip(req)
	if err != nil || s.useful(req, res) {
		return res, err
	}
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	_ = res.Body.Close()
	return nil, &errcode.HTTPStatusError{
		StatusCode: res.StatusCode, Header: res.Header, Method: req.Method, URL: req.URL.Redacted(),
	}
}

func (s statuses) useful(req *http.Request, res *http.Response) bool {
	switch code := res.StatusCode; {
	case code < http.StatusBadRequest, req.Method != http.MethodPost:
		return true
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return s.oauth
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return false
	case code == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "":
		return true // the session is gone
	default: // the server may say more, as JSON-RPC
		return strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	}
}
