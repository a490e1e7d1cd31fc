package flow_test

import (
	"context"
	"fmt"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// A node asks a person; the run pauses, and goes on with the answer.
func ExampleAnswer() {
	g := flow.New[chat]("order")
	first := said(g, "look up")
	confirm := flow.Node(g, "confirm", "human", func(ctx context.Context, _ chat) (string, error) {
		yes, err := hitl.Ask[bool](ctx, "sure", "Order ten of them?")
		if err != nil {
			return "", err
		}
		return fmt.Sprint("sure: ", yes), nil
	}, func(s *chat, v string) { s.Log = append(s.Log, v) })
	g.Edge(flow.START, first)
	g.Edge(first, confirm)
	g.Edge(confirm, flow.END)
	c, err := g.Compile(flow.WithStore(flow.NewMemory()))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	res, err := c.Run(ctx, "task-1/order", chat{})
	fmt.Println(res.Paused(), res.Asks()[0].ID(), err)
	res, err = c.Resume(ctx, "task-1/order", flow.Answer(res.Asks()[0].ID(), true))
	fmt.Println(res.State.Log, err)
	// Output:
	// true task-1/order/confirm/1/sure <nil>
	// [look up sure: true] <nil>
}

// A side effect happens once although its node runs again.
func ExampleOnce() {
	g := flow.New[chat]("pay")
	charges, tries := 0, 0
	pay := flow.Node(g, "pay", "business", func(ctx context.Context, _ chat) (int, error) {
		receipt, err := flow.Once(ctx, "charge", func(context.Context) (int, error) {
			charges++
			return 4711, nil
		})
		if tries++; tries == 1 {
			return 0, errDown // the mail with the receipt, say
		}
		return receipt, err
	}, func(s *chat, v int) { s.Calls = v }, flow.Retry(2), flow.Backoff(0, 0))
	g.Edge(flow.START, pay)
	g.Edge(pay, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "run", chat{})
	fmt.Println(res.State.Calls, charges, tries, err)
	// Output: 4711 1 2 <nil>
}
