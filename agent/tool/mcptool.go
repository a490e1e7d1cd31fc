package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpTool is a tool of an MCP server.
type mcpTool struct {
	server *Server
	spec   Spec
	source string
}

func newMCPTool(s *Server, t *mcp.Tool) (*mcpTool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("encode input schema of %s: %w", t.Name, err)
	}
	if t.InputSchema == nil {
		schema = nil
	}
	return &mcpTool{
		server: s, source: validSource("mcp:", s.name+"/"+t.Name),
		spec: Spec{Name: t.Name, Description: t.Description, InputSchema: schema},
	}, nil
}

// Spec implements Tool.
func (t *mcpTool) Spec() Spec { return t.spec }

// Source implements sourced.
func (t *mcpTool) Source() string { return t.source }

// Call implements Tool.
func (t *mcpTool) Call(ctx context.Context, args json.RawMessage) (Output, error) {
	if len(args) == 0 { // called without the guard
		args = emptyObject
	}
	ctx = context.WithValue(ctx, callingKey{}, calling{t.spec.Name, args, &numbers{of: map[string]int{}}})
	var res *mcp.CallToolResult
	err := t.server.with(ctx, func(ctx context.Context, session *mcp.ClientSession) (err error) {
		res, err = t.converse(ctx, session, args)
		return err
	})
	if ask := t.server.signIn(ctx, err); ask != nil {
		return Output{}, ask
	}
	if err != nil {
		return Output{}, explain(t.server.name+"/"+t.spec.Name, err)
	}
	return Output{Text: textOf(res), IsError: res.IsError}, nil
}

// textOf gives a result in words: what is no text is named.
func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		parts = append(parts, contentText(c))
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			return string(raw)
		}
	}
	return strings.Join(parts, "\n")
}

func contentText(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s, %s]", c.Name, c.URI)
	case *mcp.EmbeddedResource:
		if c.Resource == nil || c.Resource.Text != "" {
			return embedded(c.Resource)
		}
		return fmt.Sprintf("[resource %s, %s, %d bytes]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
	default:
		return fmt.Sprintf("[content of another kind, %T]", c)
	}
}

func embedded(r *mcp.ResourceContents) string {
	if r == nil {
		return ""
	}
	return r.Text
}
