package showcase_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/examples/internal/showcase"
	"github.com/a2aexec/a2aexec/executor"
)

// The row "deaf" leaves its goroutine behind for a while: that is its point.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/a2aexec/a2aexec/examples/internal/showcase.deaf"))
}

// binding is one way to reach the server with the real client.
type binding struct {
	name   string
	client *a2aclient.Client
}

// bindings serves the showcase agent over loopback and gives a client for each
// binding and generation.
func bindings(t *testing.T) []binding {
	t.Helper()
	var self showcase.Self // told once the server runs
	a, err := showcase.New(showcase.Calls(&self))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := executor.NewServer(a, executor.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	if err := self.At(hs.URL); err != nil {
		t.Fatal(err)
	}
	gs := grpc.NewServer()
	srv.RegisterGRPC(gs)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	hc := hs.Client()
	var out []binding
	for _, b := range []struct {
		name  string
		iface a2a.AgentInterface
		opt   a2aclient.FactoryOption
	}{
		{
			"1.0 JSON-RPC",
			a2a.AgentInterface{URL: hs.URL + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
			a2aclient.WithJSONRPCTransport(hc),
		},
		{
			"1.0 HTTP+JSON",
			a2a.AgentInterface{URL: hs.URL + "/v1", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version},
			a2aclient.WithRESTTransport(hc),
		},
		{
			"1.0 gRPC",
			a2a.AgentInterface{URL: l.Addr().String(), ProtocolBinding: a2a.TransportProtocolGRPC, ProtocolVersion: a2a.Version},
			a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())),
		},
		{
			"0.3 JSON-RPC",
			a2a.AgentInterface{URL: hs.URL + "/v0.3", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
			a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
		},
		{
			"0.3 HTTP+JSON",
			a2a.AgentInterface{URL: hs.URL + "/v0.3", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version},
			a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}),
		},
	} {
		client, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{&b.iface}, b.opt)
		if err != nil {
			t.Fatalf("%s: %v", b.name, err)
		}
		t.Cleanup(func() { _ = client.Destroy() })
		out = append(out, binding{b.name, client})
	}
	return out
}

func message(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

func blocking(t *testing.T, c *a2aclient.Client, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	res, err := c.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	task, ok := res.(*a2a.Task)
	if !ok {
		t.Fatalf("send: got a %T, want a task", res)
	}
	return task
}

func streamed(t *testing.T, c *a2aclient.Client, req *a2a.SendMessageRequest) []a2a.Event {
	t.Helper()
	var events []a2a.Event
	for ev, err := range c.SendStreamingMessage(t.Context(), req) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		events = append(events, ev)
	}
	if len(events) == 0 {
		t.Fatal("stream: no events")
	}
	return events
}

func get(t *testing.T, c *a2aclient.Client, id a2a.TaskID) *a2a.Task {
	t.Helper()
	task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return task
}

// told is what the specification promises of a failure.
type told struct {
	Code         errcode.Code
	Reason       string
	Retriable    bool
	RetryAfterMs int64 // −1: absent
}

func toldBy(e *errcode.Error) told {
	out := told{e.Code(), e.Reason(), e.Retriable(), -1}
	if d, ok := e.RetryAfter(); ok {
		out.RetryAfterMs = d.Milliseconds()
	}
	return out
}

