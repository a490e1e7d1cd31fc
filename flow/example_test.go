package flow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
)

type loan struct {
	Subject string
	Docs    []string
	Answer  string
}

func fetchSubject(context.Context, loan) (string, error) { return "ACME", nil }

func searchDocs(_ context.Context, s loan) ([]string, error) {
	return []string{"report on " + s.Subject}, nil
}

func answer(_ context.Context, s loan) (string, error) {
	return fmt.Sprint("based on ", s.Docs), nil
}

// A flow is nodes with typed outputs, joined by edges.
func Example() {
	g := flow.New[loan]("loan")
	subject := flow.Node(g, "fetch_subject", "business", fetchSubject, func(s *loan, v string) { s.Subject = v })
	search := flow.Node(g, "rag_search", "business", searchDocs, func(s *loan, v []string) { s.Docs = v })
	generate := flow.Node(g, "generate_response", "llm", answer, func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, subject)
	g.Edge(subject, search)
	g.Edge(search, generate)
	g.Edge(generate, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "task-1/loan", loan{})
	fmt.Println(res.State.Answer, err)
	fmt.Println(res.Completed())
	// Output:
	// based on [report on ACME] <nil>
	// [fetch_subject rag_search generate_response]
}

// A node that fails is named, and what was completed before is kept.
func ExampleNodeError() {
	g := flow.New[loan]("loan")
	subject := flow.Node(g, "fetch_subject", "business", fetchSubject, func(s *loan, v string) { s.Subject = v })
	search := flow.Node(g, "rag_search", "business", func(context.Context, loan) ([]string, error) {
		return nil, &errcode.ComponentInvokeError{Component: "rag", Err: errors.New("no connection")}
	}, func(s *loan, v []string) { s.Docs = v })
	g.Edge(flow.START, subject)
	g.Edge(subject, search)
	g.Edge(search, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Run(context.Background(), "task-1/loan", loan{})
	var failed *flow.NodeError
	if errors.As(err, &failed) {
		fmt.Println(failed.Node, failed.Kind, failed.Completed, failed.Outputs[0].Value)
	}
	fmt.Println(errcode.CodeOf(err))
	// Output:
	// rag_search business [fetch_subject] ACME
	// UPSTREAM_UNAVAILABLE
}

// Compile reports every fault at once.
func ExampleGraph_Compile() {
	g := flow.New[loan]("loan")
	subject := flow.Node(g, "fetch_subject", "", fetchSubject, func(s *loan, v string) { s.Subject = v })
	g.Edge(flow.START, subject)
	_, err := g.Compile()
	fmt.Println(err)
	// Output:
	// compile flow "loan": node "fetch_subject" has no kind; node "fetch_subject" has no path to END
}
