package openaimodel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/agent/tool/openaimodel"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vendor speaks the API's wire format: it gives one answer after the other.
type vendor struct {
	*openaimodel.Model
	mu   sync.Mutex
	asks []map[string]any // the requests' bodies
}

func (v *vendor) asked() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.asks)
}

func serve(t *testing.T, answers ...http.HandlerFunc) *vendor {
	t.Helper()
	v := &vendor{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask map[string]any
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.URL.Path != "/chat/completions" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		v.mu.Lock()
		v.asks = append(v.asks, ask)
		answer := answers[min(len(v.asks), len(answers))-1]
		v.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(web.Close)
	v.Model = openaimodel.New(openai.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("k"), option.WithHTTPClient(web.Client())), "gpt-x",
		openaimodel.Params(func(p *openai.ChatCompletionNewParams) { p.Temperature = openai.Float(0) }))
	return v
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// events streams; a last "abort" breaks the connection.
func events(data ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			if d == "abort" {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", d)
		}
	}
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
	v := serve(t, answer(200, completion(wants, "tool_calls")), answer(200, completion(hello, "stop")))
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
	if diff := cmp.Diff(wantAsk, v.asks[1]); diff != "" {
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
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		stream bool
		code   errcode.Code
		after  time.Duration
	}{
		"429":                   {answer(429, apiError, "Retry-After", "7"), false, errcode.RateLimited, 7 * time.Second},
		"429 of a stream":       {answer(429, apiError, "Retry-After", "7"), true, errcode.RateLimited, 7 * time.Second},
		"401":                   {answer(401, apiError), false, errcode.AuthRequired, 0},
		"401 of a stream":       {answer(401, apiError), true, errcode.AuthRequired, 0},
		"400":                   {answer(400, apiError), false, errcode.Internal, 0},
		"503":                   {answer(503, "down"), false, errcode.UpstreamUnavailable, 0},
		"not JSON":              {answer(200, "<html>"), false, errcode.UpstreamUnavailable, 0},
		"null":                  {answer(200, `null`), false, errcode.UpstreamUnavailable, 0},
		"call of nothing":       {events(chunk(`{"tool_calls":[{"index":0}]}`, "tool_calls")), true, errcode.UpstreamUnavailable, 0},
		"no choices":            {answer(200, `{"choices":[]}`), false, errcode.UpstreamUnavailable, 0},
		"filtered":              {answer(200, completion(hello, "content_filter")), false, errcode.GuardrailBlocked, 0},
		"connection breaks":     {events(half, "abort"), true, errcode.UpstreamUnavailable, 0},
		"stream ends":           {events(half), true, errcode.UpstreamUnavailable, 0},
		"stream ends with done": {events(half, "[DONE]"), true, errcode.UpstreamUnavailable, 0},
		"malformed event":       {events(half, `{"id":`), true, errcode.UpstreamUnavailable, 0},
		"error event":           {events(half, `{"error":{"message":"the private text of the vendor","type":"server_error","code":null}}`), true, errcode.UpstreamUnavailable, 0},
		"limit event":           {events(half, `{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded"}}`), true, errcode.RateLimited, 0},
		"parts of two answers":  {events(half, strings.Replace(half, "c1", "c2", 1)), true, errcode.UpstreamUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := serve(t, c.answer)
			req := tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}}
			if c.stream {
				req.Stream = func(string) error { return nil }
			}
			_, err := v.Generate(t.Context(), req)
			var e *errcode.Error
			if !errors.As(err, &e) || e.Code() != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			after, _ := e.RetryAfter()
			if source := "llm:gpt-x"; after != c.after || e.Source() != source && c.code != errcode.GuardrailBlocked {
				t.Errorf("got delay %v from %q, want %v from %q", after, e.Source(), c.after, source)
			}
			if strings.Contains(e.Message(), "private") {
				t.Errorf("the vendor's text is public: %s", e.Message())
			}
			if v.asked() != 1 {
				t.Errorf("asked %d times, want 1", v.asked())
			}
		})
	}
}

// TestCancelAndTimeout: a silent API is left, with the context's own word.
func TestCancelAndTimeout(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 9)
	v := serve(t, func(_ http.ResponseWriter, r *http.Request) { began <- struct{}{}; <-r.Context().Done() })
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(why) }()
	if _, err := v.Generate(ctx, tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}}); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err := v.Generate(soon, tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}})
	if !errcode.Is(err, errcode.UpstreamTimeout) {
		t.Errorf("got %v, want a timeout", err)
	}
}

// TestAgent: the model in a loop in an agent. A rate limit is waited out, the tool
// called, the text streamed.
func TestAgent(t *testing.T) {
	t.Parallel()
	v := serve(t,
		answer(429, apiError, "Retry-After-Ms", "1"),
		events(chunk(strings.Replace(wants, `{"id"`, `{"index":0,"id"`, 1), "null"), chunk(`{}`, "tool_calls"), "[DONE]"),
		events(chunk(`{"role":"assistant","content":"You have "}`, "null"), chunk(`{"content":"12."}`, "stop"), "[DONE]"))
	balance := tool.Func("balance", "", func(_ context.Context, in struct {
		ID string `json:"account_id"`
	},
	) (string, error) {
		return "12 on " + in.ID, nil
	})
	loop, err := tool.NewLoop(v, []tool.Tool{balance})
	if err != nil {
		t.Fatal(err)
	}
	executortest.Run(t, agent.New("teller", agent.Stream(loop.Stream)), "how much?").AssertText(t, "You have 12.")
	if v.asked() != 3 {
		t.Errorf("asked %d times, want 3", v.asked())
	}
}
