package tool_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

// asking is a server whose tool asks for a seat, or for a sign-in first.
func asking() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "travel", Version: "v1"}, nil)
	type input struct {
		Sign bool `json:"sign"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "book"}, func(_ context.Context, req *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		ask := &mcp.ElicitParams{Mode: "form", Message: "Which seat?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"row": map[string]any{"type": "integer"}}, "required": []any{"row"},
		}}
		if in.Sign {
			ask = &mcp.ElicitParams{Mode: "url", Message: "Please sign in.", URL: "https://login.example/", ElicitationID: "e1"}
		}
		given, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": ask}}, nil, nil
		}
		row, _ := given.Content["row"].(float64)
		return text(given.Action + " " + string(rune('0'+int(row)))), nil, nil
	})
	return s
}

// booker calls the tool and says what it gave.
func booker(t *testing.T, dial tool.Dial, args string) *agent.Agent {
	t.Helper()
	s := tool.NewServer("travel", dial)
	closed(t, s)
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == tool.ToolResults {
			return says(last.Results[0].Text), nil
		}
		return calls("book " + args), nil
	})
	return agent.New("a", agent.Stream(loop(t, m, tools).Stream))
}

// TestQuestionsOfAnMCPServer park the task, and the answer goes down; one that does
// not fit is asked for again.
func TestQuestionsOfAnMCPServer(t *testing.T) {
	t.Parallel()
	server := asking()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	for name, dial := range map[string]tool.Dial{"in process": tool.InProcess(asking()), "HTTP": tool.HTTP(web.URL, web.Client())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parked := executortest.Run(t, booker(t, dial, `{"sign":false}`), "x")
			data := parked.AssertInputRequired(t, "Which seat?")
			if data["schema"] == nil {
				t.Errorf("the question has no schema: %v", data)
			}
			again := parked.Reply(t, "the left one")
			if data := again.AssertInputRequired(t, "Which seat?"); data["violations"] == nil {
				t.Errorf("the second question says not why: %v", data)
			}
			again.Reply(t, "7").AssertText(t, "accept 7")

			executortest.Run(t, booker(t, dial, `{"sign":false}`), "x").Reply(t, `{"row":8}`).AssertText(t, "accept 8")
			executortest.Run(t, booker(t, dial, `{"sign":false}`), "x").Reply(t, `{"action":"decline"}`).AssertText(t, "decline 0")
			signed := executortest.Run(t, booker(t, dial, `{"sign":true}`), "x")
			if data := signed.AssertAuthRequired(t, "Please sign in."); data["url"] != "https://login.example/" || data["provider"] != "travel" {
				t.Errorf("the question for credentials: %v", data)
			}
			signed.Reply(t, "done").AssertText(t, "accept 0")
		})
	}
}
