package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/stream"
)

// wire serves an agent over loopback and speaks each binding's bytes.
type wire struct {
	url  string
	rpc  a2apb.A2AServiceClient
	conn *grpc.ClientConn
	srv  *executor.Server
	log  *syncBuffer
}

func serve(t *testing.T, a *agent.Agent, opts ...executor.Option) *wire {
	t.Helper()
	w := &wire{log: &syncBuffer{}}
	opts = append([]executor.Option{executor.Logger(slog.New(slog.NewTextHandler(w.log, nil)))}, opts...)
	srv, err := executor.NewServer(a, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		cancel() // what still runs, or is to be pushed, is given up
		_ = srv.Shutdown(ctx)
	})
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	w.url = hs.URL
	gs := grpc.NewServer()
	srv.RegisterGRPC(gs)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w.rpc, w.conn, w.srv = a2apb.NewA2AServiceClient(conn), conn, srv
	return w
}

func (w *wire) post(t *testing.T, path, body string) (int, string, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, answer := fetch(t, req)
	return res.StatusCode, res.Header.Get("Content-Type"), answer
}

type rpcError struct {
	Code    int
	Message string
	Data    []map[string]any
}

// jsonRPC sends a JSON-RPC request and gives the error of the answer, whether
// that is a plain body or the first server-sent event.
func (w *wire) jsonRPC(t *testing.T, method string, params any) *rpcError {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	_, _, body := w.post(t, "/", string(raw))
	return decodeRPC(t, body)
}

func decodeRPC(t *testing.T, body string) *rpcError {
	t.Helper()
	if _, data, isEvent := strings.Cut(body, "data: "); isEvent {
		body, _, _ = strings.Cut(data, "\n")
	}
	var answer struct {
		JSONRPC string
		Error   *rpcError
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("decode %q: %v", body, err)
	}
	if answer.JSONRPC != "2.0" {
		t.Errorf("jsonrpc: got %q in %s", answer.JSONRPC, body)
	}
	return answer.Error
}

func sendParams(text string) map[string]any {
	return map[string]any{"message": map[string]any{
		"messageId": "m1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}},
	}}
}

var errValidator = errors.New("dial tcp 10.0.0.7: password=hunter2")

func validating() *agent.Agent {
	type form struct {
		AccountID string `validate:"required"`
	}
	return agent.New("validating",
		agent.Invoke(agent.TextFunc(func(_ context.Context, s string) (string, error) { return s, nil })),
		agent.Validate(func(_ context.Context, req *agent.Request) error {
			switch req.Text() {
			case "violations":
				return errcode.New(errcode.InvalidInput, "empty", errcode.Message("The query is empty."), errcode.Violations(
					errcode.Violation{Field: "/message/parts/0/text", Message: "at least one word is required"},
					errcode.Violation{Field: "/metadata/account", Expected: "a number"}))
			case "validator":
				return validator.New().Struct(form{})
			case "auth":
				return &errcode.MissingAPIKeyError{Name: "X"}
			case "denied":
				return errcode.New(errcode.AuthRequired, "permission_denied", errcode.Message("The scope accounts.read is missing."))
			case "sentinel":
				return fmt.Errorf("modes: %w", a2a.ErrUnsupportedContentType)
			case "internal":
				return errValidator
			case "panic":
				panic("hunter2")
			}
			return nil
		}))
}

