package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"
)

// What follows speaks to a server in the bytes of each binding, without the
// client of any library, so that the conformance test reads what is really sent.

// request is one in the words of A2A 1.0.
type request struct {
	op     string
	params map[string]any
	header map[string]string
}

// reply is what came back, in the same form for all bindings.
type reply struct {
	status  int        // HTTP
	rpc     int        // JSON-RPC code
	grpc    codes.Code // OK where the binding is not gRPC
	name    string     // HTTP+JSON: error.status
	message string
	reason  string
	domain  string
	meta    map[string]string
	fields  map[string]string // violations: path and description
	retry   string
	data    map[string]any // ProtocolErrorData
	failed  bool
	result  map[string]any // or the first event of a stream
	header  http.Header    // or metadata
	raw     string
}

var bindingNames = []string{"JSON-RPC", "HTTP+JSON", "gRPC", "JSON-RPC 0.3"}

func (w *wire) ask(t *testing.T, binding string, r request) reply {
	t.Helper()
	switch binding {
	case "JSON-RPC":
		return w.askRPC(t, "/", r.op, r.params, r.header)
	case "JSON-RPC 0.3":
		return w.askRPC(t, "/v0.3", oldMethods[r.op], oldParams(r), r.header)
	case "HTTP+JSON":
		return w.askREST(t, r)
	default:
		return w.askGRPC(t, r)
	}
}

var oldMethods = map[string]string{
	"SendMessage": "message/send", "SendStreamingMessage": "message/stream", "GetTask": "tasks/get", "CancelTask": "tasks/cancel",
	"SubscribeToTask": "tasks/resubscribe", "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
	"GetTaskPushNotificationConfig": "tasks/pushNotificationConfig/get", "ListTaskPushNotificationConfigs": "tasks/pushNotificationConfig/list",
	"DeleteTaskPushNotificationConfig": "tasks/pushNotificationConfig/delete", "GetExtendedAgentCard": "agent/getAuthenticatedExtendedCard",
}

// oldParams says the same in the words of 0.3.
func oldParams(r request) map[string]any {
	out := deepCopy(r.params)
	if m, ok := out["message"].(map[string]any); ok {
		if role, ok := m["role"].(string); ok {
			m["role"] = strings.ToLower(strings.TrimPrefix(role, "ROLE_"))
		}
		parts, _ := m["parts"].([]any)
		for i, p := range parts {
			if m, ok := p.(map[string]any); ok {
				parts[i] = oldPart(m)
			}
		}
	}
	if strings.Contains(r.op, "PushNotificationConfig") {
		old := map[string]any{"id": out["taskId"], "pushNotificationConfigId": out["id"]}
		if r.op == "CreateTaskPushNotificationConfig" {
			id := out["taskId"]
			delete(out, "taskId")
			old = map[string]any{"taskId": id, "pushNotificationConfig": out}
		}
		return old
	}
	if c, ok := out["configuration"].(map[string]any); ok && c["taskPushNotificationConfig"] != nil {
		c["pushNotificationConfig"] = c["taskPushNotificationConfig"]
	}
	return out
}

func oldPart(p map[string]any) map[string]any {
	for _, kind := range []string{"text", "data"} {
		if p[kind] != nil {
			p["kind"] = kind
		}
	}
	if p["raw"] != nil {
		return map[string]any{"kind": "file", "file": map[string]any{"bytes": p["raw"], "mimeType": p["mediaType"]}}
	}
	return p
}

func deepCopy(m map[string]any) map[string]any {
	raw, _ := json.Marshal(m)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}

func (w *wire) send(t *testing.T, method, path, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return res, firstEvent(t, res.Body)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// firstEvent reads the data of a stream's first event, and leaves.
func firstEvent(t *testing.T, r io.Reader) string {
	t.Helper()
	var got []byte
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		got = append(got, buf[:n]...)
		if _, data, ok := strings.Cut(string(got), "data: "); ok {
			if event, _, whole := strings.Cut(data, "\n\n"); whole {
				return event
			}
		}
		if err != nil {
			return string(got)
		}
	}
}

