package openaimodel

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// Option sets one thing about a [Model].
type Option struct{ apply func(*Model) }

// Params changes the parameters of each call before it is made: temperature,
// reasoning effort, tool choice. The messages, the model and the tools are set
// already. Default: none.
func Params(change func(*openai.ChatCompletionNewParams)) Option {
	return Option{func(m *Model) { m.change = change }}
}

// Model is a model of the Chat Completions API. It is immutable and safe for
// concurrent use.
type Model struct {
	client openai.Client
	name   string
	change func(*openai.ChatCompletionNewParams)
}

var _ tool.Model = (*Model)(nil)

// New makes a model of a client and the model's name. Failures come from
// llm:NAME.
func New(client openai.Client, name string, opts ...Option) *Model {
	m := &Model{client: client, name: name, change: func(*openai.ChatCompletionNewParams) {}}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(m)
		}
	}
	return m
}

// Generate implements tool.Model. It streams when somebody reads along. An error
// is an errcode.Error with the source llm:NAME; the vendor's own text is in its
// cause. An answer that the vendor's filter held back is GUARDRAIL_BLOCKED.
func (m *Model) Generate(ctx context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
	params, err := m.params(req)
	if err != nil {
		return tool.ModelResponse{}, err
	}
	m.change(&params)
	complete := m.whole
	if req.Stream != nil {
		complete = m.streamed
	}
	completion, err := complete(ctx, params, req.Stream)
	if err != nil {
		return tool.ModelResponse{}, m.failed(ctx, err)
	}
	return m.response(ctx, completion)
}

// once turns the SDK's own retries off.
var once = option.WithMaxRetries(0)

func (m *Model) whole(ctx context.Context, params openai.ChatCompletionNewParams, _ func(string) error) (*openai.ChatCompletion, error) {
	return m.client.Chat.Completions.New(ctx, params, once)
}

func (m *Model) streamed(ctx context.Context, params openai.ChatCompletionNewParams, read func(string) error) (*openai.ChatCompletion, error) {
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := m.client.Chat.Completions.NewStreaming(ctx, params, once)
	defer func() { _ = stream.Close() }()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if !all.AddChunk(chunk) {
			return nil, errInconsistent
		}
		for _, c := range chunk.Choices {
			if c.Index != 0 {
				continue
			}
			if err := read(c.Delta.Content + c.Delta.Refusal); err != nil {
				return nil, err
			}
		}
	}
	return &all.ChatCompletion, stream.Err()
}

// response reads an answer; one without a reason to finish was cut off.
func (m *Model) response(ctx context.Context, c *openai.ChatCompletion) (tool.ModelResponse, error) {
	if c == nil || len(c.Choices) == 0 || c.Choices[0].FinishReason == "" { // it is nil for "null"
		return tool.ModelResponse{}, m.failed(ctx, errCutOff)
	}
	choice := c.Choices[0]
	if choice.FinishReason == "content_filter" {
		return tool.ModelResponse{}, m.failed(ctx, errFiltered)
	}
	res := tool.ModelResponse{
		Text:  choice.Message.Content + choice.Message.Refusal,
		Usage: tool.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens},
	}
	for i, call := range choice.Message.ToolCalls {
		if call.ID == "" && call.Function.Name == "" {
			continue // the place of one that was not sent: some vendors count from 1
		}
		args := call.Function.Arguments
		if args == "" && choice.FinishReason == "length" && i == len(choice.Message.ToolCalls)-1 {
			args = "{" // they were not written any more, which is not to be taken for none
		}
		res.Calls = append(res.Calls, tool.Call{ID: call.ID, Name: call.Function.Name, Args: json.RawMessage(args)})
	}
	if len(choice.Message.ToolCalls) > 0 && len(res.Calls) == 0 {
		return tool.ModelResponse{}, m.failed(ctx, errInconsistent)
	}
	return res, nil
}

func (m *Model) params(req tool.ModelRequest) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{Model: m.name}
	if req.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(req.System))
	}
	for _, msg := range req.Messages {
		p.Messages = append(p.Messages, turn(msg)...)
	}
	for _, spec := range req.Tools {
		f := openai.FunctionDefinitionParam{Name: spec.Name}
		if spec.Description != "" {
			f.Description = openai.String(spec.Description)
		}
		if len(spec.InputSchema) > 0 {
			if err := json.Unmarshal(spec.InputSchema, &f.Parameters); err != nil {
				return p, fmt.Errorf("schema of tool %s: %w", spec.Name, err)
			}
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	return p, nil
}

// turn makes the vendor's messages of one of ours: each result is one of its own.
func turn(m tool.Message) []openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case tool.ToolResults:
		out := make([]openai.ChatCompletionMessageParamUnion, len(m.Results))
		for i, r := range m.Results {
			out[i] = openai.ToolMessage(r.Text, r.CallID)
		}
		return out
	case tool.Assistant:
		a := openai.ChatCompletionAssistantMessageParam{}
		if m.Text != "" {
			a.Content.OfString = openai.String(m.Text)
		}
		for _, c := range m.Calls {
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID:       c.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.Args)},
				},
			})
		}
		return []openai.ChatCompletionMessageParamUnion{{OfAssistant: &a}}
	default:
		return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(m.Text)}
	}
}
