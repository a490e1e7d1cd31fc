package anthropicmodel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vendor speaks the API's wire format: it gives one answer after the other.
type vendor struct {
	*anthropicmodel.Model
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
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.URL.Path != "/v1/messages" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		v.mu.Lock()
		v.asks = append(v.asks, ask)
		answer := answers[min(len(v.asks), len(answers))-1]
		v.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(web.Close)
	v.Model = anthropicmodel.New(anthropic.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("k"), option.WithHTTPClient(web.Client())), "claude-x",
		anthropicmodel.MaxTokens(100),
		anthropicmodel.Params(func(p *anthropic.MessageNewParams) { p.StopSequences = []string{"END"} }))
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
			_, kind, _ := strings.Cut(d, `"type":"`)
			kind, _, _ = strings.Cut(kind, `"`)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, d)
		}
	}
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
	v := serve(t, answer(200, said(thought+","+wants, "tool_use")), answer(200, said(hello, "end_turn")))
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
	if diff := cmp.Diff(wantAsk, v.asks[1]); diff != "" {
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
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		stream bool
		code   errcode.Code
		after  time.Duration
	}{
		"429":               {answer(429, apiError, "Retry-After", "7"), false, errcode.RateLimited, 7 * time.Second},
		"429 of a stream":   {answer(429, apiError, "Retry-After", "7"), true, errcode.RateLimited, 7 * time.Second},
		"401":               {answer(401, failing("authentication_error")), false, errcode.AuthRequired, 0},
		"401 of a stream":   {answer(401, failing("authentication_error")), true, errcode.AuthRequired, 0},
		"400":               {answer(400, failing("invalid_request_error")), false, errcode.Internal, 0},
		"529":               {answer(529, failing("overloaded_error")), false, errcode.UpstreamUnavailable, 0},
		"not JSON":          {answer(200, "<html>"), false, errcode.UpstreamUnavailable, 0},
		"null":              {answer(200, `null`), false, errcode.UpstreamUnavailable, 0},
		"nothing":           {answer(200, `{}`), false, errcode.UpstreamUnavailable, 0},
		"refused":           {answer(200, said(hello, "refusal")), false, errcode.GuardrailBlocked, 0},
		"refused in stream": {then(stop(0), reason("refusal"), end), true, errcode.GuardrailBlocked, 0},
		"connection breaks": {then("abort"), true, errcode.UpstreamUnavailable, 0},
		"stream ends":       {then(), true, errcode.UpstreamUnavailable, 0},
		"no last event":     {then(stop(0), reason("end_turn")), true, errcode.UpstreamUnavailable, 0},
		"malformed event":   {then(`{"type":"content_block_delta",`), true, errcode.UpstreamUnavailable, 0},
		"out of order":      {events(textDelta(3, "x")), true, errcode.UpstreamUnavailable, 0},
		"overloaded":        {then(failing("overloaded_error")), true, errcode.UpstreamUnavailable, 0},
		"limit event":       {then(failing("rate_limit_error")), true, errcode.RateLimited, 0},
		"unknown event":     {then(failing("some_new_error")), true, errcode.UpstreamUnavailable, 0},
		"garbage event":     {then(`"type":"error"`), true, errcode.UpstreamUnavailable, 0},
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
			if source := "llm:claude-x"; after != c.after || e.Source() != source && c.code != errcode.GuardrailBlocked {
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
		events(start, begin(0, `{"type":"tool_use","id":"toolu_1","name":"balance","input":{}}`), jsonDelta(0, `{"account_id":"a"}`), stop(0), reason("tool_use"), end),
		events(start, begin(0, `{"type":"text","text":""}`), textDelta(0, "You have "), textDelta(0, "12."), stop(0), reason("end_turn"), end))
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
	raw, err := json.Marshal(v.asks)
	if err != nil || len(v.asks) != 2 || strings.Contains(string(raw), `"text":""`) {
		t.Errorf("sent %s, %v", raw, err)
	}
}

// TestAnswerThatWasKept: an answer that comes back as JSON, from a conversation
// that went on after a question, is sent as it was.
func TestAnswerThatWasKept(t *testing.T) {
	t.Parallel()
	v := serve(t, answer(200, said(thought+","+wants, "tool_use")), answer(200, said(hello, "end_turn")))
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
	if diff := cmp.Diff(v.asks[1], v.asks[2]); diff != "" {
		t.Errorf("(-as it was +as it was kept):\n%s", diff)
	}
	if sent, _ := json.Marshal(v.asks[2]); !strings.Contains(string(sent), `"signature":"sig"`) {
		t.Errorf("the signed thought is lost: %s", sent)
	}
}
