package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestQuestionKeepsLargeNumbers: after a checkpoint a question's large numbers were rounded.
func TestQuestionKeepsLargeNumbers(t *testing.T) {
	t.Parallel()
	l := newLab("asks")
	l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "q", "Q?", hitl.Payload(map[string]any{"account": int64(9007199254740993)}))
		return err
	}), flow.END)
	c, store := l.compile(t), flow.WithStore(flow.NewMemory())
	must(c.Run(t.Context(), "r", trail{}, store))(t)
	res := must(c.Load(t.Context(), "r", store))(t)
	if got := res.Asks()[0].Data()["account"]; got != int64(9007199254740993) {
		t.Errorf("got %v (%T)", got, got)
	}
}

// TestContinueOnErrorNeedsBranches: beside a route it did nothing, silently.
func TestContinueOnErrorNeedsBranches(t *testing.T) {
	t.Parallel()
	l := newLab("routed")
	a, b := l.node("a", nil), l.node("b", nil)
	l.Edge(flow.START, a)
	l.Route(a, func(trail) flow.Ref { return b }, b)
	l.Edge(b, flow.END)
	l.ContinueOnError(a)
	if _, err := l.Compile(); err == nil || !strings.Contains(err.Error(), `continue on error from "a"`) {
		t.Errorf("got %v", err)
	}
}
