package flow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestRestoredQuestionIsWhole: a question that was in a checkpoint is still one
// for credentials, and its memo is still there.
func TestRestoredQuestionIsWhole(t *testing.T) {
	t.Parallel()
	g := flow.New[string]("asks")
	n := flow.Node(g, "n", "business", func(ctx context.Context, _ string) (string, error) {
		_, name := hitl.Ask[string](ctx, "name", "Name?")
		_, token := hitl.Ask[string](ctx, "token", "Token?", hitl.Auth("oauth2"), hitl.Memo(map[string]any{"task": "t-1"}))
		return "done", errors.Join(name, token)
	}, func(s *string, out string) { *s = out })
	g.Edge(flow.START, n)
	g.Edge(n, flow.END)
	c, err := g.Compile(flow.WithStore(flow.NewMemory()))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context(), "r", "")
	if err != nil || len(res.Asks()) != 2 {
		t.Fatalf("got %v, %v", res.Asks(), err)
	}
	res, err = c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "Ann"))
	if err != nil || len(res.Asks()) != 1 {
		t.Fatalf("got %v, %v", res.Asks(), err)
	}
	if ask := res.Asks()[0]; !ask.Auth() || ask.Memo()["task"] != "t-1" || ask.Data()["scheme"] != "oauth2" {
		t.Errorf("the open question is now %v, memo %v, data %v", ask, ask.Memo(), ask.Data())
	}
}

// TestMemoOfANestedFlow: a question inside of a nested flow finds its memo.
func TestMemoOfANestedFlow(t *testing.T) {
	t.Parallel()
	in := flow.New[string]("in")
	ask := flow.Node(in, "ask", "human", func(ctx context.Context, _ string) (string, error) {
		memo, err := hitl.Recall(ctx, "q")
		if err != nil {
			return "", err
		}
		answer, err := hitl.Ask[string](ctx, "q", "?", hitl.Memo(map[string]any{"task": "t-1"}))
		if err != nil {
			return "", err
		}
		task, _ := memo["task"].(string)
		return answer + " " + task, nil
	}, func(s *string, out string) { *s = out })
	in.Edge(flow.START, ask)
	in.Edge(ask, flow.END)
	inner, err := in.Compile()
	if err != nil {
		t.Fatal(err)
	}
	out := flow.New[string]("out")
	nested := flow.Node(out, "nested", "flow", flow.Nested(inner, func(s string) string { return s }), func(s *string, v string) { *s = v })
	out.Edge(flow.START, nested)
	out.Edge(nested, flow.END)
	c, err := out.Compile(flow.WithStore(flow.NewMemory()))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context(), "r", "")
	if err != nil || len(res.Asks()) != 1 || res.Asks()[0].Memo()["task"] != "t-1" {
		t.Fatalf("got %v, %v", res.Asks(), err)
	}
	res, err = c.Resume(t.Context(), "r", flow.Answer(res.Asks()[0].ID(), "yes"))
	if err != nil || res.State != "yes t-1" {
		t.Errorf("got %q, %v", res.State, err)
	}
}
