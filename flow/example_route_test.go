package flow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2aexec/a2aexec/flow"
)

type chat struct {
	Calls int
	Log   []string
}

// said makes a node that adds a line to the log.
func said(g *flow.Graph[chat], id string) flow.Ref {
	return flow.Node(g, id, "example", func(context.Context, chat) (string, error) { return id, nil },
		func(s *chat, v string) { s.Log = append(s.Log, v) })
}

// A route chooses the next node by the state; it may lead back.
func ExampleGraph_Route() {
	g := flow.New[chat]("agent")
	model := flow.Node(g, "model", "llm", func(_ context.Context, s chat) (int, error) { return s.Calls + 1, nil },
		func(s *chat, v int) { s.Calls = v })
	tools := said(g, "tools")
	g.Edge(flow.START, model)
	g.Route(model, func(s chat) flow.Ref {
		if s.Calls < 3 {
			return tools
		}
		return flow.END
	}, tools, flow.END)
	g.Edge(tools, model)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "run", chat{})
	fmt.Println(res.State.Calls, res.State.Log, err)
	// Output: 3 [tools tools] <nil>
}

// A join waits for all branches that can still reach it, however long they are.
func ExampleGraph_Join() {
	g := flow.New[chat]("fan")
	a, b, b2, merge := said(g, "a"), said(g, "b"), said(g, "b2"), said(g, "merge")
	g.Edge(flow.START, a, b)
	g.Edge(b, b2)
	g.Join(merge, a, b2)
	g.Edge(merge, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "run", chat{})
	fmt.Println(res.State.Log, err)
	// Output: [a b b2 merge] <nil>
}

func ExampleCompiled_Mermaid() {
	g := flow.New[chat]("fan")
	a, b := said(g, "a"), said(g, "b")
	g.Edge(flow.START, a)
	g.Edge(a, b)
	g.Edge(b, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "run", chat{}, flow.MaxSteps(1))
	for line := range strings.Lines(c.Mermaid(res, err)) {
		if strings.Contains(line, "[") {
			fmt.Print(line)
		}
	}
	// Output:
	//   START(["START"])
	//   n1["a<br/>example"]:::completed
	//   n2["b<br/>example"]:::failed
	//   END(["END"])
}