func TestValidatorRefusesOnEveryBinding(t *testing.T) {
	t.Parallel()
	w := serve(t, validating())
	badRequest := []any{
		map[string]any{"field": "message.parts.0.text", "description": "at least one word is required"},
		map[string]any{"field": "metadata.account", "description": "expected a number"},
	}
	cases := []struct {
		text       string
		code, http int
		grpc       codes.Code
		reason     string
		message    string
		violations []any
	}{
		{"violations", -32602, 400, codes.InvalidArgument, "INVALID_PARAMS", "The query is empty.", badRequest},
		{"auth", -31401, 401, codes.Unauthenticated, "UNAUTHENTICATED", "", nil},
		{"denied", -31403, 403, codes.PermissionDenied, "UNAUTHORIZED", "The scope accounts.read is missing.", nil},
		{"sentinel", -32005, 400, codes.InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED", "The content type is not supported.", nil},
		{"internal", -32603, 500, codes.Internal, "INTERNAL_ERROR", "Internal error.", nil},
		{"panic", -32603, 500, codes.Internal, "INTERNAL_ERROR", "Internal error.", nil},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			details := func(t *testing.T, got []map[string]any, message string) {
				t.Helper()
				if c.message != "" && message != c.message {
					t.Errorf("message: got %q, want %q", message, c.message)
				}
				var reason any
				var violations []any
				for _, d := range got {
					switch d["@type"] {
					case "type.googleapis.com/google.rpc.ErrorInfo":
						reason = d["reason"]
					case "type.googleapis.com/google.rpc.BadRequest":
						violations, _ = d["fieldViolations"].([]any)
					}
				}
				if reason != c.reason {
					t.Errorf("reason: got %v, want %s", reason, c.reason)
				}
				if diff := cmp.Diff(c.violations, violations); diff != "" {
					t.Errorf("violations (-want +got):\n%s", diff)
				}
			}
			for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
				e := w.jsonRPC(t, method, sendParams(c.text))
				if e == nil || e.Code != c.code {
					t.Fatalf("%s: got %+v, want %d", method, e, c.code)
				}
				details(t, e.Data, e.Message)
			}
			raw, _ := json.Marshal(sendParams(c.text))
			httpStatus, contentType, body := w.post(t, "/v1/message:send", string(raw))
			var rest struct {
				Error struct {
					Message string
					Details []map[string]any
				}
			}
			if err := json.Unmarshal([]byte(body), &rest); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if httpStatus != c.http || contentType != "application/json" {
				t.Errorf("HTTP+JSON: got %d %s, want %d", httpStatus, contentType, c.http)
			}
			details(t, rest.Error.Details, rest.Error.Message)

			_, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: &a2apb.Message{
				MessageId: "m1", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: c.text}}},
			}})
			st := status.Convert(err)
			if st.Code() != c.grpc {
				t.Errorf("gRPC: got %v, want %v", st, c.grpc)
			}
			reason, violations := "", 0
			for _, d := range st.Details() {
				switch d := d.(type) {
				case *errdetails.ErrorInfo:
					reason = d.GetReason()
				case *errdetails.BadRequest:
					violations = len(d.GetFieldViolations())
				}
			}
			if reason != c.reason || violations != len(c.violations) {
				t.Errorf("gRPC details: got %s and %d violations", reason, violations)
			}
			if strings.Contains(body+st.Message(), "hunter2") {
				t.Errorf("leaks: %s %s", body, st.Message())
			}
		})
	}
	if e := w.jsonRPC(t, "SendMessage", sendParams("fine")); e != nil {
		t.Errorf("a good request was refused: %+v", e)
	}
	if e := w.jsonRPC(t, "SendMessage", sendParams("validator")); e == nil || e.Code != -32602 || len(e.Data) != 3 {
		t.Errorf("validator.ValidationErrors: got %+v", e)
	}
	t.Cleanup(func() { // after the parallel cases
		if !strings.Contains(w.log.String(), "10.0.0.7") {
			t.Error("the log lacks the cause of the internal error")
		}
	})
}

// TestValidatorLeavesNoTask: what is refused before the task leaves nothing
// behind, and does not fail the task it was for.
func TestValidatorLeavesNoTask(t *testing.T) {
	t.Parallel()
	err := executortest.Refused(t, validating(), "violations")
	if !errors.Is(err, a2a.ErrInvalidParams) {
		t.Errorf("got %v, want %v", err, a2a.ErrInvalidParams)
	}
}

