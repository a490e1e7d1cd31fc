package anthropicmodel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/agent/tool/anthropicmodel"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/internal/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, answers ...http.HandlerFunc) *modeltest.Vendor {
	t.Helper()
	return modeltest.Serve(t, "/v1/messages", func(web *httptest.Server) tool.Model {
		return anthropicmodel.New(anthropic.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("k"), option.WithHTTPClient(web.Client())), "claude-x",
			anthropicmodel.MaxTokens(100),
			anthropicmodel.Params(func(p *anthropic.MessageNewParams) { p.StopSequences = []string{"END"} }))
	}, answers...)
}

func events(data ...string) http.HandlerFunc {
	return modeltest.Events(func(d string) string {
		_, kind, _ := strings.Cut(d, `"type":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		return fmt.Sprintf("event: %s\ndata: %s\n\n", kind, d)
	}, data...)
}

func said(content, stop string) string {
	return fmt.Sprintf(`{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[%s],"stop_reason":%q,
		"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":4}}`, content, stop)
}

const (
	hello    = `{"type":"text","text":"Hello."}`
	thought  = `{"type":"thinking","thinking":"Hm.","signature":"sig"}`
	wants    = `{"type":"tool_use","id":"toolu_1","name":"balance","input":{"account_id":"a"}}`
	apiError = `{"type":"error","error":{"type":"rate_limit_error","message":"the private text of the vendor"},"request_id":"r1"}`

	start   = `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`
	ping    = `{"type":"ping"}`
	end     = `{"type":"message_stop"}`
	blocked = `{"type":"content_block_stop","index":%d}`
)

func begin(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func delta(i int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d)
}

func textDelta(i int, text string) string {
	return delta(i, fmt.Sprintf(`{"type":"text_delta","text":%q}`, text))
}

func jsonDelta(i int, part string) string {
	return delta(i, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, part))
}

func stop(i int) string { return fmt.Sprintf(blocked, i) }

func reason(why string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":4}}`, why)
}

var spec = tool.Spec{Name: "balance", Description: "of an account", InputSchema: json.RawMessage(`{"type":"object","properties":{"account_id":{"$ref":"#/$defs/id"}},"required":["account_id"],"$defs":{"id":{"type":"string"}}}`)}

// TestWireFormat: what the API is sent, and what becomes of its answers.
func TestWireFormat(t *testing.T) {
	t.Parallel()
	v := serve(t, modeltest.Answer(200, said(thought+","+wants, "tool_use")), modeltest.Answer(200, said(hello, "end_turn")))
	req := tool.ModelRequest{System: "Be brief.", Messages: []tool.Message{tool.UserText("how much?")}, Tools: []tool.Spec{spec}}
	first, err := v.Generate(t.Context(), req)
	raw := first.Raw
	first.Raw = nil
	want := tool.ModelResponse{
		Calls: []tool.Call{{ID: "toolu_1", Name: "balance", Args: json.RawMessage(`{"account_id":"a"}`)}},
		Usage: tool.Usage{InputTokens: 3, OutputTokens: 4},
	}
	if diff := cmp.Diff(want, first); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	broken := []tool.Call{{ID: "toolu_2", Name: "balance", Args: json.RawMessage(`{"account`)}}
	req.Messages = append(req.Messages, tool.Message{Role: tool.Assistant, Calls: first.Calls, Raw: raw},
		tool.Message{Role: tool.ToolResults, Results: []tool.CallResult{{CallID: "toolu_1", Name: "balance"}}},
		tool.Message{Role: tool.Assistant, Text: "Wait.", Calls: broken},
		tool.Message{Role: tool.ToolResults, Results: []tool.CallResult{{CallID: "toolu_2", Name: "balance", Output: tool.Output{Text: "no", IsError: true}}}})
	last, err := v.Generate(t.Context(), req)
	if err != nil || last.Text != "Hello." || last.Calls != nil {
		t.Errorf("got %+v, %v", last, err)
	}
	use := func(id string, input map[string]any) map[string]any {
		return map[string]any{"type": "tool_use", "id": id, "name": "balance", "input": input}
	}
	wantAsk := map[string]any{
		"model": "claude-x", "max_tokens": 100.0, "stop_sequences": []any{"END"},
		"system": []any{map[string]any{"type": "text", "text": "Be brief."}},
		"messages": []any{
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "how much?"}}},
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "Hm.", "signature": "sig"},
				use("toolu_1", map[string]any{"account_id": "a"}),
			}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": false},
			}},
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": "Wait."}, use("toolu_2", map[string]any{})}},
			map[string]any{"role": "user", "content": []any{map[string]any{
				"type": "tool_result", "tool_use_id": "toolu_2", "is_error": true,
				"content": []any{map[string]any{"type": "text", "text": "no"}},
			}}},
		},
		"tools": []any{map[string]any{
			"name": "balance", "description": "of an account", "input_schema": map[string]any{
				"type": "object", "required": []any{"account_id"},
				"properties": map[string]any{"account_id": map[string]any{"$ref": "#/$defs/id"}},
				"$defs":      map[string]any{"id": map[string]any{"type": "string"}},
			},
		}},
	}
	if diff := cmp.Diff(wantAsk, v.Asks()[1]); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
}

