package anthropicmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// Option sets one thing about a [Model].
type Option struct{ apply func(*Model) }

// Params changes the parameters of each call before it is made: temperature,
// thinking, tool choice. The messages, the model, the tools and the limit of
// tokens are set already. Default: none.
func Params(change func(*anthropic.MessageNewParams)) Option {
	return Option{func(m *Model) { m.change = change }}
}

// MaxTokens is the most an answer may take, which the API wants to know.
// Default 4096.
func MaxTokens(n int64) Option {
	return Option{func(m *Model) { m.maxTokens = n }}
}

// Model is a model of the Messages API. It is immutable and safe for concurrent
// use.
type Model struct {
	client    anthropic.Client
	name      string
	maxTokens int64
	change    func(*anthropic.MessageNewParams)
}

var _ tool.Model = (*Model)(nil)

// New makes a model of a client and the model's name. Failures come from
// llm:NAME.
func New(client anthropic.Client, name string, opts ...Option) *Model {
	m := &Model{client: client, name: name, maxTokens: 4096, change: func(*anthropic.MessageNewParams) {}}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(m)
		}
	}
	return m
}

// Generate implements tool.Model. It streams when somebody reads along. An error
// is an errcode.Error with the source llm:NAME; the vendor's own text is in its
// cause. A refusal by the vendor's safety system is GUARDRAIL_BLOCKED.
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
	message, wrote, err := complete(ctx, params, req.Stream)
	if err != nil {
		return tool.ModelResponse{}, m.failed(ctx, err)
	}
	return m.response(ctx, message, wrote)
}

// once turns the SDK's own retries off.
var once = option.WithMaxRetries(0)

func (m *Model) whole(ctx context.Context, params anthropic.MessageNewParams, _ func(string) error) (*anthropic.Message, written, error) {
	message, err := m.client.Messages.New(ctx, params, once)
	return message, nil, err
}

func (m *Model) streamed(ctx context.Context, params anthropic.MessageNewParams, read func(string) error) (*anthropic.Message, written, error) {
	stream := m.client.Messages.NewStreaming(ctx, params, once)
	defer func() { _ = stream.Close() }()
	var all anthropic.Message
	wrote := written{}
	ended := false
	for !ended && stream.Next() { // whether the vendor closes the connection or not
		event := stream.Current()
		if err := all.Accumulate(event); err != nil {
			return nil, nil, err
		}
		ended = event.Type == "message_stop"
		if event.Type != "content_block_delta" {
			continue
		}
		wrote[event.Index] += event.Delta.PartialJSON
		if event.Delta.Text == "" {
			continue
		}
		if err := read(event.Delta.Text); err != nil {
			return nil, nil, err
		}
	}
	if err := stream.Err(); err != nil {
		return nil, nil, err
	}
	if !ended {
		return nil, nil, errCutOff
	}
	return &all, wrote, nil
}

func (m *Model) response(ctx context.Context, msg *anthropic.Message, wrote written) (tool.ModelResponse, error) {
	if msg == nil || msg.StopReason == "" { // it is nil for "null"
		return tool.ModelResponse{}, m.failed(ctx, errCutOff)
	}
	if msg.StopReason == anthropic.StopReasonRefusal {
		return tool.ModelResponse{}, m.failed(ctx, refused(msg))
	}
	res := tool.ModelResponse{
		Usage: tool.Usage{InputTokens: msg.Usage.InputTokens, OutputTokens: msg.Usage.OutputTokens},
	}
	var text strings.Builder
	for i, block := range msg.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			full := i == len(msg.Content)-1 && outOfRoom(msg.StopReason)
			res.Calls = append(res.Calls, tool.Call{
				ID: block.ID, Name: block.Name, Args: wrote.arguments(int64(i), block.Input, full),
			})
		}
	}
	res.Text = text.String()
	res.Raw = again(msg)
	return res, nil
}

func (m *Model) params(req tool.ModelRequest) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: m.name, MaxTokens: m.maxTokens}
	if req.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System}}
	}
	for _, msg := range req.Messages {
		p.Messages = append(p.Messages, turn(msg))
	}
	for _, spec := range req.Tools {
		schema, err := inputSchema(spec)
		if err != nil {
			return p, err
		}
		t := anthropic.ToolUnionParamOfTool(schema, spec.Name)
		if spec.Description != "" {
			t.OfTool.Description = anthropic.String(spec.Description)
		}
		p.Tools = append(p.Tools, t)
	}
	return p, nil
}

// inputSchema gives the SDK's form of a schema: some members by name, the rest
// beside them.
func inputSchema(spec tool.Spec) (anthropic.ToolInputSchemaParam, error) {
	var out anthropic.ToolInputSchemaParam
	if len(spec.InputSchema) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(spec.InputSchema, &out.ExtraFields); err != nil {
		return out, fmt.Errorf("schema of tool %s: %w", spec.Name, err)
	}
	delete(out.ExtraFields, "type") // always an object
	return out, nil
}
