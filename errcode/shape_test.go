package errcode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/errcode"
)

// Errors in the shapes of libraries. The real ones are in internal/realerrors.
type (
	methodError     struct{ code int }
	awsLikeError    struct{ code int }
	fieldError      struct{ StatusCode int32 }
	unsignedError   struct{ HTTPStatusCode uint16 }
	codeError       struct{ Code int }
	codeHeaderError struct {
		Code   int
		Header http.Header
	}
	responseError struct {
		StatusCode int
		Request    *http.Request
		Response   *http.Response
	}
	innerResponse struct{ *http.Response }
	deepError     struct {
		StatusCode int
		Raw        *innerResponse
	}
	embeddingError struct{ *responseError }
	headersError   struct {
		StatusCode int
		h          http.Header
	}
	sqlError       string
	brokenSQLError struct{}
	redisLikeError string
	wireLikeError  struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
	apiLikeError    string
	statusFailError struct{ *grpcstatus.Status }
	codeStatusError struct {
		Code   int
		Status string
	}
	codeFieldsError struct {
		Code   int
		Fields map[string][]string
	}
	codeMapError struct {
		Code    int
		Headers map[string][]string
	}
	codeTextsError struct {
		Code    int
		Headers map[string]string
	}
	codeMethodError  struct{ Code int }
	codeRequestError struct {
		Code           int
		RequestHeaders http.Header
	}
	googleLikeError struct {
		Code            int
		Message, Status string
		Details         []map[string]any
	}
	mapHeadersError struct {
		StatusCode int
		Headers    map[string][]string
	}
	textHeadersError struct {
		StatusCode int
		Headers    map[string]string
	}
	otherHeadersError struct {
		StatusCode int
		Headers    map[string]int
	}
	answerError          struct{ Response *http.Response }
	panickingHeaderError struct {
		StatusCode int
		Response   *http.Response
	}
	panickingAnswerError struct{}
	panickingMetaError   struct{}
	// Code is what connect calls its codes.
	Code uint32
)

func (*codeStatusError) Error() string { return "e" }
func (*codeFieldsError) Error() string { return "e" }
func (*codeTextsError) Error() string  { return "e" }
func (*codeMapError) Error() string    { return "e" }
func (*codeMethodError) Error() string { return "e" }
func (*codeMethodError) Header() map[string][]string {
	return map[string][]string{"Retry-After": {"7"}}
}
func (*codeRequestError) Error() string                   { return "e" }
func (*googleLikeError) Error() string                    { return "e" }
func (mapHeadersError) Error() string                     { return "e" }
func (textHeadersError) Error() string                    { return "e" }
func (otherHeadersError) Error() string                   { return "e" }
func (*answerError) Error() string                        { return "e" }
func (panickingHeaderError) Error() string                { return "e" }
func (panickingHeaderError) Header() http.Header          { panic("Header") }
func (panickingAnswerError) Error() string                { return "e" }
func (panickingAnswerError) StatusCode() int              { return 503 }
func (panickingAnswerError) HTTPResponse() *http.Response { panic("HTTPResponse") }
func (panickingMetaError) Error() string                  { return "e" }
func (panickingMetaError) Code() Code                     { return 14 }
func (panickingMetaError) Meta() http.Header              { panic("Meta") }

