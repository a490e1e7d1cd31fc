package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// A node runs another flow. A question inside pauses the outer run, and what
// the inner one has done is not done again.
func ExampleNested() {
	in := flow.New[chat]("approval")
	check := said(in, "check")
	approve := flow.Node(in, "approve", "human", func(ctx context.Context, _ chat) (string, error) {
		yes, err := hitl.Ask[bool](ctx, "ok", "Pay the invoice?")
		if err != nil {
			return "", err
		}
		return fmt.Sprint("approved: ", yes), nil
	}, func(s *chat, v string) { s.Log = append(s.Log, v) })
	in.Edge(flow.START, check)
	in.Edge(check, approve)
	in.Edge(approve, flow.END)
	approval, err := in.Compile()

	out := flow.New[chat]("invoice")
	read := said(out, "read")
	nested := flow.Node(out, "approval", "flow",
		flow.Nested(approval, func(chat) chat { return chat{} }),
		func(s *chat, v chat) { s.Log = append(s.Log, v.Log...) })
	out.Edge(flow.START, read)
	out.Edge(read, nested)
	out.Edge(nested, flow.END)
	invoice, err2 := out.Compile(flow.WithStore(flow.NewMemory()))
	if err := errors.Join(err, err2); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	res, err := invoice.Run(ctx, "task-1/invoice", chat{})
	ask := res.Asks()[0]
	fmt.Println(ask.Prompt(), ask.ID(), err)
	res, err = invoice.Resume(ctx, "task-1/invoice", flow.Answer(ask.ID(), true))
	fmt.Println(res.State.Log, err)
	// Output:
	// Pay the invoice? task-1/invoice/approval/1/approve/1/ok <nil>
	// [read check approved: true] <nil>
}

// A node that ends its goroutine fails like any other in an isolated run.
func ExampleIsolated() {
	g := flow.New[chat]("brittle")
	first := said(g, "first")
	exit := flow.Node(g, "exit", "example", func(context.Context, chat) (string, error) {
		runtime.Goexit()
		return "", nil
	}, func(*chat, string) {})
	g.Edge(flow.START, first)
	g.Edge(first, exit)
	g.Edge(exit, flow.END)
	c, err := g.Compile(flow.Isolated())
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "task-1/brittle", chat{})
	fmt.Println(res.State.Log, err)
	// Output: [first] run node exit: the node ended its goroutine (runtime.Goexit)
}
