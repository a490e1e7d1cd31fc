package executor

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/errcode"
)

// The details of a protocol error are protocol buffers: google.rpc.ErrorInfo,
// the error data of this package as a google.protobuf.Struct, and BadRequest
// and RetryInfo where they apply. gRPC sends them as they are, the others in
// the JSON form of google.protobuf.Any (A2A v1.0 section 3.3.2).

const typePrefix = "type.googleapis.com/"

// detail is one of them in both forms.
type detail struct{ message proto.Message }

// info is the metadata of google.rpc.ErrorInfo.
func (e *protocolError) info() map[string]string { return maps.Clone(e.meta) }

// details are those beside ErrorInfo, the error data first: the host's client
// takes the first one for the error's own.
func (e *protocolError) details() []detail {
	var out []detail
	if s, err := structpb.NewStruct(e.data()); err == nil {
		out = append(out, detail{s})
	}
	if len(e.violations) > 0 {
		out = append(out, detail{e.badRequest()})
	}
	if e.delay != nil {
		out = append(out, detail{&errdetails.RetryInfo{RetryDelay: durationpb.New(*e.delay)}})
	}
	for _, d := range e.extra {
		if m := messageOf(d); m != nil {
			out = append(out, detail{m})
		}
	}
	return out
}

func (e *protocolError) badRequest() *errdetails.BadRequest {
	br := &errdetails.BadRequest{}
	for _, v := range e.violations {
		br.FieldViolations = append(br.FieldViolations,
			&errdetails.BadRequest_FieldViolation{Field: fieldPath(v.Field), Description: describe(v)})
	}
	return br
}

// data is the same error in the fields of a failed task's data part, so that a
// client has one way to read both. It is the error's data in A2A 0.3.
func (e *protocolError) data() map[string]any {
	code := e.code()
	d := errcode.Data{
		ErrorCode: code, ErrorReason: strings.ToLower(e.kind.reason()), ErrorMessage: e.text,
		Retriable: code.Retriable(), Domain: e.domain, Violations: e.violations, CorrelationID: e.correlationID,
	}
	if e.delay != nil {
		ms := int64(math.Ceil(float64(*e.delay) / float64(time.Millisecond)))
		d.RetryAfterMs = &ms
	}
	d.Details = map[string]any{}
	for _, x := range e.extra {
		if x.TypeURL == errordetails.StructType {
			maps.Copy(d.Details, x.Value)
		}
	}
	if id := e.meta["taskId"]; id != "" {
		d.Details["taskId"] = id
	}
	return d.Map()
}

func (e *protocolError) code() errcode.Code {
	switch {
	case errors.Is(e.kind.sentinel, errExhausted):
		return errcode.RateLimited
	case errors.Is(e.kind.sentinel, errUnavailable):
		return errcode.UpstreamUnavailable
	case errors.Is(e.kind.sentinel, context.DeadlineExceeded):
		return errcode.UpstreamTimeout
	default:
		return errcode.FromJSONRPC(e.kind.rpc)
	}
}

// messageOf gives an author's detail its own type back, where that is known.
func messageOf(d *errordetails.Typed) proto.Message {
	if d.TypeURL == errordetails.StructType {
		s, err := structpb.NewStruct(d.Value)
		if err != nil {
			return nil
		}
		return s
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(d.TypeURL[strings.LastIndex(d.TypeURL, "/")+1:]))
	if err == nil {
		m := mt.New().Interface()
		raw, err := json.Marshal(d.Value)
		if err == nil && (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, m) == nil {
			return m
		}
	}
	return messageOf(errordetails.NewFromStruct(d.Value))
}

func (d detail) typeURL() string {
	return typePrefix + string(d.message.ProtoReflect().Descriptor().FullName())
}

// object is the detail in JSON, without its type. The well-known type Struct
// stands under "value", as that form has it.
func (d detail) object() map[string]any {
	if s, ok := d.message.(*structpb.Struct); ok {
		return map[string]any{"value": s.AsMap()}
	}
	raw, err := protojson.Marshal(d.message)
	var m map[string]any
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return map[string]any{}
	}
	return m
}