var promised = map[string]told{
	"timeout":               {errcode.UpstreamTimeout, "deadline_exceeded", true, -1},
	"registry-timeout":      {errcode.UpstreamTimeout, "registry_timeout_error", true, -1},
	"invoke":                {errcode.UpstreamUnavailable, "component_invoke_error", true, -1},
	"load":                  {errcode.UpstreamUnavailable, "component_load_error", true, -1},
	"dial":                  {errcode.UpstreamUnavailable, "connection_refused", true, -1},
	"http-429":              {errcode.RateLimited, "http_status_error", true, 30_000},
	"http-401":              {errcode.AuthRequired, "http_status_error", false, -1},
	"http-403":              {errcode.AuthRequired, "http_status_error", false, -1},
	"http-404":              {errcode.NotFound, "http_status_error", false, -1},
	"http-503":              {errcode.UpstreamUnavailable, "http_status_error", true, 5_000},
	"http-504":              {errcode.UpstreamTimeout, "http_status_error", true, -1},
	"missing-api-key":       {errcode.AuthRequired, "missing_api_key_error", false, -1},
	"missing-field":         {errcode.InvalidInput, "missing_field_error", false, -1},
	"config":                {errcode.InvalidInput, "config_validation_error", false, -1},
	"registry-not-found":    {errcode.NotFound, "registry_not_found_error", false, -1},
	"registry-unauthorized": {errcode.AuthRequired, "registry_unauthorized_error", false, -1},
	"guardrail":             {errcode.GuardrailBlocked, "guardrail_blocked_error", false, -1},
	"recursion":             {errcode.UpstreamUnavailable, "max_tool_iterations_exceeded", true, -1},
	"max-iteration":         {errcode.Internal, "max_iteration_error", false, -1},
	"merge":                 {errcode.Internal, "merge_strategy_error", false, -1},
	"routing":               {errcode.Internal, "routing_error", false, -1},
	"protocol":              {errcode.Internal, "a2a_protocol_error", false, -1},
	"panic":                 {errcode.Internal, "panic", false, -1},
	"unknown":               {errcode.Internal, "internal_error", false, -1},
	"secret":                {errcode.Internal, "internal_error", false, -1},
}

// TestEveryKindOnEveryBinding drives the real server with the real client:
// what a failure says is the same in a blocking answer, at the end of a stream
// and in a later GetTask, over every binding, and holds no secret.
func TestEveryKindOnEveryBinding(t *testing.T) {
	bs := bindings(t)
	if diff := cmp.Diff(showcase.Kinds(), sorted(promised)); diff != "" {
		t.Fatalf("kinds of the showcase and of this test (-showcase +test):\n%s", diff)
	}
	for _, b := range bs {
		t.Run(b.name, func(t *testing.T) {
			for kind, want := range promised {
				req := message("error " + kind)
				answer := blocking(t, b.client, req)
				expect(t, kind+", blocking", answer, want)
				expect(t, kind+", later", get(t, b.client, answer.ID), want)

				events := streamed(t, b.client, message("error "+kind))
				last := events[len(events)-1]
				if e, ok := errcode.FromEvent(last); !ok {
					t.Errorf("%s, stream: the last event tells no failure: %T", kind, last)
				} else if diff := cmp.Diff(want, toldBy(e)); diff != "" {
					t.Errorf("%s, stream (-want +got):\n%s", kind, diff)
				}
				expect(t, kind+", after the stream", get(t, b.client, last.TaskInfo().TaskID), want)
				for _, ev := range events {
					leaksNothing(t, kind+", event", ev)
				}
			}
		})
	}
}

func expect(t *testing.T, what string, task *a2a.Task, want told) {
	t.Helper()
	leaksNothing(t, what, task)
	e, ok := errcode.FromTask(task)
	if !ok {
		t.Errorf("%s: state %s, want failed", what, task.Status.State)
		return
	}
	if diff := cmp.Diff(want, toldBy(e)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	if e.CorrelationID() == "" || e.Domain() != "showcase" {
		t.Errorf("%s: correlationId %q, domain %q", what, e.CorrelationID(), e.Domain())
	}
	if parts := task.Status.Message.Parts; len(parts) != 2 || parts[0].Text() != e.Message() {
		t.Errorf("%s: expected a text part with the message %q and a data part", what, e.Message())
	}
}

func leaksNothing(t *testing.T, what string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range showcase.Secrets() {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s: %q in %s", what, secret, raw)
		}
	}
}

