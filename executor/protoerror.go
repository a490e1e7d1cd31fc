package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"google.golang.org/grpc/codes"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// kind is one protocol error as each binding tells it, and the text a client
// receives where nobody wrote a better one (A2A v1.0 sections 3.3.2, 5.4 and
// 9.5).
type kind struct {
	sentinel error
	rpc      int // JSON-RPC
	http     int
	grpc     codes.Code
	text     string
}

// What the protocol has no sentinel for: the server cannot take the request
// now, or not so many of them. Over JSON-RPC they are internal errors (A2A v1.0
// section 3.3.2, system errors); the error's data tell them apart.
var (
	errUnavailable = errors.New("unavailable")
	errExhausted   = errors.New("resource exhausted")
)

// kinds is in the order of precedence: an error chain with two sentinels (the
// host makes some) is told as the first, always.
var kinds = []kind{
	{a2a.ErrUnauthenticated, -31401, 401, codes.Unauthenticated, "Authentication is required."},
	{a2a.ErrUnauthorized, -31403, 403, codes.PermissionDenied, "Permission denied."},
	{a2a.ErrTaskNotFound, -32001, 404, codes.NotFound, "Task not found."},
	{a2a.ErrTaskNotCancelable, -32002, 400, codes.FailedPrecondition, "The task cannot be canceled in its present state."},
	{a2a.ErrPushNotificationNotSupported, -32003, 400, codes.FailedPrecondition, "Push notifications are not supported."},
	{a2a.ErrUnsupportedOperation, -32004, 400, codes.FailedPrecondition, "This operation is not supported."},
	{a2a.ErrUnsupportedContentType, -32005, 400, codes.InvalidArgument, "The content type is not supported."},
	{a2a.ErrExtendedCardNotConfigured, -32007, 400, codes.FailedPrecondition, "No extended agent card is configured."},
	{a2a.ErrExtensionSupportRequired, -32008, 400, codes.FailedPrecondition, "A required extension was not named in the request."},
	{a2a.ErrVersionNotSupported, -32009, 400, codes.FailedPrecondition, "This protocol version is not supported."},
	{a2a.ErrParseError, -32700, 400, codes.InvalidArgument, "Invalid JSON payload."},
	{a2a.ErrInvalidRequest, -32600, 400, codes.InvalidArgument, "Request payload validation error."},
	{a2a.ErrMethodNotFound, -32601, 404, codes.Unimplemented, "Method not found."},
	{a2a.ErrInvalidParams, -32602, 400, codes.InvalidArgument, "Invalid parameters."},
	{a2a.ErrInvalidAgentResponse, -32006, 500, codes.Internal, "The agent's response was invalid."},
	{errExhausted, -32603, 429, codes.ResourceExhausted, "Too many requests."},
	{errUnavailable, -32603, 503, codes.Unavailable, "The server cannot take the request now."},
	{a2a.ErrServerError, -32000, 500, codes.Internal, "Server error."},
	{context.Canceled, -32603, 499, codes.Canceled, "The request was canceled."},
	{context.DeadlineExceeded, -32603, 504, codes.DeadlineExceeded, "The request ran out of time."},
	internalKind,
}

var internalKind = kind{a2a.ErrInternalError, -32603, 500, codes.Internal, "Internal error."}

// ofContext reports whether the kind tells of the request's own end.
func (k kind) ofContext() bool {
	return k.grpc == codes.Canceled || k.grpc == codes.DeadlineExceeded
}

// reason is the kind's name in google.rpc.ErrorInfo.
func (k kind) reason() string {
	switch {
	case errors.Is(k.sentinel, errUnavailable):
		return "UNAVAILABLE"
	case errors.Is(k.sentinel, errExhausted):
		return "RESOURCE_EXHAUSTED"
	default:
		return a2a.ErrorReason(k.sentinel)
	}
}

// kindOf gives the kind of the sentinel in err, the first in the order of
// kinds where there are several, and whether there is one.
func kindOf(err error) (kind, bool) {
	best := len(kinds)
	errtree.Walk(err, func(e error) bool {
		for i, k := range kinds[:best] {
			if e == k.sentinel { //nolint:errorlint // each node of the tree is looked at by itself
				best = i
				break
			}
		}
		return best > 0
	})
	if best == len(kinds) {
		return internalKind, false
	}
	return kinds[best], true
}

// protocolError is an error as a client receives it: one sentinel, a public
// text, and the details of the error model of google.rpc (errordetails.go makes
// them). Server tells it by itself; for the host's bindings, mounted by somebody
// else, forHost makes an error that they can read.
type protocolError struct {
	kind       kind
	text       string
	meta       map[string]string // of google.rpc.ErrorInfo
	violations []errcode.Violation
	extra      []*errordetails.Typed // that an author attached
	delay      *time.Duration        // after which to try again
	challenge  string                // of a 401 or 403, for WWW-Authenticate
	allow      string                // of a 405

	// What seal adds.
	domain        string
	correlationID string
}