func (d detail) typed() *errordetails.Typed { return errordetails.NewTyped(d.typeURL(), d.object()) }

// list is all details in JSON, ErrorInfo first.
func (e *protocolError) list() []*errordetails.Typed {
	out := []*errordetails.Typed{errordetails.NewErrorInfo(e.kind.reason(), a2a.ProtocolDomain, e.info())}
	for _, d := range e.details() {
		out = append(out, d.typed())
	}
	return out
}

// rest03 is what a body of HTTP+JSON 0.3 has beside the error of 1.0. A2A 0.3
// names no form, and each of its SDKs looks for another: a2a-js for the code of
// JSON-RPC, a2a-sdk (Python) for the name of its class.
func (e *protocolError) rest03() map[string]any {
	return map[string]any{"code": e.kind.rpc, "type": className(e.kind.reason()), "message": e.text, "data": e.data()}
}

// className is what SDKs call the error of a reason: TaskNotFoundError of
// TASK_NOT_FOUND, InternalError of INTERNAL_ERROR.
func className(reason string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(strings.TrimSuffix(reason, "_ERROR"), "_") {
		if word != "" {
			out.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return out.String() + "Error"
}

// GRPCStatus gives the gRPC binding the same error with its details as the
// types that they are, as many as a client takes: clients drop a trailer of more
// than 8 KiB, those of C-core all that it says. The violations give way first,
// then what an author attached; ErrorInfo stays.
func (e *protocolError) GRPCStatus() *status.Status {
	st := e.grpcStatus()
	if proto.Size(st.Proto()) <= maxStatus {
		return st
	}
	c := e.shortened()
	for st = c.grpcStatus(); proto.Size(st.Proto()) > maxStatus; st = c.grpcStatus() {
		switch {
		case len(c.violations) > 1:
			c.violations = c.violations[:len(c.violations)/2]
		case len(c.extra) > 0:
			c.extra = nil
		default:
			return st
		}
	}
	return st
}

const (
	maxStatus     = 3 << 10 // of google.rpc.Status, of which base64 makes 4 KiB
	maxStatusText = 512     // of one text in it, in bytes
)

// shortened is a copy without long texts.
func (e *protocolError) shortened() *protocolError {
	c := e.copied()
	c.text = shortText(c.text)
	for k, v := range c.meta {
		c.meta[k] = shortText(v)
	}
	c.violations = slices.Clone(c.violations)
	for i, v := range c.violations {
		v.Field, v.Message, v.Expected = shortText(v.Field), shortText(v.Message), shortText(v.Expected)
		c.violations[i] = v
	}
	return c
}

func shortText(s string) string {
	if len(s) <= maxStatusText {
		return s
	}
	return strings.ToValidUTF8(s[:maxStatusText], "") + "…"
}

func (e *protocolError) grpcStatus() *status.Status {
	st := status.New(e.kind.grpc, e.text)
	messages := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: e.kind.reason(), Domain: a2a.ProtocolDomain, Metadata: e.info()}}
	for _, d := range e.details() {
		messages = append(messages, protoadapt.MessageV1Of(d.message))
	}
	if withDetails, err := st.WithDetails(messages...); err == nil {
		return withDetails
	}
	return st
}

// knownDelay is the delay after which to try again: the error's own, or one
// that an author's RetryInfo tells.
func (e *protocolError) knownDelay() (time.Duration, bool) {
	if e.delay != nil {
		return *e.delay, true
	}
	for _, d := range e.details() {
		if r, ok := d.message.(*errdetails.RetryInfo); ok && r.GetRetryDelay() != nil {
			return r.GetRetryDelay().AsDuration(), true
		}
	}
	return 0, false
}

// retryHeader is a delay as the value of Retry-After: whole seconds, rounded up.
func retryHeader(d time.Duration) string {
	return strconv.FormatInt(int64(math.Ceil(max(0, d).Seconds())), 10)
}

// fieldPath turns a JSON Pointer into the path that google.rpc.BadRequest
// uses: "/message/parts" is "message.parts".
func fieldPath(pointer string) string {
	path := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(path)
}