// TestNoInternalTextOnTheWire provokes errors in every layer.
func TestNoInternalTextOnTheWire(t *testing.T) {
	t.Parallel()
	w := serve(t, validating())
	inner := []string{"failed to", "json:", "Go struct", "setup failed", "invalid character", "a2a.", "unmarshal", "executor"}
	for name, body := range map[string]string{
		"truncated":          `{"jsonrpc":"2.0","id":1,"method":"SendMess`,
		"not JSON":           `hello`,
		"no params":          `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`,
		"params of one type": `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":"x"}`,
		"a part of no kind":  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}}}`,
		"a stream of those":  `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}}}`,
		"no parts":           `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}}`,
		"a null message":     `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":null}}`,
		"unknown method":     `{"jsonrpc":"2.0","id":1,"method":"Nonsense","params":{}}`,
		"wrong version":      `{"jsonrpc":"1.0","id":1,"method":"GetTask","params":{"id":"x"}}`,
		"unknown task":       `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`,
		"cancel unknown":     `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"x"}}`,
		"subscribe unknown":  `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"x"}}`,
		"message to unknown": `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","taskId":"x","role":"ROLE_USER","parts":[{"text":"x"}]}}}`,
		"old, no params":     `{"jsonrpc":"2.0","id":1,"method":"message/send"}`,
		"old, wrong kind":    `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":7}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/"
			if strings.HasPrefix(name, "old") {
				path = "/v0.3"
			}
			_, contentType, answer := w.post(t, path, body)
			var got struct {
				Error struct {
					Code    int
					Message string
				}
			}
			if _, data, isEvent := strings.Cut(answer, "data: "); isEvent {
				answer, _, _ = strings.Cut(data, "\n")
			}
			if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Error.Message == "" || got.Error.Code == 0 {
				t.Errorf("no error in %s", answer)
			}
			if !strings.HasPrefix(contentType, "application/json") && contentType != "text/event-stream" {
				t.Errorf("content type %q", contentType)
			}
			for _, s := range inner {
				if strings.Contains(answer, s) {
					t.Errorf("%q in %s", s, answer)
				}
			}
		})
	}
}

// interceptor fails every call in its own way.
type interceptor struct {
	a2asrv.PassthroughCallInterceptor
	before func() error
}

func (i interceptor) Before(ctx context.Context, _ *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	return ctx, nil, i.before()
}

func TestInterceptorsErrorsAreCleaned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  func() error
		code    int
		message string
	}{
		"a raw error":        {func() error { return errors.New("redis: hunter2") }, -32603, "Internal error."},
		"a panic":            {func() error { panic("hunter2") }, -32603, "Internal error."},
		"a sentinel":         {func() error { return fmt.Errorf("hunter2: %w", a2a.ErrUnauthenticated) }, -31401, "Authentication is required."},
		"a deliberate error": {func() error { return a2a.NewError(a2a.ErrUnauthorized, "Ask for the scope x.") }, -31403, "Ask for the scope x."},
		"two sentinels":      {func() error { return errors.Join(a2a.ErrInternalError, a2a.ErrTaskNotFound) }, -32001, "Task not found."},
		"a cycle":            {func() error { return &loopError{} }, -32603, "Internal error."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, validating(), executor.Interceptors(interceptor{before: c.before}))
			for _, method := range []string{"SendMessage", "SendStreamingMessage", "GetTask", "SubscribeToTask"} {
				params := sendParams("x")
				params["id"] = "t1"
				e := w.jsonRPC(t, method, params)
				if e == nil || e.Code != c.code || e.Message != c.message {
					t.Errorf("%s: got %+v, want %d %q", method, e, c.code, c.message)
				}
				raw, _ := json.Marshal(e)
				if bytes.Contains(raw, []byte("hunter2")) {
					t.Errorf("%s leaks: %s", method, raw)
				}
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := executor.NewHandler(validating(), executor.Domain("Not Kebab"), executor.Table(nil), executor.Logger(nil),
		executor.GracePeriod(-1), executor.BaseURL("http://x"), executor.ShutdownTimeout(1), executor.Option{})
	for _, want := range []string{"Domain", "Table", "Logger", "GracePeriod", "BaseURL", "ShutdownTimeout", "kebab-case"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	_, err = executor.NewServer(agent.New(" ", agent.Validate(nil)), executor.BaseURL("http://u:p@x/?q"), executor.GRPCAddr("x:notaport"),
		executor.Modes([]string{"nonsense"}, []string{"text/plain"}), executor.Skills(a2a.AgentSkill{}), executor.Prefix("//x"),
		executor.Version(" "), executor.Domain("X"))
	for _, want := range []string{"name", "Validate", "BaseURL", "GRPCAddr", "Modes", "Skills", "Prefix", "Version", "Domain"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	_, err = executor.NewServer(agent.New(" "), executor.Modes(nil, nil))
	for _, want := range []string{"name", "agent.Invoke"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if _, err = executor.NewServer(nil); err == nil {
		t.Error("a nil agent was accepted")
	}
	if _, err = executor.NewServer(agent.New("口座", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, nil }))); err == nil ||
		!strings.Contains(err.Error(), "executor.Domain") {
		t.Errorf("a name without ASCII: got %v", err)
	}
}

// TestGRPCOnItsOwn covers what only the gRPC binding does by itself.
func TestGRPCOnItsOwn(t *testing.T) {
	t.Parallel()
	w := serve(t, agent.New("lists", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
		return agent.Artifacts(agent.Artifact{Parts: []stream.Part{
			stream.DataPart([]int{1, 2}), stream.DataPart("text"), stream.DataPart(map[string]any{"n": 1}),
		}}), nil
	})))
	msg := &a2apb.Message{MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}}}
	res, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: msg})
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, p := range res.GetTask().GetArtifacts()[0].GetParts() {
		got = append(got, p.GetData().AsInterface())
	}
	want := []any{
		map[string]any{"value": []any{float64(1), float64(2)}}, map[string]any{"value": "text"}, map[string]any{"n": float64(1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("data that is no object (-want +got):\n%s", diff)
	}
	for name, call := range map[string]func() error{
		"no message": func() error {
			_, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{})
			return err
		},
		"an empty part": func() error {
			bad := &a2apb.Message{MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{}}}
			st, err := w.rpc.SendStreamingMessage(t.Context(), &a2apb.SendMessageRequest{Message: bad})
			if err != nil {
				return err
			}
			_, err = st.Recv()
			return err
		},
		"no id": func() error {
			_, err := w.rpc.GetTask(t.Context(), &a2apb.GetTaskRequest{})
			return err
		},
	} {
		st := status.Convert(call())
		if st.Code() != codes.InvalidArgument || st.Message() != "Invalid parameters." || len(st.Details()) != 3 {
			t.Errorf("%s: got %v", name, st)
		}
	}
}

func TestNullPartIsRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, echo("a"))
	for _, path := range []string{"/", "/v1/message:send"} {
		body := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},null]}}`
		if path == "/" {
			body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + body + `}`
		}
		_, _, answer := w.post(t, path, body)
		if !strings.Contains(answer, `"field":"message.parts.1"`) || !strings.Contains(answer, "INVALID_PARAMS") {
			t.Errorf("%s: got %s", path, answer)
		}
	}
	if strings.Contains(w.log.String(), "ERROR") {
		t.Errorf("a client's mistake is logged as an error: %s", w.log.String())
	}
}

