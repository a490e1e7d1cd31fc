package agent_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// application is the state of the flow below.
type application struct{ Name, Amount, Answer string }

// loanFlow looks up the customer, asks for the amount, and decides.
func loanFlow() (*flow.Compiled[application], error) {
	g := flow.New[application]("loan")
	customer := flow.Node(g, "customer", "business", func(context.Context, application) (string, error) { return "Ada", nil },
		func(s *application, v string) { s.Name = v })
	amount := flow.Node(g, "amount", "form", func(ctx context.Context, _ application) (string, error) {
		return hitl.Ask[string](ctx, "amount", "How much?")
	}, func(s *application, v string) { s.Amount = v })
	decide := flow.Node(g, "decide", "llm", func(_ context.Context, s application) (string, error) {
		if s.Amount == "too much" {
			return "", &errcode.HTTPStatusError{StatusCode: 503}
		}
		return s.Name + " gets " + s.Amount, nil
	}, func(s *application, v string) { s.Answer = v })
	g.Edge(flow.START, customer)
	g.Edge(customer, amount)
	g.Edge(amount, decide)
	g.Edge(decide, flow.END)
	return g.Compile()
}

// A flow is served like any agent. A client gets the question of a node, and,
// where a later node fails, what was completed before.
func ExampleFlow() {
	c, err := loanFlow()
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := executor.NewServer(agent.New("bank", agent.Flow(c,
		func(context.Context, *agent.Request) (application, error) { return application{}, nil },
		func(_ context.Context, s application) (*agent.Result, error) { return agent.Text(s.Answer), nil })))
	if err != nil {
		fmt.Println(err)
		return
	}
	hs := httptest.NewServer(srv)
	defer hs.Close()
	for _, answer := range []string{"100", "too much"} {
		if err := converse(hs, answer); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// TASK_STATE_INPUT_REQUIRED How much?
	// TASK_STATE_COMPLETED
	//   Ada gets 100
	// TASK_STATE_INPUT_REQUIRED How much?
	// TASK_STATE_FAILED UPSTREAM_UNAVAILABLE at decide after [customer amount]
	//   customer: Ada
	//   amount: too much
}

// converse asks for a loan, answers the question, and prints what comes.
func converse(hs *httptest.Server, answer string) error {
	ctx := context.Background()
	client, err := a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{
		{URL: hs.URL + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
	}, a2aclient.WithJSONRPCTransport(hs.Client()))
	if err != nil {
		return err
	}
	first := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("a loan, please"))
	res, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: first})
	if err != nil {
		return err
	}
	task, _ := res.(*a2a.Task)
	fmt.Println(task.Status.State, task.Status.Message.Parts[0].Text())

	next := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(answer))
	res, err = client.SendMessage(ctx, &a2a.SendMessageRequest{Message: next})
	if err != nil {
		return err
	}
	task, _ = res.(*a2a.Task)
	e, failed := errcode.FromTask(task)
	if !failed {
		fmt.Printf("%s\n  %s\n", task.Status.State, task.Artifacts[0].Parts[0].Text())
		return nil
	}
	node, _ := e.Node()
	done, _ := e.Flow()
	fmt.Println(task.Status.State, e.Code(), "at", node.ID, "after", done.CompletedNodes)
	for _, a := range task.Artifacts {
		fmt.Printf("  %s: %s\n", a.Name, a.Parts[0].Text())
	}
	return nil
}
