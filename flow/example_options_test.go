package flow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
)

// single is a flow of one node.
func single(fn flow.Func[loan, string], opts ...flow.NodeOption) *flow.Compiled[loan] {
	g := flow.New[loan]("loan")
	n := flow.Node(g, "generate_response", "llm", fn, func(s *loan, v string) { s.Answer = v }, opts...)
	g.Edge(flow.START, n)
	g.Edge(n, flow.END)
	c, err := g.Compile()
	if err != nil {
		panic(err)
	}
	return c
}

// A node that fails with something that may pass is tried again.
func ExampleRetry() {
	tries := 0
	c := single(func(context.Context, loan) (string, error) {
		if tries++; tries < 3 {
			return "", &errcode.HTTPStatusError{StatusCode: 503}
		}
		return "granted", nil
	}, flow.Retry(5), flow.Backoff(time.Millisecond, time.Second))
	res, err := c.Run(context.Background(), "task-1/loan", loan{})
	fmt.Println(res.State.Answer, err, res.Retries())
	// Output: granted <nil> 2
}

// Each attempt of a node has its own time.
func ExampleTimeout() {
	c := single(func(ctx context.Context, _ loan) (string, error) {
		<-ctx.Done() // a model that does not answer
		return "", ctx.Err()
	}, flow.Timeout(time.Millisecond), flow.Retry(2), flow.Backoff(time.Millisecond, time.Second))
	_, err := c.Run(context.Background(), "task-1/loan", loan{})
	var failed *flow.NodeError
	if errors.As(err, &failed) {
		fmt.Println(failed.Node, failed.Attempt, errcode.Default().Classify(err).Code)
	}
	// Output: generate_response 2 UPSTREAM_TIMEOUT
}

// Two sources are asked side by side; the flow goes on with what one of them
// found.
func ExampleGraph_ContinueOnError() {
	g := flow.New[loan]("loan")
	add := func(s *loan, v string) { s.Docs = append(s.Docs, v) }
	archive := flow.Node(g, "archive", "rag", func(context.Context, loan) (string, error) { return "", errors.New("closed") }, add)
	web := flow.Node(g, "web", "rag", func(context.Context, loan) (string, error) { return "a report", nil }, add)
	generate := flow.Node(g, "generate_response", "llm", answer, func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, archive, web)
	g.ContinueOnError(flow.START)
	g.Join(generate, archive, web)
	g.Edge(generate, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "task-1/loan", loan{})
	fmt.Println(res.State.Answer, err)
	fmt.Println(res.Failures()[0])
	// Output:
	// based on [a report] <nil>
	// run node archive: closed
}

// A hook is told what happens.
func ExampleOnEvent() {
	c := single(func(context.Context, loan) (string, error) { return "granted", nil })
	_, _ = c.Run(context.Background(), "task-1/loan", loan{}, flow.OnEvent(func(_ context.Context, e flow.Event) {
		switch e.Kind {
		case flow.NodeStarted:
			fmt.Println(e.Node, "begins")
		case flow.NodeEnded:
			fmt.Println(e.Node, "ends with", e.Output)
		default: // retries, what nodes write, checkpoints
		}
	}))
	// Output:
	// generate_response begins
	// generate_response ends with granted
}

// What a node returns may be for the flow alone.
func ExampleNoArtifact() {
	c := single(func(context.Context, loan) (string, error) { return "a token", nil }, flow.NoArtifact())
	res, _ := c.Run(context.Background(), "task-1/loan", loan{})
	out := res.Outputs()[0]
	fmt.Println(res.State.Answer, out.Node, out.NoArtifact, out.Value)
	// Output: a token generate_response true <nil>
}

// A flow in a loop ends after so many rounds, and keeps what it made.
func ExampleMaxSteps() {
	g := flow.New[loan]("loan")
	draft := flow.Node(g, "draft", "llm", func(_ context.Context, s loan) (string, error) { return s.Answer + "x", nil },
		func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, draft)
	g.Route(draft, func(loan) flow.Ref { return draft }, draft, flow.END) // never content
	c, err := g.Compile(flow.MaxSteps(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Run(context.Background(), "task-1/loan", loan{})
	fmt.Println(res.State.Answer, err, errcode.Default().Classify(err).Reason)
	// Output: xxx run node draft: too many steps (limit 3) max_tool_iterations_exceeded
}

// All checkpoints of a run may be kept, to look at later.
func ExampleKeepLast() {
	store := flow.NewMemory()
	c := single(func(context.Context, loan) (string, error) { return "granted", nil })
	_, _ = c.Run(context.Background(), "task-1/loan", loan{}, flow.WithStore(store), flow.KeepLast(0))
	for _, c := range store.History("task-1/loan") {
		fmt.Println(c.Seq)
	}
	// Output:
	// 1
	// 2
}

// A run whose checkpoints nobody needs leaves none, and its id may be used again.
func ExampleDeleteOnSuccess() {
	store := flow.WithStore(flow.NewMemory())
	c := single(func(context.Context, loan) (string, error) { return "granted", nil })
	for range 2 {
		_, err := c.Run(context.Background(), "task-1/loan", loan{}, store, flow.DeleteOnSuccess())
		fmt.Println(err)
	}
	_, err := c.Load(context.Background(), "task-1/loan", store)
	fmt.Println(errors.Is(err, flow.ErrUnknownRun))
	// Output:
	// <nil>
	// <nil>
	// true
}

// A state with a map needs its own copy for each node that may write to it.
func ExampleGraph_Clone() {
	g := flow.New[map[string]string]("notes")
	g.Clone(maps.Clone[map[string]string])
	write := func(key string) flow.Ref {
		return flow.Node(g, key, "note", func(_ context.Context, s map[string]string) (string, error) {
			s["scratch"] = key // its own copy
			return key, nil
		}, func(s *map[string]string, v string) { (*s)[v] = "done" })
	}
	left, right := write("left"), write("right")
	g.Edge(flow.START, left, right)
	g.Edge(left, flow.END)
	g.Edge(right, flow.END)
	c, err := g.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	begin := map[string]string{}
	res, err := c.Run(context.Background(), "task-1/notes", begin)
	fmt.Println(res.State, begin, err)
	// Output: map[left:done right:done] map[] <nil>
}

// A graph can be drawn by Graphviz, too, with what a run has come to.
func ExampleCompiled_DOT() {
	c := single(func(context.Context, loan) (string, error) { return "", errors.New("no model") })
	res, err := c.Run(context.Background(), "task-1/loan", loan{})
	fmt.Print(c.DOT(res, err))
	// Output:
	// digraph "loan" {
	//   START [label="START", shape=oval];
	//   n1 [label="generate_response\nllm", shape=box, style=filled, fillcolor="#f8d5d5", color="#c62828"];
	//   END [label="END", shape=oval];
	//   START -> n1;
	//   n1 -> END;
	// }
}