func newProtocolError(k kind, text string) *protocolError {
	if text == "" {
		text = k.text
	}
	return &protocolError{kind: k, text: text, meta: map[string]string{}}
}

// refuse makes the protocol error of a sentinel with a text of our own.
func refuse(sentinel error, text string) *protocolError {
	k, _ := kindOf(sentinel)
	return newProtocolError(k, text)
}

// refuseParams tells which fields of a request are wrong.
func refuseParams(violations ...errcode.Violation) *protocolError {
	e := refuse(a2a.ErrInvalidParams, "")
	e.violations = violations
	return e
}

// refuseField tells of one field, by its JSON Pointer.
func refuseField(field, message string) *protocolError {
	return refuseParams(errcode.Violation{Field: field, Message: message})
}

// retryAfter adds the delay after which a client may try again.
func (e *protocolError) retryAfter(d time.Duration) *protocolError {
	e.delay = &d
	return e
}

// copied is for errors that are shared.
func (e *protocolError) copied() *protocolError {
	c := *e
	c.meta = maps.Clone(e.meta)
	if c.meta == nil {
		c.meta = map[string]string{}
	}
	return &c
}

func (e *protocolError) Error() string { return e.text }

// Unwrap gives the sentinel.
func (e *protocolError) Unwrap() error { return e.kind.sentinel }

// hostError is a protocolError for the host's own bindings.
type hostError struct {
	*protocolError
	host *a2a.Error
}

// Unwrap gives an a2a.Error that is this answer's alone, for the host's helpers
// change the one they are called on.
func (e hostError) Unwrap() error { return e.host }

func (e *protocolError) forHost() error {
	sentinel := e.kind.sentinel
	if e.kind.rpc == internalKind.rpc && !e.kind.ofContext() {
		sentinel = a2a.ErrInternalError
	}
	out := a2a.NewError(sentinel, e.text).WithErrorInfoMeta(e.info())
	for _, d := range e.details() {
		out = out.WithTypedDetails(d.typed())
	}
	return hostError{e, out}
}

// seal gives an error what is known only where it leaves: whose it is, when it
// was, and for an internal one the id under which the log has the cause.
func (c *config) seal(e *protocolError) *protocolError {
	e.domain = c.builder.Domain
	e.meta["timestamp"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	if errors.Is(e.kind.sentinel, a2a.ErrInternalError) {
		e.correlate()
	}
	return e
}

// correlate gives an error the id under which the log has its cause.
func (e *protocolError) correlate() {
	if e.correlationID == "" {
		e.correlationID = newCorrelationID()
		e.meta["correlationId"] = e.correlationID
	}
}

// refusalOf is the protocol error that an authored application error asks for,
// before there is a task. It is nil for one that does not ask for any.
func (c *config) refusalOf(failure *errcode.Error) *protocolError {
	sentinel, ok := sentinels[failure.Code()]
	if !ok {
		return nil
	}
	if failure.Code() == errcode.AuthRequired && failure.Reason() == "permission_denied" {
		sentinel = a2a.ErrUnauthorized
	}
	data, _ := c.builder.Data(failure) // only public text, redacted
	out := refuse(sentinel, data.ErrorMessage)
	out.violations = data.Violations
	if data.RetryAfterMs != nil {
		out = out.retryAfter(time.Duration(*data.RetryAfterMs) * time.Millisecond)
	}
	return out
}

// comeBack is the answer to an error by which a hook (a verifier, an interceptor) says
// that the client is to come back later: 503 or 429. It is nil for any other.
func (c *config) comeBack(err error) *protocolError {
	authored, ok := errtree.As[*errcode.Error](err)
	if !ok || authored == nil {
		return nil
	}
	if out := c.refusalOf(authored); out != nil && out.kind.rpc == internalKind.rpc {
		return out
	}
	return nil
}

var sentinels = map[errcode.Code]error{
	errcode.InvalidInput:        a2a.ErrInvalidParams,
	errcode.AuthRequired:        a2a.ErrUnauthenticated,
	errcode.RateLimited:         errExhausted,
	errcode.UpstreamUnavailable: errUnavailable,
	errcode.UpstreamTimeout:     errUnavailable,
}

// describe is the description of a field violation.
func describe(v errcode.Violation) string {
	switch {
	case v.Message != "":
		return v.Message
	case v.Expected != "":
		return fmt.Sprintf("expected %s", v.Expected)
	default:
		return "invalid value"
	}
}