// TestOtherRowsOnEveryBinding goes through the rows that are not "error KIND".
func TestOtherRowsOnEveryBinding(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			if got := textOf(blocking(t, b.client, message("ok"))); got != "ok" {
				t.Errorf("ok: got %q", got)
			}
			if got := textOf(streamEnd(t, b.client, "stream 3")); got != "chunk-1 chunk-2 chunk-3 " {
				t.Errorf("stream 3: got %q", got)
			}
			expectFailure(t, blocking(t, b.client, message("app")), errcode.RateLimited, "classifier_quota_exceeded")
			expectFailure(t, blocking(t, b.client, message("bad-data")), errcode.Internal, "error_data_build_failed")
			expectFailure(t, blocking(t, b.client, message("nonsense")), errcode.InvalidInput, "unknown_scenario")

			broken := streamEnd(t, b.client, "stream-fail 2")
			expectFailure(t, broken, errcode.UpstreamUnavailable, "component_invoke_error")
			if got := textOf(broken); got != "chunk-1 chunk-2 " {
				t.Errorf("stream-fail 2: kept %q", got)
			}
			blocked := streamEnd(t, b.client, "stream-guardrail 2")
			expectFailure(t, blocked, errcode.GuardrailBlocked, "guardrail_blocked_error")
			if len(blocked.Artifacts) != 0 {
				t.Errorf("stream-guardrail 2: kept %q", textOf(blocked))
			}
			if got := textOf(streamEnd(t, b.client, "stream-early-fail")); got != "from invoke" {
				t.Errorf("stream-early-fail: got %q", got)
			}
			empty := blocking(t, b.client, message("empty"))
			if empty.Status.State != a2a.TaskStateCompleted || len(empty.Artifacts) != 1 {
				t.Fatalf("empty: got %s with %d artifacts", empty.Status.State, len(empty.Artifacts))
			}
			if diff := cmp.Diff(any(map[string]any{"found": float64(0)}), empty.Artifacts[0].Parts[0].Data()); diff != "" {
				t.Errorf("empty (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDomainRow fails with each code of the catalogue, in the language asked for.
func TestDomainRow(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			for _, code := range []string{"DOC_001", "DOC_002", "DOC_003", "DOC_004", "DOC_005", "DOC_006", "DOC_007", "DOC_008"} {
				e, ok := errcode.FromTask(blocking(t, b.client, message("domain "+code)))
				if !ok || e.DomainCode() != code || e.Domain() != "subject-management" {
					t.Errorf("%s: got %v of %s", code, e, e.Domain())
				}
			}
			e, _ := errcode.FromTask(blocking(t, b.client, message("domain  DOC_004 ")))
			if d, ok := e.RetryAfter(); !ok || d.Seconds() != 60 || !errcode.Is(e, errcode.RateLimited) {
				t.Errorf("DOC_004: got %v after %v", e, d)
			}
			ctx := a2aclient.AttachServiceParams(t.Context(), a2aclient.ServiceParams{"Accept-Language": {"ko-KR, en;q=0.5"}})
			res, err := b.client.SendMessage(ctx, message("domain DOC_005"))
			if err != nil {
				t.Fatal(err)
			}
			task, ok := res.(*a2a.Task)
			if !ok {
				t.Fatalf("got %T", res)
			}
			if e, _ := errcode.FromTask(task); e.Message() != "문서의 유효 기간이 지났습니다." {
				t.Errorf("in Korean: got %q", e.Message())
			}
			expectFailure(t, blocking(t, b.client, message("domain NOPE")), errcode.Internal, "unknown_domain_code")
		})
	}
}

// TestAuthAndAnswer parks a task for credentials: the stream ends, the blocking
// call returns, the next message resumes.
func TestAuthAndAnswer(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			asked := blocking(t, b.client, message("auth"))
			if asked.Status.State != a2a.TaskStateAuthRequired {
				t.Fatalf("auth: got %s", asked.Status.State)
			}
			data, _ := asked.Status.Message.Parts[1].Data().(map[string]any)
			if data["scheme"] != "oauth2" || data["url"] != "https://login.bank.example/authorize" {
				t.Errorf("auth: data %v", data)
			}
			reply := func(to *a2a.Task, text string) *a2a.SendMessageRequest {
				return &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, to, a2a.NewTextPart(text))}
			}
			if got := textOf(blocking(t, b.client, reply(asked, "token"))); got != "you said: token" {
				t.Errorf("answer: got %q", got)
			}
			asked = streamEnd(t, b.client, "auth")
			if asked.Status.State != a2a.TaskStateAuthRequired {
				t.Fatalf("streamed auth: got %s", asked.Status.State)
			}
			events := streamed(t, b.client, reply(asked, "again"))
			if got := textOf(get(t, b.client, events[0].TaskInfo().TaskID)); got != "you said: again" {
				t.Errorf("streamed answer: got %q", got)
			}
			canceled, err := b.client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: streamEnd(t, b.client, "auth").ID})
			if err != nil || canceled.Status.State != a2a.TaskStateCanceled {
				t.Errorf("cancel: got %+v, %v", canceled, err)
			}
		})
	}
}

