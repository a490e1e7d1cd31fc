package benchflow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// loan is the state of the loan flow.
type loan struct {
	ID      string
	Subject string
	Terms   []string
	Answer  string
}

// loanFlow answers a question about a loan.
func loanFlow(b *bank) (*flow.Compiled[loan], error) {
	g := flow.New[loan]("loan")
	fetch := flow.Node(g, "fetch_subject", "business",
		func(ctx context.Context, s loan) (string, error) { return b.subject(ctx, s.ID) },
		func(s *loan, v string) { s.Subject = v })
	search := flow.Node(g, "rag_search", "business",
		func(ctx context.Context, s loan) ([]string, error) { return b.terms(ctx, s.Subject) },
		func(s *loan, v []string) { s.Terms = v })
	generate := flow.Node(g, "generate_response", "llm",
		func(ctx context.Context, s loan) (string, error) { return b.reply(ctx, s.Subject, s.Terms) },
		func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, fetch)
	g.Edge(fetch, search)
	g.Edge(search, generate)
	g.Edge(generate, flow.END)
	return g.Compile()
}

// A flow that fails names the node as a value, has kept what was done, and goes
// on from there.
func Example_flow() {
	ctx, b := context.Background(), &bank{down: true}
	c, err := loanFlow(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := flow.NewMemory()
	_, err = c.Run(ctx, "task-1/loan", loan{ID: "4711"}, flow.WithStore(store))

	var failed *flow.NodeError
	if errors.As(err, &failed) {
		fmt.Println(failed.Node, failed.Kind, failed.Err)
		fmt.Println(failed.Completed, failed.Outputs[0].Value)
	}

	b.down = false
	res, err := c.Resume(ctx, "task-1/loan", flow.WithStore(store))
	fmt.Println(res.State.Answer, err)
	fmt.Println(b.calls)
	// Output:
	// rag_search business connection refused
	// [fetch_subject] loan 4711
	// loan 4711: found terms of loan 4711 <nil>
	// [subject terms terms reply]
}

// askingFlow asks for the amount before it answers.
func askingFlow(b *bank) (*flow.Compiled[loan], error) {
	g := flow.New[loan]("asking")
	fetch := flow.Node(g, "fetch_subject", "business",
		func(ctx context.Context, s loan) (string, error) { return b.subject(ctx, s.ID) },
		func(s *loan, v string) { s.Subject = v })
	offer := flow.Node(g, "offer", "business",
		func(ctx context.Context, s loan) (string, error) {
			amount, err := hitl.Ask[int](ctx, "amount", "What amount?")
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s over %d", s.Subject, amount), nil
		},
		func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, fetch)
	g.Edge(fetch, offer)
	g.Edge(offer, flow.END)
	return g.Compile()
}

// A node that asks parks the run; the answer resumes it.
func Example_question() {
	ctx, b := context.Background(), &bank{}
	c, err := askingFlow(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := flow.NewMemory()
	res, err := c.Run(ctx, "task-2/asking", loan{ID: "4711"}, flow.WithStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ask := range res.Asks() {
		fmt.Println(ask.Prompt())
		res, err = c.Resume(ctx, "task-2/asking", flow.WithStore(store), flow.Answer(ask.ID(), 5000))
	}
	fmt.Println(res.State.Answer, err)
	fmt.Println(b.calls)
	// Output:
	// What amount?
	// loan 4711 over 5000 <nil>
	// [subject]
}