// TestStreaming: the pieces of text come as they are sent, those of a call together.
func TestStreaming(t *testing.T) {
	t.Parallel()
	v := serve(t, events(
		start, begin(0, `{"type":"text","text":""}`), ping, textDelta(0, "Let "), textDelta(0, "me see."), stop(0),
		begin(1, `{"type":"tool_use","id":"toolu_1","name":"balance","input":{}}`), jsonDelta(1, ""), jsonDelta(1, `{"account_id":`), jsonDelta(1, `"a"}`), stop(1),
		begin(2, `{"type":"tool_use","id":"toolu_2","name":"time","input":{}}`), stop(2),
		reason("tool_use"), end))
	var pieces []string
	got, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}, Stream: func(s string) error {
		pieces = append(pieces, s)
		return nil
	}})
	if got.Raw == nil {
		t.Error("nothing to send back")
	}
	got.Raw = nil
	want := tool.ModelResponse{
		Text: "Let me see.", Usage: tool.Usage{InputTokens: 3, OutputTokens: 4},
		Calls: []tool.Call{
			{ID: "toolu_1", Name: "balance", Args: json.RawMessage(`{"account_id":"a"}`)},
			{ID: "toolu_2", Name: "time", Args: json.RawMessage(`{}`)},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"Let ", "me see."}, pieces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStreamThatStaysOpen: an answer was not whole before the vendor had closed the
// connection, and what came after its end was a part of it.
func TestStreamThatStaysOpen(t *testing.T) {
	t.Parallel()
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		events(start, begin(0, `{"type":"text","text":""}`), textDelta(0, "Hello."), stop(0), reason("end_turn"), end, textDelta(0, " More."))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	got, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}, Stream: func(string) error { return nil }})
	if err != nil || got.Text != "Hello." {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestFailures: each has its code, the source and a public text, and the API is
// asked once.
func TestFailures(t *testing.T) {
	t.Parallel()
	half := []string{start, begin(0, `{"type":"text","text":""}`), textDelta(0, "Hel")}
	then := func(more ...string) http.HandlerFunc { return events(append(slices.Clip(half), more...)...) }
	failing := func(kind string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"the private text of the vendor"}}`, kind)
	}
	for name, f := range map[string]modeltest.Failure{
		"429":               {Answer: modeltest.Answer(429, apiError, "Retry-After", "7"), Code: errcode.RateLimited, After: 7 * time.Second},
		"429 of a stream":   {Answer: modeltest.Answer(429, apiError, "Retry-After", "7"), Stream: true, Code: errcode.RateLimited, After: 7 * time.Second},
		"401":               {Answer: modeltest.Answer(401, failing("authentication_error")), Code: errcode.AuthRequired},
		"401 of a stream":   {Answer: modeltest.Answer(401, failing("authentication_error")), Stream: true, Code: errcode.AuthRequired},
		"400":               {Answer: modeltest.Answer(400, failing("invalid_request_error")), Code: errcode.Internal},
		"529":               {Answer: modeltest.Answer(529, failing("overloaded_error")), Code: errcode.UpstreamUnavailable},
		"not JSON":          {Answer: modeltest.Answer(200, "<html>"), Code: errcode.UpstreamUnavailable},
		"null":              {Answer: modeltest.Answer(200, `null`), Code: errcode.UpstreamUnavailable},
		"nothing":           {Answer: modeltest.Answer(200, `{}`), Code: errcode.UpstreamUnavailable},
		"refused":           {Answer: modeltest.Answer(200, said(hello, "refusal")), Code: errcode.GuardrailBlocked},
		"refused in stream": {Answer: then(stop(0), reason("refusal"), end), Stream: true, Code: errcode.GuardrailBlocked},
		"connection breaks": {Answer: then(modeltest.Abort), Stream: true, Code: errcode.UpstreamUnavailable},
		"stream ends":       {Answer: then(), Stream: true, Code: errcode.UpstreamUnavailable},
		"no last event":     {Answer: then(stop(0), reason("end_turn")), Stream: true, Code: errcode.UpstreamUnavailable},
		"malformed event":   {Answer: then(`{"type":"content_block_delta",`), Stream: true, Code: errcode.UpstreamUnavailable},
		"out of order":      {Answer: events(textDelta(3, "x")), Stream: true, Code: errcode.UpstreamUnavailable},
		"overloaded":        {Answer: then(failing("overloaded_error")), Stream: true, Code: errcode.UpstreamUnavailable},
		"limit event":       {Answer: then(failing("rate_limit_error")), Stream: true, Code: errcode.RateLimited},
		"unknown event":     {Answer: then(failing("some_new_error")), Stream: true, Code: errcode.UpstreamUnavailable},
		"garbage event":     {Answer: then(`"type":"error"`), Stream: true, Code: errcode.UpstreamUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.Check(t, serve(t, f.Answer), "llm:claude-x")
		})
	}
}

// TestCancelAndTimeout: a silent API is left, with the context's own word.
func TestCancelAndTimeout(t *testing.T) {
	t.Parallel()
	modeltest.CheckSilence(t, serve)
}

// TestAgent: the model in a loop in an agent. A rate limit is waited out, the tool
// called, the text streamed.
func TestAgent(t *testing.T) {
	t.Parallel()
	modeltest.CheckAgent(t, serve(t,
		modeltest.Answer(429, apiError, "Retry-After-Ms", "1"),
		events(start, begin(0, `{"type":"tool_use","id":"toolu_1","name":"balance","input":{}}`), jsonDelta(0, `{"account_id":"a"}`), stop(0), reason("tool_use"), end),
		events(start, begin(0, `{"type":"text","text":""}`), textDelta(0, "You have "), textDelta(0, "12."), stop(0), reason("end_turn"), end)))
}

// TestNoTextIsEmpty: the API refuses one, wherever it comes from: an answer that
// is sent back, a question without words.
func TestNoTextIsEmpty(t *testing.T) {
	t.Parallel()
	v := serve(t,
		events(start, begin(0, `{"type":"text","text":""}`), stop(0), begin(1, `{"type":"tool_use","id":"toolu_1","name":"delete","input":{}}`), stop(1), reason("tool_use"), end),
		events(start, begin(0, `{"type":"text","text":""}`), textDelta(0, "Hello."), stop(0), reason("end_turn"), end))
	del := tool.Func("delete", "", func(context.Context, struct{}) (string, error) { return "", nil })
	loop, err := tool.NewLoop(v, []tool.Tool{del})
	if err != nil {
		t.Fatal(err)
	}
	executortest.Run(t, agent.New("a", agent.Stream(loop.Stream)), "").AssertText(t, "Hello.")
	raw, err := json.Marshal(v.Asks())
	if err != nil || len(v.Asks()) != 2 || strings.Contains(string(raw), `"text":""`) {
		t.Errorf("sent %s, %v", raw, err)
	}
}

// TestAnswerThatWasKept: an answer that comes back as JSON, from a conversation
// that went on after a question, is sent as it was.
func TestAnswerThatWasKept(t *testing.T) {
	t.Parallel()
	v := serve(t, modeltest.Answer(200, said(thought+","+wants, "tool_use")), modeltest.Answer(200, said(hello, "end_turn")))
	first, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(first.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []any{first.Raw, json.RawMessage(kept)} {
		_, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{
			tool.UserText("x"),
			{Role: tool.Assistant, Calls: first.Calls, Raw: raw},
			{Role: tool.ToolResults, Results: []tool.CallResult{{CallID: "toolu_1", Output: tool.Output{Text: "12"}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(v.Asks()[1], v.Asks()[2]); diff != "" {
		t.Errorf("(-as it was +as it was kept):\n%s", diff)
	}
	if sent, _ := json.Marshal(v.Asks()[2]); !strings.Contains(string(sent), `"signature":"sig"`) {
		t.Errorf("the signed thought is lost: %s", sent)
	}
}