// TestCancelRows cancels what works, and what does not listen.
func TestCancelRows(t *testing.T) {
	for _, b := range bindings(t) {
		for _, text := range []string{"slow 60", "deaf 2"} {
			t.Run(b.name+" "+text, func(t *testing.T) {
				var last a2a.Event
				for ev, err := range b.client.SendStreamingMessage(t.Context(), message(text)) {
					if err != nil {
						t.Fatal(err)
					}
					if last == nil {
						task, err := b.client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: ev.TaskInfo().TaskID})
						if err != nil || task.Status.State != a2a.TaskStateCanceled {
							t.Errorf("cancel: got %+v, %v", task, err)
						}
					}
					last = ev
				}
				if s, ok := last.(*a2a.TaskStatusUpdateEvent); !ok || s.Status.State != a2a.TaskStateCanceled {
					t.Errorf("the stream ends with %+v", last)
				}
			})
		}
	}
}

// TestFlowRows goes through "flow MODE": completed nodes' outputs are kept, the
// failing node is named, a question resumes the same run.
func TestFlowRows(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			if got := textOf(blocking(t, b.client, message("flow ok"))); got != "found terms of loan 4711" {
				t.Errorf("flow ok: got %q", got)
			}
			for mode, want := range map[string]struct {
				code   errcode.Code
				reason string
			}{
				"fail":    {errcode.UpstreamUnavailable, "component_invoke_error"},
				"panic":   {errcode.Internal, "panic"},
				"timeout": {errcode.UpstreamTimeout, "deadline_exceeded"},
			} {
				for _, task := range []*a2a.Task{
					blocking(t, b.client, message("flow "+mode)), streamEnd(t, b.client, "flow "+mode),
				} {
					expectFailure(t, task, want.code, want.reason)
					expectFlow(t, mode, task, errcode.Node{ID: "rag_search", Kind: "business"},
						errcode.Flow{ID: "loan", CompletedNodes: []string{"fetch_subject"}}, "loan 4711")
				}
			}
			blocked := streamEnd(t, b.client, "flow guardrail")
			expectFailure(t, blocked, errcode.GuardrailBlocked, "guardrail_blocked_error")
			expectFlow(t, "guardrail", blocked, errcode.Node{ID: "rag_search", Kind: "business"},
				errcode.Flow{ID: "loan", CompletedNodes: []string{"fetch_subject"}}, "")

			parallel := streamEnd(t, b.client, "flow parallel-fail")
			expectFailure(t, parallel, errcode.UpstreamUnavailable, "component_invoke_error")
			expectFlow(t, "parallel-fail", parallel, errcode.Node{ID: "b", Kind: "business"},
				errcode.Flow{ID: "fanout", CompletedNodes: []string{"a"}}, "from a")

			asked := blocking(t, b.client, message("flow ask"))
			if asked.Status.State != a2a.TaskStateInputRequired || asked.Status.Message.Parts[0].Text() != "What amount?" {
				t.Fatalf("flow ask: got %+v", asked.Status)
			}
			reply := &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, asked, a2a.NewTextPart("1000"))}
			if got := textOf(blocking(t, b.client, reply)); got != "runs: fetch_subject=1 rag_search=1 generate_response=2" {
				t.Errorf("flow ask, answered: got %q", got)
			}
		})
	}
}

