package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/stream"
)

func ExampleNew() {
	a := agent.New("greeter", agent.Invoke(
		func(_ context.Context, req *agent.Request) (*agent.Result, error) {
			if req.Text() == "" {
				return nil, errcode.New(errcode.InvalidInput, "name_empty", errcode.Message("Who is there?"))
			}
			return agent.Text("Hello, " + req.Text()), nil
		}))
	fmt.Println(a.Name(), a.Err())

	// An author's function can be tested without a server.
	for _, name := range []string{"Ada", ""} {
		req := agent.NewRequest(agent.RequestInfo{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(name))})
		res, err := a.InvokeFunc()(context.Background(), req)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(res.Artifacts[0].Parts[0].Text())
	}
	// Output:
	// greeter <nil>
	// Hello, Ada
	// INVALID_INPUT name_empty: Who is there?
}

func ExampleNew_wrong() {
	fmt.Println(agent.New("", agent.Stream(nil)).Err())
	// Output:
	// agent "": Stream: expected a function, got nil
	// agent "": name: expected a non-empty name
	// agent "": code: expected agent.Invoke, agent.Stream or both, or agent.Flow
}

func ExampleStream() {
	a := agent.New("counter", agent.Stream(
		func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for word := range strings.FieldsSeq(req.Text()) {
				if err := w.Text(word + ";"); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
	fmt.Println(a.Err())
	// Output:
	// <nil>
}

func ExampleTextFunc() {
	shout := agent.TextFunc(func(_ context.Context, text string) (string, error) {
		return strings.ToUpper(text), nil
	})
	a := agent.New("shouter", agent.Invoke(shout))
	fmt.Println(a.Err())
	// Output:
	// <nil>
}

type query struct {
	Account string `json:"account" validate:"required"`
	Limit   int    `json:"limit"`
}

type balance struct {
	Amount float64 `json:"amount"`
}

func ExampleDataFunc() {
	lookUp := agent.DataFunc(func(_ context.Context, q query) (balance, error) {
		return balance{Amount: 12.5}, nil
	})

	for _, data := range []map[string]any{
		{"account": "A1"},
		{"account": "A1", "limit": "many"},
		{"limit": 3},
	} {
		req := agent.NewRequest(agent.RequestInfo{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(data))})
		res, err := lookUp(context.Background(), req)
		if err != nil {
			e := errcode.Default().Convert(err)
			fmt.Println(e.Code(), e.Reason(), e.Violations()[0].Field)
			continue
		}
		fmt.Println(res.Artifacts[0].Parts[0].Data())
	}
	// Output:
	// map[amount:12.5]
	// INVALID_INPUT data_part_mismatch /limit
	// INVALID_INPUT validation_errors /account
}

// "Nothing found" is a result, not an error.
func ExampleData() {
	res := agent.Data(map[string]any{"found": 0})
	res.Note = "No account has that number."
	fmt.Println(res.Artifacts[0].Parts[0].Data(), res.Note)
	// Output:
	// map[found:0] No account has that number.
}

func ExampleRejected() {
	res := agent.Rejected("You must be of age.")
	fmt.Println(res.Rejected, res.Note)
	// Output:
	// true You must be of age.
}
