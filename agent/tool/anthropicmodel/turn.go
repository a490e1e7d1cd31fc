package anthropicmodel

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// turn makes the vendor's message of one of ours. An empty text is left out, for
// the API refuses it.
func turn(m tool.Message) anthropic.MessageParam {
	switch m.Role {
	case tool.ToolResults:
		blocks := make([]anthropic.ContentBlockParamUnion, len(m.Results))
		for i, r := range m.Results {
			blocks[i] = result(r)
		}
		return anthropic.NewUserMessage(blocks...)
	case tool.Assistant:
		if raw, ok := m.Raw.(anthropic.MessageParam); ok {
			return raw
		}
		return anthropic.NewAssistantMessage(said(m)...)
	default:
		return anthropic.NewUserMessage(anthropic.NewTextBlock(m.Text))
	}
}

func said(m tool.Message) []anthropic.ContentBlockParamUnion {
	var blocks []anthropic.ContentBlockParamUnion
	if m.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		args := c.Args
		if !json.Valid(args) {
			args = json.RawMessage("{}") // it was told that they are not valid
		}
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, args, c.Name))
	}
	return blocks
}

func result(r tool.CallResult) anthropic.ContentBlockParamUnion {
	if r.Text != "" {
		return anthropic.NewToolResultBlock(r.CallID, r.Text, r.IsError)
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &anthropic.ToolResultBlockParam{
		ToolUseID: r.CallID, IsError: anthropic.Bool(r.IsError),
	}}
}