func TestValidatorsOwnErrors(t *testing.T) {
	t.Parallel()
	w := serve(t, agent.New("a", agent.Invoke(agent.TextFunc(func(_ context.Context, s string) (string, error) { return s, nil })),
		agent.Validate(func(_ context.Context, req *agent.Request) error {
			switch req.Text() {
			case "timeout":
				return fmt.Errorf("quota service: %w", context.DeadlineExceeded)
			case "details":
				return a2a.NewError(a2a.ErrUnsupportedContentType, "No audio.").WithDetails(map[string]any{"k": "v"})
			}
			return errcode.New(errcode.InvalidInput, "x", errcode.Message("m CUSTOM"), errcode.Violations(
				errcode.Violation{Field: "/a~1b/0/c~0d", Message: "has CUSTOM"}))
		})), executor.Redactor(func(s string) string { return strings.ReplaceAll(s, "CUSTOM", "***") }))
	e := w.jsonRPC(t, "SendMessage", sendParams("timeout"))
	if e == nil || e.Code != -32603 || e.Message != "Internal error." {
		t.Errorf("a timeout of the validator's own: got %+v", e)
	}
	e = w.jsonRPC(t, "SendMessage", sendParams("x"))
	raw, _ := json.Marshal(e)
	if e == nil || e.Message != "m ***" || !bytes.Contains(raw, []byte(`"description":"has ***"`)) || !bytes.Contains(raw, []byte(`"field":"a/b.0.c~d"`)) {
		t.Errorf("violations: got %s", raw)
	}
	_, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: "m1", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "details"}}},
	}})
	if st := status.Convert(err); len(st.Details()) != 3 {
		t.Errorf("details over gRPC: got %v", st.Details())
	}
}

// TestOldMethodsWithoutAVersion: / takes both generations' methods.
func TestOldMethodsWithoutAVersion(t *testing.T) {
	t.Parallel()
	w := serve(t, echo("a"))
	_, _, answer := w.post(t, "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":`+
		`{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`)
	if !strings.Contains(answer, `"text":"a: hi"`) || !strings.Contains(answer, `"kind":"task"`) {
		t.Errorf("got %s", answer)
	}
	_, _, answer = w.post(t, "/v1/message:send", `{`)
	if !strings.Contains(answer, "Invalid JSON payload.") {
		t.Errorf("HTTP+JSON: got %s", answer)
	}
}
