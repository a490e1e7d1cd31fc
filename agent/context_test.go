package agent_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
)

func TestContext(t *testing.T) {
	t.Parallel()
	req := requestOf(a2a.NewTextPart("x"))
	if got, ok := agent.FromContext(agent.NewContext(t.Context(), req)); !ok || got != req {
		t.Errorf("got %v, %v", got, ok)
	}
	if got, ok := agent.FromContext(t.Context()); ok || got != nil {
		t.Errorf("outside of a run: got %v, %v", got, ok)
	}
}
