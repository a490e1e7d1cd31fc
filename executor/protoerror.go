package executor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// kind is one protocol error: the sentinel by which the host's bindings choose
// the JSON-RPC code, the HTTP status and the reason, the gRPC code, and the
// text a client receives where nobody wrote a better one
// (A2A v1.0 sections 3.3.2 and 5.4).
type kind struct {
	sentinel error
	grpc     codes.Code
	text     string
}

// errUnavailable is what the protocol has no sentinel for: the server cannot take
// the request now. Over JSON-RPC it is an internal error (A2A v1.0 section 3.3.2,
// system errors); the error's data tell it apart.
var errUnavailable = errors.New("unavailable")

// kinds is in the order of precedence: an error chain with two sentinels (the
// host makes some) is told as the first, always.
var kinds = []kind{
	{a2a.ErrUnauthenticated, codes.Unauthenticated, "Authentication is required."},
	{a2a.ErrUnauthorized, codes.PermissionDenied, "Permission denied."},
	{a2a.ErrTaskNotFound, codes.NotFound, "Task not found."},
	{a2a.ErrTaskNotCancelable, codes.FailedPrecondition, "The task cannot be canceled in its present state."},
	{a2a.ErrPushNotificationNotSupported, codes.FailedPrecondition, "Push notifications are not supported."},
	{a2a.ErrUnsupportedOperation, codes.FailedPrecondition, "This operation is not supported."},
	{a2a.ErrUnsupportedContentType, codes.InvalidArgument, "The content type is not supported."},
	{a2a.ErrExtendedCardNotConfigured, codes.FailedPrecondition, "No extended agent card is configured."},
	{a2a.ErrExtensionSupportRequired, codes.FailedPrecondition, "A required extension was not named in the request."},
	{a2a.ErrVersionNotSupported, codes.FailedPrecondition, "This protocol version is not supported."},
	{a2a.ErrParseError, codes.InvalidArgument, "Invalid JSON payload."},
	{a2a.ErrInvalidRequest, codes.InvalidArgument, "Request payload validation error."},
	{a2a.ErrMethodNotFound, codes.Unimplemented, "Method not found."},
	{a2a.ErrInvalidParams, codes.InvalidArgument, "Invalid parameters."},
	{a2a.ErrInvalidAgentResponse, codes.Internal, "The agent's response was invalid."},
	{errUnavailable, codes.Unavailable, "The server cannot take the request now."},
	{a2a.ErrServerError, codes.Internal, "Server error."},
	{context.Canceled, codes.Canceled, "The request was canceled."},
	{context.DeadlineExceeded, codes.DeadlineExceeded, "The request ran out of time."},
	internalKind,
}

var internalKind = kind{a2a.ErrInternalError, codes.Internal, "Internal error."}

// ofContext reports whether the kind tells of the request's own end.
func (k kind) ofContext() bool {
	return k.grpc == codes.Canceled || k.grpc == codes.DeadlineExceeded
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
// text, and the details of the error model of google.rpc. The host's JSON-RPC
// and HTTP+JSON bindings read it through Unwrap, gRPC through GRPCStatus.
type protocolError struct {
	kind       kind
	text       string
	meta       map[string]string
	violations []errcode.Violation
	extra      []*errordetails.Typed
	delay      *time.Duration // after which to try again
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

// retryAfter adds the delay after which a client may try again.
func (e *protocolError) retryAfter(d time.Duration) *protocolError {
	e.delay = &d
	return e
}

func (e *protocolError) Error() string { return e.text }

// Unwrap gives the host a fresh a2a.Error, for the host's own helpers change
// the one they are called on.
func (e *protocolError) Unwrap() error {
	out := a2a.NewError(e.kind.sentinel, e.text)
	if len(e.meta) > 0 {
		out = out.WithErrorInfoMeta(e.meta)
	}
	if len(e.violations) > 0 {
		out = out.WithTypedDetails(errordetails.NewTyped(badRequestType, map[string]any{"fieldViolations": e.fieldViolations()}))
	}
	return out.WithTypedDetails(e.extra...).WithTypedDetails(e.delayed()...)
}

const badRequestType = "type.googleapis.com/google.rpc.BadRequest"

func (e *protocolError) fieldViolations() []any {
	out := make([]any, 0, len(e.violations))
	for _, v := range e.violations {
		out = append(out, map[string]any{"field": fieldPath(v.Field), "description": describe(v)})
	}
	return out
}

// GRPCStatus gives the gRPC binding the same error with its details as the
// types that they are.
func (e *protocolError) GRPCStatus() *status.Status {
	st := status.New(e.kind.grpc, e.text)
	info := &errdetails.ErrorInfo{Reason: a2a.ErrorReason(e.kind.sentinel), Domain: a2a.ProtocolDomain, Metadata: e.meta}
	details := []protoadapt.MessageV1{info}
	if len(e.violations) > 0 {
		br := &errdetails.BadRequest{}
		for _, v := range e.violations {
			br.FieldViolations = append(br.FieldViolations,
				&errdetails.BadRequest_FieldViolation{Field: fieldPath(v.Field), Description: describe(v)})
		}
		details = append(details, br)
	}
	for _, d := range e.extra {
		if s, err := structpb.NewStruct(d.Value); err == nil {
			details = append(details, s)
		}
	}
	if e.delay != nil {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(*e.delay)})
		if s, err := structpb.NewStruct(e.data()); err == nil {
			details = append(details, s)
		}
	}
	withDetails, err := st.WithDetails(details...)
	if err != nil {
		return st
	}
	return withDetails
}

// fieldPath turns a JSON Pointer into the path that google.rpc.BadRequest
// uses: "/message/parts" is "message.parts".
func fieldPath(pointer string) string {
	path := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(path)
}

func describe(v errcode.Violation) string {
	switch {
	case v.Message != "":
		return v.Message
	case v.Expected != "":
		return "expected " + v.Expected
	default:
		return "invalid value"
	}
}
