package openaimodel_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/agent/tool/openaimodel"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, answers ...http.HandlerFunc) *modeltest.Vendor {
	t.Helper()
	return modeltest.Serve(t, "/chat/completions", func(web *httptest.Server) tool.Model {
		return openaimodel.New(openai.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("k"), option.WithHTTPClient(web.Client())), "gpt-x",
			openaimodel.Params(func(p *openai.ChatCompletionNewParams) { p.Temperature = openai.Float(0) }))
	}, answers...)
}

func events(data ...string) http.HandlerFunc {
	return modeltest.Events(func(d string) string { return "data: " + d + "\n\n" }, data...)
}

func completion(message, finish string) string {
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"gpt-x","choices":[{"index":0,"message":%s,
		"finish_reason":%q,"logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`, message, finish)
}

func chunk(delta, finish string) string {
	if finish != "null" {
		finish = `"` + finish + `"`
	}
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

const (
	hello    = `{"role":"assistant","content":"Hello."}`
	wants    = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"balance","arguments":"{\"account_id\":\"a\"}"}}]}`
	apiError = `{"error":{"message":"the private text of the vendor","type":"t","code":"c","param":null}}`
)

var spec = tool.Spec{Name: "balance", Description: "of an account", InputSchema: json.RawMessage(`{"type":"object","required":["account_id"]}`)}

// TestWireFormat: what the API is sent, and what becomes of its answers.
func TestWireFormat(t *testing.T) {
	t.Parallel()
	v := serve(t, modeltest.Answer(200, completion(wants, "tool_calls")), modeltest.Answer(200, completion(hello, "stop")))
	req := tool.ModelRequest{System: "Be brief.", Messages: []tool.Message{tool.UserText("how much?")}, Tools: []tool.Spec{spec}}
	first, err := v.Generate(t.Context(), req)
	want := tool.ModelResponse{
		Calls: []tool.Call{{ID: "call_1", Name: "balance", Args: json.RawMessage(`{"account_id":"a"}`)}},
		Usage: tool.Usage{InputTokens: 3, OutputTokens: 4},
	}
	if diff := cmp.Diff(want, first); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	req.Messages = append(req.Messages, tool.Message{Role: tool.Assistant, Text: "Wait.", Calls: first.Calls},
		tool.Message{Role: tool.ToolResults, Results: []tool.CallResult{{CallID: "call_1", Name: "balance", Output: tool.Output{Text: "12"}}}})
	last, err := v.Generate(t.Context(), req)
	if err != nil || last.Text != "Hello." || last.Calls != nil {
		t.Errorf("got %+v, %v", last, err)
	}
	wantAsk := map[string]any{
		"model": "gpt-x", "temperature": 0.0,
		"messages": []any{
			map[string]any{"role": "system", "content": "Be brief."},
			map[string]any{"role": "user", "content": "how much?"},
			map[string]any{"role": "assistant", "content": "Wait.", "tool_calls": []any{
				map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": "balance", "arguments": `{"account_id":"a"}`}},
			}},
			map[string]any{"role": "tool", "tool_call_id": "call_1", "content": "12"},
		},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "balance", "description": "of an account", "parameters": map[string]any{"type": "object", "required": []any{"account_id"}},
		}}},
	}
	if diff := cmp.Diff(wantAsk, v.Asks()[1]); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
}

// TestStreaming: the pieces of text come as they are sent, those of a call together.
func TestStreaming(t *testing.T) {
	t.Parallel()
	v := serve(t, events(
		chunk(`{"role":"assistant","content":"Let "}`, "null"), chunk(`{"content":"me see."}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"balance","arguments":""}}]}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"account_id\":"}}]}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}},{"index":1,"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]}`, "null"),
		chunk(`{}`, "tool_calls"),
		`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
		"[DONE]"))
	var pieces []string
	got, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}, Stream: func(s string) error {
		if s != "" {
			pieces = append(pieces, s)
		}
		return nil
	}})
	want := tool.ModelResponse{
		Text: "Let me see.", Usage: tool.Usage{InputTokens: 3, OutputTokens: 4},
		Calls: []tool.Call{
			{ID: "call_1", Name: "balance", Args: json.RawMessage(`{"account_id":"a"}`)},
			{ID: "call_2", Name: "time", Args: json.RawMessage(`{}`)},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"Let ", "me see."}, pieces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCallsCountedFrom1: the places of calls that were not sent became calls
// without a name.
func TestCallsCountedFrom1(t *testing.T) {
	t.Parallel()
	v := serve(t, events(chunk(`{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"time","arguments":"{}"}}]}`, "tool_calls"), "[DONE]"))
	got, err := v.Generate(t.Context(), tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}, Stream: func(string) error { return nil }})
	want := tool.ModelResponse{Calls: []tool.Call{{ID: "call_1", Name: "time", Args: json.RawMessage(`{}`)}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestStreamThatStaysOpen: an answer is whole when the vendor says so.
func TestStreamThatStaysOpen(t *testing.T) {
	t.Parallel()
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		events(chunk(`{"role":"assistant","content":"Hello."}`, "stop"), "[DONE]")(w, r)
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
	half := chunk(`{"role":"assistant","content":"Hel"}`, "null")
	for name, f := range map[string]modeltest.Failure{
		"429":                   {Answer: modeltest.Answer(429, apiError, "Retry-After", "7"), Code: errcode.RateLimited, After: 7 * time.Second},
		"429 of a stream":       {Answer: modeltest.Answer(429, apiError, "Retry-After", "7"), Stream: true, Code: errcode.RateLimited, After: 7 * time.Second},
		"401":                   {Answer: modeltest.Answer(401, apiError), Code: errcode.AuthRequired},
		"401 of a stream":       {Answer: modeltest.Answer(401, apiError), Stream: true, Code: errcode.AuthRequired},
		"400":                   {Answer: modeltest.Answer(400, apiError), Code: errcode.Internal},
		"503":                   {Answer: modeltest.Answer(503, "down"), Code: errcode.UpstreamUnavailable},
		"not JSON":              {Answer: modeltest.Answer(200, "<html>"), Code: errcode.UpstreamUnavailable},
		"null":                  {Answer: modeltest.Answer(200, `null`), Code: errcode.UpstreamUnavailable},
		"call of nothing":       {Answer: events(chunk(`{"tool_calls":[{"index":0}]}`, "tool_calls")), Stream: true, Code: errcode.UpstreamUnavailable},
		"no choices":            {Answer: modeltest.Answer(200, `{"choices":[]}`), Code: errcode.UpstreamUnavailable},
		"filtered":              {Answer: modeltest.Answer(200, completion(hello, "content_filter")), Code: errcode.GuardrailBlocked},
		"connection breaks":     {Answer: events(half, modeltest.Abort), Stream: true, Code: errcode.UpstreamUnavailable},
		"stream ends":           {Answer: events(half), Stream: true, Code: errcode.UpstreamUnavailable},
		"stream ends with done": {Answer: events(half, "[DONE]"), Stream: true, Code: errcode.UpstreamUnavailable},
		"malformed event":       {Answer: events(half, `{"id":`), Stream: true, Code: errcode.UpstreamUnavailable},
		"error event":           {Answer: events(half, `{"error":{"message":"the private text of the vendor","type":"server_error","code":null}}`), Stream: true, Code: errcode.UpstreamUnavailable},
		"limit event":           {Answer: events(half, `{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded"}}`), Stream: true, Code: errcode.RateLimited},
		"parts of two answers":  {Answer: events(half, strings.Replace(half, "c1", "c2", 1)), Stream: true, Code: errcode.UpstreamUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.Check(t, serve(t, f.Answer), "llm:gpt-x")
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
		events(chunk(strings.Replace(wants, `{"id"`, `{"index":0,"id"`, 1), "null"), chunk(`{}`, "tool_calls"), "[DONE]"),
		events(chunk(`{"role":"assistant","content":"You have "}`, "null"), chunk(`{"content":"12."}`, "stop"), "[DONE]")))
}
