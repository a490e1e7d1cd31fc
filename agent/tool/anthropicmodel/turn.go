package anthropicmodel

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// turn makes the vendor's message of one of ours. No text is empty, for the API
// refuses that.
func turn(m tool.Message) anthropic.MessageParam {
	switch m.Role {
	case tool.ToolResults:
		blocks := make([]anthropic.ContentBlockParamUnion, len(m.Results))
		for i, r := range m.Results {
			blocks[i] = result(r)
		}
		return anthropic.NewUserMessage(blocks...)
	case tool.Assistant:
		if raw, ok := rawOf(m.Raw); ok {
			return raw
		}
		return anthropic.NewAssistantMessage(said(m)...)
	default:
		return anthropic.NewUserMessage(anthropic.NewTextBlock(cmp.Or(m.Text, "(no text)")))
	}
}

// rawOf gives an answer as the API wants to see it again; from a conversation that
// was kept it comes as JSON.
func rawOf(v any) (anthropic.MessageParam, bool) {
	switch v := v.(type) {
	case anthropic.MessageParam:
		return v, true
	case json.RawMessage:
		var m struct {
			Content []anthropic.ContentBlockParamUnion
		}
		err := json.Unmarshal(v, &m)
		return anthropic.NewAssistantMessage(m.Content...), err == nil && len(m.Content) > 0
	}
	return anthropic.MessageParam{}, false
}

// again is an answer as it is sent back.
func again(msg *anthropic.Message) any {
	raw := msg.ToParam().OfAssistant // of arguments that are no JSON it has none
	if raw == nil {
		return nil
	}
	raw.Content = slices.DeleteFunc(raw.Content, func(b anthropic.ContentBlockParamUnion) bool {
		return b.OfText != nil && b.OfText.Text == ""
	})
	if len(raw.Content) == 0 {
		return nil
	}
	return anthropic.MessageParam{OfAssistant: raw}
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
