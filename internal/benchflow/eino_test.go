package benchflow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/compose"
)

// The graphs of eino are the cheapest that its API has for the task: lambdas
// that hand the counter on as their value, without eino's local state, without
// callbacks. A mode is when a node runs: when any of its predecessors has
// finished (eino's default, supersteps) or when all have (no loops).

//go:noinline
func einoNode(_ context.Context, s counter) (counter, error) { return counter{N: s.N + 1}, nil }

//go:noinline
func einoWorker(_ context.Context, s counter) (counter, error) {
	return counter{N: s.N + work()}, nil
}

func init() { // how eino merges what arrives at a join; it keeps this globally
	compose.RegisterValuesMergeFunc(func(all []counter) (counter, error) {
		var sum counter
		for _, s := range all {
			sum.N += s.N
		}
		return sum, nil
	})
}

type einoGraph = compose.Graph[counter, counter]

func einoChain(nodes int, node compose.InvokeWOOpt[counter, counter], mode compose.NodeTriggerMode) (run, error) {
	g := compose.NewGraph[counter, counter]()
	var errs []error
	last := compose.START
	for i := range nodes {
		id := fmt.Sprintf("n%d", i)
		errs = append(errs, g.AddLambdaNode(id, compose.InvokableLambda(node)), g.AddEdge(last, id))
		last = id
	}
	errs = append(errs, g.AddEdge(last, compose.END))
	return einoRun(g, errors.Join(errs...), compose.WithNodeTriggerMode(mode))
}

func einoLoop(rounds int) (run, error) {
	g := compose.NewGraph[counter, counter]()
	again := compose.NewGraphBranch(func(_ context.Context, s counter) (string, error) {
		if s.N < rounds {
			return "n", nil
		}
		return compose.END, nil
	}, map[string]bool{"n": true, compose.END: true})
	err := errors.Join(
		g.AddLambdaNode("n", compose.InvokableLambda(einoNode)),
		g.AddEdge(compose.START, "n"),
		g.AddBranch("n", again),
	)
	return einoRun(g, err, compose.WithNodeTriggerMode(compose.AnyPredecessor), compose.WithMaxRunSteps(rounds+1))
}

func einoFanOut(width int, mode compose.NodeTriggerMode) (run, error) {
	g := compose.NewGraph[counter, counter]()
	errs := []error{g.AddLambdaNode("join", compose.InvokableLambda(einoNode))}
	for i := range width {
		id := fmt.Sprintf("n%d", i)
		errs = append(errs,
			g.AddLambdaNode(id, compose.InvokableLambda(einoNode)),
			g.AddEdge(compose.START, id),
			g.AddEdge(id, "join"))
	}
	errs = append(errs, g.AddEdge("join", compose.END))
	return einoRun(g, errors.Join(errs...), compose.WithNodeTriggerMode(mode))
}

func einoRun(g *einoGraph, built error, opts ...compose.GraphCompileOption) (run, error) {
	if built != nil {
		return nil, built
	}
	c, err := g.Compile(context.Background(), opts...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) {
		s, err := c.Invoke(ctx, counter{})
		return s.N, err
	}, nil
}
