package tool_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
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

// insisting is a server whose tool asks the same until it is given seat 7.
func insisting(schema any) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "travel", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "book"}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if given, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult); ok && given.Content["row"] == 7.0 {
			return text("booked"), nil, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Mode: "form", Message: "Which seat?", RequestedSchema: schema}}}, nil, nil
	})
	return s
}

// TestServerThatAsksAgain: a question that a server asked again was answered with the
// same words ten times, and then the tool was said to be unavailable.
func TestServerThatAsksAgain(t *testing.T) {
	t.Parallel()
	schema := map[string]any{"type": "object", "properties": map[string]any{"row": map[string]any{"type": "integer"}}}
	parked := executortest.Run(t, booker(t, tool.InProcess(insisting(schema)), `{}`), "x")
	parked.AssertInputRequired(t, "Which seat?")
	again := parked.Reply(t, "8")
	again.AssertInputRequired(t, "Which seat?")
	again.Reply(t, "7").AssertText(t, "booked")
}

// TestDefaultsOfAQuestion: what the user leaves out has the value that the server gave.
func TestDefaultsOfAQuestion(t *testing.T) {
	t.Parallel()
	schema := map[string]any{"type": "object", "properties": map[string]any{
		"row": map[string]any{"type": "integer", "default": 7}, "window": map[string]any{"type": "boolean"},
	}}
	parked := executortest.Run(t, booker(t, tool.InProcess(insisting(schema)), `{}`), "x")
	parked.Reply(t, `{"window":true}`).AssertText(t, "booked")
}

// TestServerThatAsksInVain: where nobody can be asked, it is told so once.
func TestServerThatAsksInVain(t *testing.T) {
	t.Parallel()
	called := 0
	s := insisting(nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				called++
			}
			return next(ctx, method, req)
		}
	})
	srv := tool.NewServer("travel", tool.InProcess(s))
	closed(t, srv)
	out, err := guardedTool(t, srv, "book").Call(request(t), nil)
	if err != nil || out.Text != fmt.Sprintf(unavailable, "book") || called != 2 {
		t.Errorf("got %+v, %v after %d calls", out, err, called)
	}
}

// TestQuestionThatIsRubbish: what is wrong with a server's question was told to the
// model, in the words of a JSON library, as if its arguments were refused.
func TestQuestionThatIsRubbish(t *testing.T) {
	t.Parallel()
	srv := tool.NewServer("travel", tool.InProcess(insisting(map[string]any{"type": "object", "properties": true})))
	closed(t, srv)
	out, err := guardedTool(t, srv, "book").Call(request(t), nil)
	if err != nil || out.Text != fmt.Sprintf(unavailable, "book") {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestAskerThatPanics: the library looks for an answer in a goroutine of its own,
// where a panic ended the program.
func TestAskerThatPanics(t *testing.T) {
	t.Parallel()
	srv := tool.NewServer("travel", tool.InProcess(insisting(nil)))
	closed(t, srv)
	_, err := guardedTool(t, srv, "book").Call(hitl.WithAsker(request(t), panickyAsker{}), nil)
	expectEscape(t, err, errcode.Internal, "panic", "mcp:travel/book", 0)
}

type panickyAsker struct{}

func (panickyAsker) Answer(context.Context, string) (string, any, bool, error) { panic("no") }
