package realerrors_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	community "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"

	"github.com/a2aexec/a2aexec/errcode"
)

var llmReplies = []struct {
	reply
	code  errcode.Code
	after int64
}{
	{reply: reply{status: 400}, code: errcode.Internal},
	{reply: reply{status: 401}, code: errcode.AuthRequired},
	{reply: reply{status: 403}, code: errcode.AuthRequired},
	{reply: reply{status: 404}, code: errcode.NotFound},
	{reply: reply{status: 408}, code: errcode.UpstreamTimeout},
	{reply: reply{status: 422}, code: errcode.Internal},
	{reply: reply{status: 429, header: map[string]string{"Retry-After": "7"}}, code: errcode.RateLimited, after: 7000},
	{reply: reply{status: 429, header: map[string]string{"Retry-After-Ms": "1500.5", "Retry-After": "2"}}, code: errcode.RateLimited, after: 1501},
	{reply: reply{status: 500}, code: errcode.UpstreamUnavailable},
	{reply: reply{status: 503, header: map[string]string{"Retry-After": "2"}}, code: errcode.UpstreamUnavailable, after: 2000},
	{reply: reply{status: 504}, code: errcode.UpstreamTimeout},
	{reply: reply{status: 529, header: map[string]string{"Retry-After": "20"}}, code: errcode.UpstreamUnavailable, after: 20000},
}

// llmErrors lets a client call a server for each of the answers, one that refuses, and one that is
// silent.
func llmErrors(t *testing.T, reason string, call func(ctx context.Context, url string) error) []sample {
	t.Helper()
	var samples []sample
	for i, r := range llmReplies {
		r.body = `{"type":"error","error":{"message":"m","type":"some_error","code":"some_code","param":"p"}}`
		samples = append(samples, sample{
			fmt.Sprintf("%d %d", i, r.status), call(t.Context(), answering(t, r.reply)), want{r.code, reason, false, r.after},
		})
	}
	return append(samples,
		sample{"refused", call(t.Context(), "http://"+refusing(t)), want{errcode.UpstreamUnavailable, "connection_refused", false, 0}},
		sample{"deadline", call(soon(t), silent(t)), want{errcode.UpstreamTimeout, "deadline_exceeded", false, 0}},
	)
}

func openaiErrors(t *testing.T) []sample {
	t.Helper()
	samples := llmErrors(t, "openai_error", func(ctx context.Context, url string) error {
		client := openai.NewClient(openaioption.WithBaseURL(url), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
		_, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: "m"})
		return err
	})
	for status, code := range map[int]errcode.Code{401: errcode.AuthRequired, 429: errcode.RateLimited, 503: errcode.UpstreamUnavailable} {
		config := community.DefaultConfig("k")
		config.BaseURL = answering(t, reply{status: status, body: `{"error":{"message":"m","type":"t","code":"c"}}`})
		_, err := community.NewClientWithConfig(config).ListModels(t.Context())
		samples = append(samples, sample{fmt.Sprintf("community %d", status), err, want{code: code, reason: "api_error"}})
	}
	config := community.DefaultConfig("k")
	config.BaseURL = answering(t, reply{status: 502, body: "bad gateway"})
	_, err := community.NewClientWithConfig(config).ListModels(t.Context())
	return append(samples, sample{"community 502", err, want{code: errcode.UpstreamUnavailable, reason: "request_error"}})
}

func anthropicErrors(t *testing.T) []sample {
	t.Helper()
	return llmErrors(t, "anthropic_error", func(ctx context.Context, url string) error {
		client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
		_, err := client.Messages.New(ctx, anthropic.MessageNewParams{Model: "m", MaxTokens: 1})
		return err
	})
}

// quotaBody is how Google says when to come back.
const quotaBody = `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[
	{"@type":"type.googleapis.com/google.rpc.Help"},
	{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`

func geminiErrors(t *testing.T) []sample {
	t.Helper()
	call := func(r reply) error {
		client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
			APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: answering(t, r)},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Models.GenerateContent(t.Context(), "m", genai.Text("hello"), nil)
		return err
	}
	return []sample{
		{"429", call(reply{status: 429, body: quotaBody}), want{errcode.RateLimited, "api_error", false, 34500}},
		{"404", call(reply{status: 404, body: `{"error":{"code":404,"message":"m","status":"NOT_FOUND"}}`}), want{code: errcode.NotFound, reason: "api_error"}},
		{"503", call(reply{status: 503, body: `{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`}), want{code: errcode.UpstreamUnavailable, reason: "api_error"}},
		{"400", call(reply{status: 400, body: `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}`}), want{code: errcode.Internal, reason: "api_error"}},
	}
}

// streamErrors come after a status of 200, within the stream of events.
func streamErrors(t *testing.T) []sample {
	t.Helper()
	events := func(body string) string {
		return answering(t, reply{status: 200, header: map[string]string{"Content-Type": "text/event-stream"}, body: body})
	}
	fromAnthropic := func(kind string) error {
		client := anthropic.NewClient(anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0), anthropicoption.WithBaseURL(events(
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\""+kind+"\",\"message\":\"m\"}}\n\n")))
		stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 1})
		for stream.Next() { // only the end is of interest
		}
		return stream.Err()
	}
	fromOpenAI := func(kind, code string) error {
		client := openai.NewClient(openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0), openaioption.WithBaseURL(events(
			`data: {"error":{"message":"m","type":"`+kind+`","code":`+code+"}}\n\n")))
		stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m"})
		for stream.Next() { // only the end is of interest
		}
		return stream.Err()
	}
	return []sample{
		{"anthropic overloaded", fromAnthropic("overloaded_error"), want{code: errcode.UpstreamUnavailable, reason: "anthropic_error"}},
		{"anthropic rate limit", fromAnthropic("rate_limit_error"), want{code: errcode.RateLimited, reason: "anthropic_error"}},
		{"anthropic timeout", fromAnthropic("timeout_error"), want{code: errcode.UpstreamTimeout, reason: "anthropic_error"}},
		{"anthropic API", fromAnthropic("api_error"), want{code: errcode.UpstreamUnavailable, reason: "anthropic_error"}},
		{"anthropic authentication", fromAnthropic("authentication_error"), want{code: errcode.AuthRequired, reason: "anthropic_error"}},
		{"anthropic invalid request", fromAnthropic("invalid_request_error"), want{code: errcode.Internal, reason: "anthropic_error"}},
		{"openai rate limit", fromOpenAI("tokens", `"rate_limit_exceeded"`), want{code: errcode.RateLimited, reason: "stream_error"}},
		{"openai server error", fromOpenAI("server_error", "null"), want{code: errcode.UpstreamUnavailable, reason: "stream_error"}},
		{"openai quota", fromOpenAI("insufficient_quota", `"insufficient_quota"`), want{code: errcode.RateLimited, reason: "stream_error"}},
		{"openai unknown", fromOpenAI("some_error", `"some_code"`), want{code: errcode.Internal, reason: "stream_error"}},
	}
}