func (w *wire) askRPC(t *testing.T, path, method string, params map[string]any, header map[string]string) reply {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "r-1", "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	res, body := w.send(t, http.MethodPost, path, string(raw), header)
	var answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      string          `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s: %q: %v", method, body, err)
	}
	if answer.JSONRPC != "2.0" || answer.ID != "r-1" {
		t.Errorf("%s: the envelope of %s", method, body)
	}
	out := reply{status: res.StatusCode, header: res.Header, raw: body}
	if answer.Error == nil {
		_ = json.Unmarshal(answer.Result, &out.result) // null for a deletion
		if answer.Result == nil {
			t.Errorf("%s: no result in %s", method, body)
		}
		return out
	}
	out.failed, out.rpc, out.message = true, answer.Error.Code, answer.Error.Message
	if path == "/v0.3" {
		out.readOldData(t, answer.Error.Data)
		return out
	}
	out.readDetails(t, answer.Error.Data)
	return out
}

// readOldData reads error.data of 0.3: the object of error data alone.
func (r *reply) readOldData(t *testing.T, raw json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(raw, &r.data); err != nil {
		t.Fatalf("error.data is no object: %s", raw)
	}
	reason, _ := r.data["errorReason"].(string)
	r.reason, r.domain = strings.ToUpper(reason), "a2a-protocol.org"
	details, _ := r.data["details"].(map[string]any)
	id, _ := details["taskId"].(string)
	r.meta = map[string]string{"taskId": id}
	violations, _ := r.data["violations"].([]any)
	for _, v := range violations {
		m, _ := v.(map[string]any)
		field, _ := m["field"].(string)
		text, _ := m["message"].(string)
		r.addField(strings.ReplaceAll(strings.TrimPrefix(field, "/"), "/", "."), text)
	}
	if ms, ok := r.data["retryAfterMs"].(float64); ok {
		r.retry = trimFloat(ms/1000) + "s"
	}
}

func trimFloat(f float64) string {
	raw, _ := json.Marshal(f)
	return string(raw)
}

func (r *reply) addField(path, text string) {
	if r.fields == nil {
		r.fields = map[string]string{}
	}
	r.fields[path] = text
}

// readDetails reads a list of google.protobuf.Any in JSON, by the library for
// it: what a client that knows protocol buffers does.
func (r *reply) readDetails(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("the details are no array: %s", raw)
	}
	for _, one := range list {
		var typed struct {
			Type string `json:"@type"`
		}
		if err := json.Unmarshal(one, &typed); err != nil || typed.Type == "" {
			t.Fatalf("a detail without @type: %s", one)
		}
		m := newMessage(t, typed.Type[strings.LastIndex(typed.Type, "/")+1:])
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(one, &fields)
		delete(fields, "@type")
		body, _ := json.Marshal(fields)
		if _, ok := m.(*structpb.Struct); ok {
			body = fields["value"] // as the JSON form of Any has it for well-known types
		}
		if err := protojson.Unmarshal(body, m); err != nil {
			t.Fatalf("detail %s: %v", one, err)
		}
		r.take(m)
	}
}

func newMessage(t *testing.T, name string) proto.Message {
	t.Helper()
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatalf("unknown detail %s: %v", name, err)
	}
	return mt.New().Interface()
}

func (r *reply) take(m any) {
	switch d := m.(type) {
	case *errdetails.ErrorInfo:
		r.reason, r.domain, r.meta = d.GetReason(), d.GetDomain(), d.GetMetadata()
	case *errdetails.BadRequest:
		for _, v := range d.GetFieldViolations() {
			r.addField(v.GetField(), v.GetDescription())
		}
	case *errdetails.RetryInfo:
		r.retry = trimFloat(d.GetRetryDelay().AsDuration().Seconds()) + "s"
	case *structpb.Struct:
		if m := d.AsMap(); m["errorCode"] != nil {
			r.data = m
		}
	}
}

// restPaths are those of A2A v1.0 section 5.3.
var restPaths = map[string][2]string{
	"SendMessage": {"POST", "/message:send"}, "SendStreamingMessage": {"POST", "/message:stream"},
	"GetTask": {"GET", "/tasks/{id}"}, "ListTasks": {"GET", "/tasks"}, "CancelTask": {"POST", "/tasks/{id}:cancel"},
	"SubscribeToTask":                  {"POST", "/tasks/{id}:subscribe"},
	"CreateTaskPushNotificationConfig": {"POST", "/tasks/{taskId}/pushNotificationConfigs"},
	"GetTaskPushNotificationConfig":    {"GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"},
	"ListTaskPushNotificationConfigs":  {"GET", "/tasks/{taskId}/pushNotificationConfigs"},
	"DeleteTaskPushNotificationConfig": {"DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"},
	"GetExtendedAgentCard":             {"GET", "/extendedAgentCard"},
}

func (w *wire) askREST(t *testing.T, r request) reply {
	t.Helper()
	method, path := restPaths[r.op][0], restPaths[r.op][1]
	params := deepCopy(r.params)
	for k, v := range params {
		if s, ok := v.(string); ok && strings.Contains(path, "{"+k+"}") {
			path = strings.Replace(path, "{"+k+"}", url.PathEscape(s), 1)
			delete(params, k)
		}
	}
	body := ""
	switch {
	case method == http.MethodPost:
		raw, _ := json.Marshal(params)
		body = string(raw)
	case len(params) > 0:
		q := url.Values{}
		for k, v := range params {
			raw, _ := json.Marshal(v)
			q.Set(k, strings.Trim(string(raw), `"`))
		}
		path += "?" + q.Encode()
	}
	res, answer := w.send(t, method, "/v1"+path, body, r.header)
	out := reply{status: res.StatusCode, header: res.Header, raw: answer}
	var got struct {
		Error *struct {
			Code    int             `json:"code"`
			Status  string          `json:"status"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%s: %q: %v", r.op, answer, err)
	}
	if got.Error == nil {
		_ = json.Unmarshal([]byte(answer), &out.result)
		return out
	}
	if ct := res.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("%s: the error is %s", r.op, ct)
	}
	if got.Error.Code != res.StatusCode {
		t.Errorf("%s: error.code %d with HTTP status %d", r.op, got.Error.Code, res.StatusCode)
	}
	out.failed, out.name, out.message = true, got.Error.Status, got.Error.Message
	out.readDetails(t, got.Error.Details)
	return out
}

func (w *wire) askGRPC(t *testing.T, r request) reply {
	t.Helper()
	md := metadata.MD{}
	for k, v := range r.header {
		md.Set(k, v)
	}
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(t.Context(), md))
	defer cancel()
	in, res := grpcMessages(t, r.op)
	raw := []byte("{}")
	if r.params != nil {
		raw, _ = json.Marshal(r.params)
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true}).Unmarshal(raw, in); err != nil {
		t.Fatalf("%s: %v", r.op, err)
	}
	var head, tail metadata.MD
	err := w.invoke(ctx, r.op, in, res, &head, &tail)
	out := reply{header: http.Header{}}
	for k, v := range metadata.Join(head, tail) {
		out.header[http.CanonicalHeaderKey(k)] = v
	}
	st := status.Convert(err)
	if err == nil || errors.Is(err, io.EOF) {
		raw, _ := protojson.Marshal(res)
		_ = json.Unmarshal(raw, &out.result)
		return out
	}
	out.failed, out.grpc, out.message, out.raw = true, st.Code(), st.Message(), st.String()
	for _, d := range st.Details() {
		out.take(d)
	}
	return out
}

func (w *wire) invoke(ctx context.Context, op string, in, out proto.Message, head, tail *metadata.MD) error {
	method := "/" + a2apb.A2AService_ServiceDesc.ServiceName + "/" + op
	if op != "SendStreamingMessage" && op != "SubscribeToTask" {
		return w.conn.Invoke(ctx, method, in, out, grpc.Header(head), grpc.Trailer(tail))
	}
	st, err := w.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.Header(head), grpc.Trailer(tail))
	if err != nil {
		return err
	}
	if err := errors.Join(st.SendMsg(in), st.CloseSend()); err != nil {
		return err
	}
	err = st.RecvMsg(out)
	*head, _ = st.Header()
	if err != nil {
		*tail = st.Trailer()
	}
	return err
}

// grpcMessages gives the empty request and answer of an operation.
func grpcMessages(t *testing.T, op string) (in, out proto.Message) {
	t.Helper()
	d, err := protoregistry.GlobalFiles.FindDescriptorByName("lf.a2a.v1.A2AService")
	if err != nil {
		t.Fatal(err)
	}
	service, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		t.Fatalf("%T", d)
	}
	m := service.Methods().ByName(protoreflect.Name(op))
	if m == nil {
		t.Fatalf("no method %s", op)
	}
	return newMessage(t, string(m.Input().FullName())), newMessage(t, string(m.Output().FullName()))
}
