package benchflow_test

import (
	"context"
	"fmt"

	"github.com/a2aexec/a2aexec/flow"
)

//go:noinline
func flowNode(_ context.Context, s counter) (int, error) { return s.N + 1, nil }

//go:noinline
func flowWorker(_ context.Context, s counter) (int, error) { return s.N + work(), nil }

func setCount(s *counter, n int) { s.N = n }

func addCount(s *counter, n int) { s.N += n }

func flowChain(nodes int, node flow.Func[counter, int], opts ...flow.RunOption) (run, error) {
	g := flow.New[counter]("chain")
	last := flow.START
	for i := range nodes {
		next := flow.Node(g, fmt.Sprintf("n%d", i), "step", node, setCount)
		g.Edge(last, next)
		last = next
	}
	g.Edge(last, flow.END)
	return flowRun(g, opts...)
}

// flowChainJSON saves a checkpoint, which is JSON, after each node.
func flowChainJSON(nodes int) (run, error) {
	return flowChain(nodes, flowNode, flow.WithStore(flow.NewMemory()), flow.DeleteOnSuccess())
}

func flowLoop(rounds int) (run, error) {
	g := flow.New[counter]("loop")
	n := flow.Node(g, "n", "step", flowNode, setCount)
	g.Edge(flow.START, n)
	g.Route(n, func(s counter) flow.Ref {
		if s.N < rounds {
			return n
		}
		return flow.END
	}, n, flow.END)
	return flowRun(g)
}

func flowFanOut(width int) (run, error) {
	g := flow.New[counter]("fan")
	join := flow.Node(g, "join", "step", flowNode, setCount)
	for i := range width {
		n := flow.Node(g, fmt.Sprintf("n%d", i), "step", flowNode, addCount)
		g.Edge(flow.START, n)
		g.Join(join, n)
	}
	g.Edge(join, flow.END)
	return flowRun(g)
}

func flowRun(g *flow.Graph[counter], opts ...flow.RunOption) (run, error) {
	c, err := g.Compile(opts...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) {
		res, err := c.Run(ctx, "run", counter{})
		return res.State.N, err
	}, nil
}
