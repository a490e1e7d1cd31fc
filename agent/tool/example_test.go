package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

// A tool of the author's own. The model is shown the schema of the input.
func ExampleFunc() {
	type input struct {
		AccountID string `json:"account_id" jsonschema:"the number of the account"`
	}
	balance := tool.Func("balance", "the balance of an account", func(_ context.Context, in input) (string, error) {
		if in.AccountID != "4711" {
			return "", tool.ErrorResult("There is no account %s.", in.AccountID)
		}
		return "12.50", nil
	})
	guarded, err := tool.Guard(balance)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := tool.WithRequest(context.Background()) // in a handler the executor has done so
	for _, args := range []string{`{}`, `{"account_id":"1"}`, `{"account_id":"4711"}`} {
		out, err := guarded.Call(ctx, json.RawMessage(args))
		fmt.Println(out.Text, err)
	}
	// Output:
	// Missing required argument: account_id <nil>
	// There is no account 1. <nil>
	// 12.50 <nil>
}

// A tool that is down: the model may try twice more, then the request fails.
func ExampleGuard() {
	down := tool.Func("lookup", "", func(context.Context, struct{}) (string, error) {
		return "", fmt.Errorf("dial the ledger: %w", syscall.ECONNREFUSED)
	}, tool.FuncSource("db:ledger"))
	lookup, err := tool.Guard(down)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := tool.WithRequest(context.Background())
	for range 3 {
		out, err := lookup.Call(ctx, nil)
		if err == nil {
			fmt.Println(out.Text)
			continue
		}
		e := errcode.TableFrom(ctx).Convert(err)
		fmt.Println(e.Code(), e.Reason(), e.Source(), e.Retried())
	}
	// Output:
	// Upstream tool 'lookup' temporarily unavailable. Retry may succeed.
	// Upstream tool 'lookup' temporarily unavailable. Retry may succeed.
	// UPSTREAM_UNAVAILABLE connection_refused db:ledger 2
}

// The tools of an MCP server, here one in the same program.
func ExampleServer() {
	bank := mcp.NewServer(&mcp.Implementation{Name: "bank"}, nil)
	mcp.AddTool(bank, &mcp.Tool{Name: "greet"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "good day"}}}, nil, nil
	})
	s := tool.NewServer("MCP-001", tool.InProcess(bank))
	defer func() { _ = s.Close() }()
	tools, err := s.Tools(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := tools[0].Call(context.Background(), nil)
	fmt.Println(tools[0].Spec().Name, out.Text, err)
	// Output: greet good day <nil>
}

// parrot is a model of few words: it wants to know the time, and says it.
type parrot struct{}

func (parrot) Generate(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == tool.ToolResults {
		return tool.ModelResponse{Text: "It is " + last.Results[0].Text + "."}, nil
	}
	return tool.ModelResponse{Calls: []tool.Call{{Name: "clock"}}}, nil
}

// A model calls a tool until it has an answer. An agent is made of it by
// agent.New("clock", agent.Stream(loop.Stream)).
func ExampleLoop() {
	clock := tool.Func("clock", "the time of day", func(context.Context, struct{}) (string, error) { return "noon", nil })
	loop, err := tool.NewLoop(parrot{}, []tool.Tool{clock}, tool.MaxIterations(5))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := loop.Run(context.Background(), tool.UserText("What time is it?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.Iterations)
	// Output: It is noon. 2
}

// An adapter of one's own for a vendor's API: what it says of a failure is for the
// log, the table decides what the failure is.
func ExampleModelError() {
	vendors := &errcode.HTTPStatusError{StatusCode: 429, Err: errors.New("org-17 may ask 3 times a minute")}
	err := tool.ModelError(context.Background(), "oracle-1", vendors)

	var e *errcode.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code(), e.Source(), e.Retriable())
		fmt.Println(e.Message())
	}
	// Output:
	// RATE_LIMITED llm:oracle-1 true
	// Too many requests; try again later.
}
