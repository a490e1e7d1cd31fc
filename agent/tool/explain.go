package tool

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

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
		return &errcode.ComponentInvokeError{Component: component, Err: &url.Error{Op: e.Op, URL: publicURL(e.URL), Err: e.Err}}
	}
	if e, ok := errtree.As[*jsonrpc.Error](err); ok && !ofTransport(e) {
		return answered(component, e)
	}
	return &errcode.ComponentInvokeError{Component: component, Err: &transportError{err}}
}

// publicURL is what may be told of an address: in the rest there may be keys.
func publicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// The codes with which servers say that something failed which was no fault of the call's.
const (
	codeFailed   = -32000
	codeTimedOut = -32001
	codeInternal = -32603
	codeArgument = -32602
	codeNone     = 0 // it said none
)

// answered makes an error of what the server answered.
func answered(component string, e *jsonrpc.Error) error {
	switch e.Code {
	case codeFailed, codeInternal, codeNone:
		if err := endIn(e); err != nil {
			return err
		}
		return &errcode.ComponentInvokeError{Component: component, Err: &transportError{e}}
	case codeTimedOut:
		return fmt.Errorf("%s: %w: %w", component, context.DeadlineExceeded, &transportError{e})
	case codeArgument:
		return errcode.New(errcode.InvalidInput, "tool_arguments_refused",
			errcode.Message(refusal(component, e.Message)), errcode.Cause(e))
	}
	if errcode.Default().Classify(e).Code == errcode.InvalidInput { // what we sent, not what the model did
		return &errcode.ComponentInvokeError{Component: component, Err: &transportError{e}}
	}
	return e
}

// inner matches what is of a server's inside: paths, addresses, what follows them.
var inner = regexp.MustCompile(`(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{1,2}[^\s"',;()\[\]]+`)

// refusal is what the model may read of a server's word on the arguments: its
// first line, without credentials and paths.
func refusal(component, text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if first = line(inner.ReplaceAllString(first, "…")); first != "" {
		return first
	}
	return fmt.Sprintf("The tool '%s' refused the arguments.", line(component[strings.LastIndex(component, "/")+1:]))
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
