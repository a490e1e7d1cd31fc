package errcode

import (
	"net/http"
	"reflect"
	"time"

	grpcnames "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// rpcCodes maps gRPC codes, which are those of connect, too. Any other code is Internal.
var rpcCodes = []struct {
	grpc grpccodes.Code
	name string
	code Code
}{
	{grpccodes.DeadlineExceeded, "DEADLINE_EXCEEDED", UpstreamTimeout},
	{grpccodes.Unavailable, "UNAVAILABLE", UpstreamUnavailable},
	{grpccodes.ResourceExhausted, "RESOURCE_EXHAUSTED", RateLimited},
	{grpccodes.Unauthenticated, "UNAUTHENTICATED", AuthRequired},
	{grpccodes.PermissionDenied, "PERMISSION_DENIED", AuthRequired},
	{grpccodes.NotFound, "NOT_FOUND", NotFound},
}

// rpcNames are all codes of gRPC but OK, by name.
var rpcNames = func() map[string]bool {
	names := make(map[string]bool, len(grpcnames.Code_value))
	for name, n := range grpcnames.Code_value {
		names[name] = n != 0
	}
	return names
}()

// isRPCName reports whether s names a gRPC code that is an error.
func isRPCName(s string) bool { return rpcNames[s] }

func rpcClass(grpc grpccodes.Code) Class {
	for _, r := range rpcCodes {
		if r.grpc == grpc {
			return static(r.code, "")
		}
	}
	return static(Internal, "")
}

func rpcAnswers() []answer {
	as := make([]answer, 0, len(rpcCodes)+1)
	for _, r := range rpcCodes {
		as = append(as, answer{r.name, static(r.code, "")})
	}
	return append(as, answer{"another code than OK", static(Internal, "")})
}

// statusRows are the errors that carry a status of a protocol.
func statusRows() []row {
	return []row{
		{
			name: "HTTP shape", probe: httpShape, answers: httpAnswers(),
			when: "an HTTP status from a method HTTPStatusCode or StatusCode, a field StatusCode or HTTPStatusCode, a field Code beside a header, Google's error model or a field Response:",
		},
		{
			name: "error data in a gRPC status", method: reflect.TypeFor[grpcError](), app: statusError, answers: carriedAnswer,
			when: "a method GRPCStatus() *status.Status with error data in its details",
		},
		{
			name: "gRPC status", method: reflect.TypeFor[grpcError](), match: grpcClass, answers: rpcAnswers(),
			when: "a method GRPCStatus() *status.Status that says",
		},
		{
			name: "connect code", probe: connectShape, answers: rpcAnswers(),
			when: "an error of connect with the code",
		},
		apiRow(),
	}
}

type grpcError interface{ GRPCStatus() *status.Status }

// statusOf is err.GRPCStatus(), nil when there is no such method or it panics.
func statusOf(err error) *status.Status {
	e, ok := err.(grpcError)
	if !ok {
		return nil
	}
	return errtree.Try(e, grpcError.GRPCStatus)
}

// grpcClass maps a gRPC status. One of the A2A protocol says more in its ErrorInfo.
func grpcClass(err error) (Class, bool) {
	st := statusOf(err)
	if st.Code() == grpccodes.OK {
		return Class{}, false
	}
	c := rpcClass(st.Code())
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			if known, ok := reasonClass(info.GetDomain(), info.GetReason()); ok {
				return known, true
			}
		}
		c.takeDelay(detail)
	}
	return c, true
}

// statusError returns the application error in the details of a status, nil if there is none.
func statusError(err error) *Error {
	st := statusOf(err)
	for _, detail := range st.Details() {
		if s, ok := detail.(*structpb.Struct); ok {
			if m := s.AsMap(); looksLikeData(m) {
				return remoteError(m, st.Message())
			}
		}
	}
	return nil
}

// takeDelay takes over the delay of a RetryInfo.
func (c *Class) takeDelay(detail any) bool {
	info, ok := detail.(*errdetails.RetryInfo)
	if !ok || info.GetRetryDelay() == nil {
		return false
	}
	c.RetryAfter, c.HasRetryAfter = max(0, info.GetRetryDelay().AsDuration()), true
	return true
}

type metaError interface{ Meta() http.Header }

// connectShape recognises the errors of connect: a method Code that gives a number called Code, and
// a method Meta for the header.
func connectShape(t reflect.Type) matcher {
	m, ok := t.MethodByName("Code")
	if !ok || !t.Implements(reflect.TypeFor[metaError]()) || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 {
		return nil
	}
	if out := m.Type.Out(0); out.Kind() != reflect.Uint32 || out.Name() != "Code" {
		return nil
	}
	return func(err error) (Class, bool) {
		v := reflect.ValueOf(err)
		n := grpccodes.Code(v.MethodByName("Code").Call(nil)[0].Uint()) //nolint:gosec // it is an uint32
		if n == grpccodes.OK {
			return Class{}, false
		}
		c := rpcClass(n)
		if c.Retriable && !errtree.Try(v, c.connectDelay) {
			meta := errtree.Try(err, func(e error) http.Header { return e.(metaError).Meta() }) //nolint:errcheck // t implements it
			c.RetryAfter, c.HasRetryAfter = headerDelay(meta, time.Now())
		}
		return c, true
	}
}

// connectDelay looks for a RetryInfo among the details.
func (c *Class) connectDelay(err reflect.Value) bool {
	m := err.MethodByName("Details")
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || m.Type().Out(0).Kind() != reflect.Slice {
		return false
	}
	list := m.Call(nil)[0]
	for i := range list.Len() {
		detail, ok := reflect.TypeAssert[interface{ Value() (proto.Message, error) }](list.Index(i))
		if !ok {
			continue
		}
		if msg, err := detail.Value(); err == nil && c.takeDelay(msg) {
			return true
		}
	}
	return false
}