func retryDelay(d string) []map[string]any {
	return []map[string]any{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": d}}
}

func (methodError) Error() string                        { return "e" }
func (e methodError) StatusCode() int                    { return e.code }
func (awsLikeError) Error() string                       { return "e" }
func (e *awsLikeError) HTTPStatusCode() int              { return e.code }
func (fieldError) Error() string                         { return "e" }
func (*unsignedError) Error() string                     { return "e" }
func (codeError) Error() string                          { return "e" }
func (*codeHeaderError) Error() string                   { return "e" }
func (*responseError) Error() string                     { return "e" }
func (deepError) Error() string                          { return "e" }
func (headersError) Error() string                       { return "e" }
func (e headersError) Headers() http.Header              { return e.h }
func (sqlError) Error() string                           { return "e" }
func (e sqlError) SQLState() string                      { return string(e) }
func (brokenSQLError) Error() string                     { return "e" }
func (brokenSQLError) SQLState() string                  { panic("SQLState") }
func (e redisLikeError) Error() string                   { return string(e) }
func (redisLikeError) RedisError()                       {}
func (*wireLikeError) Error() string                     { return "e" }
func (apiLikeError) Error() string                       { return "e" }
func (e apiLikeError) ErrorCode() string                 { return string(e) }
func (apiLikeError) ErrorMessage() string                { return "m" }
func (statusFailError) Error() string                    { return "e" }
func (e statusFailError) GRPCStatus() *grpcstatus.Status { return e.Status }

func after(c errcode.Class, d time.Duration) errcode.Class {
	c.RetryAfter, c.HasRetryAfter = d, true
	return c
}

func TestShapes(t *testing.T) {
	t.Parallel()
	seven := http.Header{"Retry-After": {"7"}}
	answer := &http.Response{Header: seven}
	sent := &http.Request{Header: http.Header{"Retry-After": {"99"}}}
	limited := grpcstatus.New(codes.ResourceExhausted, "m")
	delayed, err := limited.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	rate := func(reason string) errcode.Class { return class(errcode.RateLimited, reason) }
	var nilEmbedded embeddingError
	a2aStatus, err := grpcstatus.New(codes.InvalidArgument, "m").WithDetails(
		&errdetails.ErrorInfo{Domain: a2a.ProtocolDomain, Reason: "TASK_NOT_FOUND"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := structpb.NewStruct(map[string]any{"errorCode": "NOT_FOUND", "errorReason": "gone"})
	if err != nil {
		t.Fatal(err)
	}
	dataStatus, err := limited.WithDetails(&errdetails.ErrorInfo{}, data)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		err  error
		want errcode.Class
	}{
		{"method StatusCode", methodError{404}, class(errcode.NotFound, "method_error")},
		{"method HTTPStatusCode", &awsLikeError{503}, class(errcode.UpstreamUnavailable, "aws_like_error")},
		{"method on a nil pointer", (*awsLikeError)(nil), class(errcode.Internal, "aws_like_error")},
		{"field", fieldError{401}, class(errcode.AuthRequired, "field_error")},
		{"unsigned field", &unsignedError{429}, rate("unsigned_error")},
		{"a success is no match", errors.Join(fieldError{200}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"zero is no match", errors.Join(fieldError{}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"what is no status is no match", errors.Join(fieldError{1006}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"Code alone", codeError{404}, class(errcode.Internal, "code_error")},
		{"Code beside a header", &codeHeaderError{429, seven}, after(rate("code_header_error"), 7*time.Second)},
		{"response", &responseError{429, sent, answer}, after(rate("response_error"), 7*time.Second)},
		{"request is not read", &responseError{429, sent, nil}, rate("response_error")},
		{"one level down", deepError{429, &innerResponse{answer}}, after(rate("deep_error"), 7*time.Second)},
		{"one level down behind nil", deepError{429, nil}, rate("deep_error")},
		{"embedded", embeddingError{&responseError{429, nil, answer}}, after(rate("embedding_error"), 7*time.Second)},
		{"embedded nil", nilEmbedded, class(errcode.Internal, "embedding_error")},
		{"method Headers", headersError{503, http.Header{"Retry-After-Ms": {"250"}}}, after(class(errcode.UpstreamUnavailable, "headers_error"), 250*time.Millisecond)},
		{"a delay on 500", headersError{500, seven}, after(class(errcode.UpstreamUnavailable, "headers_error"), 7*time.Second)},
		{"a delay on 504", headersError{504, seven}, after(class(errcode.UpstreamTimeout, "headers_error"), 7*time.Second)},
		{"a delay on 408", headersError{408, seven}, after(class(errcode.UpstreamTimeout, "headers_error"), 7*time.Second)},
		{"a delay on 529", headersError{529, seven}, after(class(errcode.UpstreamUnavailable, "headers_error"), 7*time.Second)},
		{"a delay on what is not retriable", headersError{404, seven}, class(errcode.NotFound, "headers_error")},
		{"a quota below a 403", &reasonsError{403, seven, []reason{{"x"}, {"userRateLimitExceeded"}}}, after(rate("reasons_error"), 7*time.Second)},
		{"a 403 without a known reason", &reasonsError{403, seven, []reason{{"forbidden"}}}, class(errcode.AuthRequired, "reasons_error")},
		{"a 404 with a known reason", &reasonsError{404, seven, []reason{{"quotaExceeded"}}}, class(errcode.NotFound, "reasons_error")},
		{"an event of a stream", &eventError{"x", event{[]byte(`{"error":{"type":"tokens","code":"rate_limit_exceeded"}}`)}}, rate("event_error")},
		{"an event of a stream that is no JSON", &eventError{"x", event{[]byte(`{`)}}, class(errcode.Internal, "event_error")},
		{"raw JSON", rawError(`{"type":"error","error":{"type":"overloaded_error"}}`), class(errcode.UpstreamUnavailable, "raw_error")},
		{"raw JSON that panics", errors.Join(panickingRawError{}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"code and type", &typedError{Code: nil, Type: "timeout_error"}, class(errcode.UpstreamTimeout, "typed_error")},
		{"a delay that is none", headersError{429, http.Header{"Retry-After-Ms": {"NaN"}, "Retry-After": {"-1"}}}, rate("headers_error")},
		{"Code beside a text called Status", &codeStatusError{429, "failed"}, class(errcode.Internal, "code_status_error")},
		{"Code beside a map that is no header", &codeFieldsError{429, map[string][]string{"name": {"missing"}}}, class(errcode.Internal, "code_fields_error")},
		{"Code beside a map of single texts", &codeTextsError{429, map[string]string{"Retry-After": "7"}}, class(errcode.Internal, "code_texts_error")},
		{"Code beside a common map of headers", &codeMapError{429, seven}, after(rate("code_map_error"), 7*time.Second)},
		{"Code beside a method Header", &codeMethodError{429}, after(rate("code_method_error"), 7*time.Second)},
		{"Code beside the header that was sent", &codeRequestError{429, seven}, class(errcode.Internal, "code_request_error")},
		{"Google's model", &googleLikeError{Code: 429, Status: "RESOURCE_EXHAUSTED", Details: retryDelay("34s")}, after(rate("google_like_error"), 34*time.Second)},
		{"Google's model without a body", &googleLikeError{Code: 503, Status: "503 Service Unavailable"}, class(errcode.UpstreamUnavailable, "google_like_error")},
		{"Google's model with another status", &googleLikeError{Code: 429, Status: "failed"}, class(errcode.Internal, "google_like_error")},
		{"Google's model with a delay too large to count", &googleLikeError{Code: 429, Status: "RESOURCE_EXHAUSTED", Details: retryDelay("99999999999999s")}, after(rate("google_like_error"), longest)},
		{"headers in a common map", mapHeadersError{503, map[string][]string{"retry-after": {"7"}}}, after(class(errcode.UpstreamUnavailable, "map_headers_error"), 7*time.Second)},
		{"headers in a map of texts", textHeadersError{503, map[string]string{"Retry-After": "7"}}, after(class(errcode.UpstreamUnavailable, "text_headers_error"), 7*time.Second)},
		{"headers in a map of another kind", otherHeadersError{503, map[string]int{"Retry-After": 7}}, class(errcode.UpstreamUnavailable, "other_headers_error")},
		{"the whole answer", &answerError{&http.Response{StatusCode: 429, Header: seven}}, after(rate("answer_error"), 7*time.Second)},
		{"no answer", errors.Join(&answerError{}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"a header method that panics", panickingHeaderError{StatusCode: 429}, rate("panicking_header_error")},
		{"a header method that panics beside a field", panickingHeaderError{StatusCode: 429, Response: answer}, after(rate("panicking_header_error"), 7*time.Second)},
		{"an answer method that panics", panickingAnswerError{}, class(errcode.UpstreamUnavailable, "panicking_answer_error")},
		{"connect whose header panics", panickingMetaError{}, class(errcode.UpstreamUnavailable, "panicking_meta_error")},
		{"gRPC joined", fmt.Errorf("call: %w", errors.Join(errors.New("x"), wrapped(delayed.Err(), 2))), after(rate("grpc_error"), time.Second)},
		{"gRPC joined behind another status", errors.Join(limited.Err(), delayed.Err()), rate("grpc_error")},
		{"gRPC in a carrier", &errcode.ComponentInvokeError{Err: fmt.Errorf("rpc: %w", delayed.Err())}, after(rate("grpc_error"), time.Second)},
		{"gRPC", wrapped(limited.Err(), 2), rate("grpc_error")},
		{"gRPC with a delay", wrapped(delayed.Err(), 2), after(rate("grpc_error"), time.Second)},
		{"gRPC of A2A", a2aStatus.Err(), class(errcode.NotFound, "task_not_found")},
		{"gRPC with error data", dataStatus.Err(), class(errcode.NotFound, "gone")},
		{"gRPC without a status", errors.Join(statusFailError{}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"SQLSTATE", sqlError("57P03"), class(errcode.UpstreamUnavailable, "sql_error")},
		{"SQLSTATE that is none", errors.Join(sqlError(""), methodError{404}), class(errcode.NotFound, "method_error")},
		{"SQLSTATE that panics", brokenSQLError{}, class(errcode.Internal, "broken_sql_error")},
		{"Redis", redisLikeError("READONLY x"), class(errcode.UpstreamUnavailable, "redis_like_error")},
		{"Redis nil", redisLikeError("redis: nil"), class(errcode.NotFound, "redis_nil")},
		{"JSON-RPC", &wireLikeError{Code: -32601}, class(errcode.InvalidInput, "wire_like_error")},
		{"JSON-RPC of an application", errors.Join(&wireLikeError{Code: 17}, methodError{404}), class(errcode.NotFound, "method_error")},
		{"API code", apiLikeError("ThrottlingException"), rate("api_like_error")},
		{"API code of an application", errors.Join(apiLikeError("X"), methodError{404}), class(errcode.NotFound, "method_error")},
		{"known text", wrapped(errors.New("connection closed"), 2), class(errcode.UpstreamUnavailable, "connection_closed")},
		{"a part of a known text", errors.New("the connection closed"), class(errcode.Internal, "internal_error")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				if diff := cmp.Diff(tc.want, errcode.Default().Classify(tc.err)); diff != "" {
					t.Errorf("class (-want +got):\n%s", diff)
				}
			}
			if got := errcode.CodeOf(fmt.Errorf("x: %w", tc.err)); got != tc.want.Code {
				t.Errorf("wrapped: %s", got)
			}
		})
	}
}

func TestFromJSONRPC(t *testing.T) {
	t.Parallel()
	for rpc, want := range map[int]errcode.Code{
		-32700: errcode.InvalidInput, -32600: errcode.InvalidInput, -32601: errcode.InvalidInput, -32602: errcode.InvalidInput,
		-32603: errcode.Internal, -32000: errcode.Internal, -32001: errcode.NotFound, -32002: errcode.InvalidInput,
		-32006: errcode.Internal, -32007: errcode.NotFound, -32009: errcode.InvalidInput, -32050: errcode.Internal,
		-31401: errcode.AuthRequired, -31403: errcode.AuthRequired, 0: errcode.Internal, 42: errcode.Internal,
	} {
		if got := errcode.FromJSONRPC(rpc); got != want {
			t.Errorf("FromJSONRPC(%d) = %s, want %s", rpc, got, want)
		}
	}
}

// The shapes of errors that tell an API's code, see also internal/realerrors.
type (
	reason       struct{ Reason string }
	reasonsError struct {
		Code   int
		Header http.Header
		Errors []reason
	}
	event      struct{ Data []byte }
	eventError struct {
		Message string
		Event   event
	}
	rawError          string
	panickingRawError struct{}
	typedError        struct {
		Code          any
		Type, Message string
	}
)

func (*reasonsError) Error() string       { return "reasons" }
func (*eventError) Error() string         { return "event" }
func (rawError) Error() string            { return "raw" }
func (e rawError) RawJSON() string        { return string(e) }
func (panickingRawError) Error() string   { return "raw" }
func (panickingRawError) RawJSON() string { panic("raw") }
func (*typedError) Error() string         { return "typed" }