func expectFlow(t *testing.T, mode string, task *a2a.Task, node errcode.Node, flow errcode.Flow, kept string) {
	t.Helper()
	e, ok := errcode.FromTask(task)
	if !ok {
		t.Errorf("flow %s: no failure", mode)
		return
	}
	gotNode, _ := e.Node()
	gotFlow, _ := e.Flow()
	if diff := cmp.Diff(node, gotNode) + cmp.Diff(flow, gotFlow); diff != "" {
		t.Errorf("flow %s (-want +got):\n%s", mode, diff)
	}
	if got := textOf(task); got != kept {
		t.Errorf("flow %s: kept %q, want %q", mode, got, kept)
	}
	if e.Retried() != 0 {
		t.Errorf("flow %s: retried %d, a flow does not fall back", mode, e.Retried())
	}
}

// TestAskAndAnswer parks a task and resumes it, blocking and streaming, and is
// refused when it has ended.
func TestAskAndAnswer(t *testing.T) {
	for _, b := range bindings(t) {
		t.Run(b.name, func(t *testing.T) {
			asked := blocking(t, b.client, message("ask"))
			if asked.Status.State != a2a.TaskStateInputRequired {
				t.Fatalf("ask: got %s", asked.Status.State)
			}
			if got := asked.Status.Message.Parts[0].Text(); got != "What is your name?" {
				t.Errorf("ask: got %q", got)
			}
			reply := &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, asked, a2a.NewTextPart("Ada"))}
			if got := textOf(blocking(t, b.client, reply)); got != "you said: Ada" {
				t.Errorf("answer: got %q", got)
			}

			asked = streamEnd(t, b.client, "ask")
			events := streamed(t, b.client, &a2a.SendMessageRequest{
				Message: a2a.NewMessageForTask(a2a.MessageRoleUser, asked, a2a.NewTextPart("Bob")),
			})
			done := get(t, b.client, events[0].TaskInfo().TaskID)
			if got := textOf(done); got != "you said: Bob" {
				t.Errorf("streamed answer: got %q", got)
			}
			if got := saidIn(done); !cmp.Equal(got, []string{"ask", "What is your name?", "Bob"}) {
				t.Errorf("history: got %q", got)
			}

			again := &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, done, a2a.NewTextPart("more"))}
			refused := func(err error) bool { return errors.Is(err, a2a.ErrUnsupportedOperation) }
			if b.name == "0.3 JSON-RPC" {
				// The host's client wants an array at error.data, which A2A 0.3 does not
				// know; the 0.3 clients want the object that is sent.
				refused = func(err error) bool { return err != nil && strings.Contains(err.Error(), "cannot unmarshal object") }
			}
			if _, err := b.client.SendMessage(t.Context(), again); !refused(err) {
				t.Errorf("a message to a finished task: got %v, want %v", err, a2a.ErrUnsupportedOperation)
			}
			for _, err := range b.client.SendStreamingMessage(t.Context(), again) {
				if !refused(err) {
					t.Errorf("a stream to a finished task: got %v, want %v", err, a2a.ErrUnsupportedOperation)
				}
			}
		})
	}
}

func streamEnd(t *testing.T, c *a2aclient.Client, text string) *a2a.Task {
	t.Helper()
	return get(t, c, streamed(t, c, message(text))[0].TaskInfo().TaskID)
}

func expectFailure(t *testing.T, task *a2a.Task, code errcode.Code, reason string) {
	t.Helper()
	e, ok := errcode.FromTask(task)
	if !ok || !errcode.Is(e, code) || e.Reason() != reason {
		t.Errorf("got %v (failed: %v), want %s %s", e, ok, code, reason)
	}
}

func textOf(task *a2a.Task) string {
	var b strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text())
		}
	}
	return b.String()
}

func saidIn(task *a2a.Task) []string {
	var out []string
	for _, m := range task.History {
		out = append(out, m.Parts[0].Text())
	}
	return out
}

func sorted(m map[string]told) []string {
	var out []string
	for _, k := range showcase.Kinds() {
		if _, ok := m[k]; ok {
			out = append(out, k)
		}
	}
	if len(out) != len(m) {
		out = append(out, "and others")
	}
	return out
}
