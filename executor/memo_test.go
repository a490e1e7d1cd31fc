package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// recalled asks for two things at once, with a memo each, and tells both once
// they are answered.
func recalled(ctx context.Context) (string, error) {
	var open []error
	told := ""
	for _, key := range []string{"first", "second"} {
		memo, err := hitl.Recall(ctx, key)
		if err != nil {
			return "", err
		}
		answer, err := hitl.Ask[string](ctx, key, key+"?", hitl.Memo(map[string]any{"of": key}))
		open = append(open, err)
		told += fmt.Sprintf("%s: %s %v; ", key, answer, memo["of"])
	}
	return told, errors.Join(open...)
}

// TestMemosSurviveARestart: what a question wants to find again is kept with
// the parked task, also that of a question which waits behind another.
func TestMemosSurviveARestart(t *testing.T) {
	t.Parallel()
	plain := func() *agent.Agent {
		return streaming(func(ctx context.Context, _ *agent.Request, _ *stream.Writer) (*agent.Result, error) {
			told, err := recalled(ctx)
			if err != nil {
				return nil, err
			}
			return agent.Text(told), nil
		})
	}
	runs := flow.NewMemory()
	nodes := func() *agent.Agent {
		g := flow.New[string]("memo")
		n := flow.Node(g, "n", "business", func(ctx context.Context, _ string) (string, error) { return recalled(ctx) },
			func(s *string, told string) { *s = told })
		g.Edge(flow.START, n)
		g.Edge(n, flow.END)
		c, err := g.Compile()
		if err != nil {
			t.Error(err)
		}
		return agent.New("a", agent.Flow(c,
			func(context.Context, *agent.Request) (string, error) { return "", nil },
			func(_ context.Context, told string) (*agent.Result, error) { return agent.Text(told), nil },
			agent.FlowStore(runs)))
	}
	for name, build := range map[string]func() *agent.Agent{"plain code": plain, "a flow's node": nodes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})
			var task *a2a.Task
			for _, text := range []string{"go", "1", "2"} { // each on a new handler
				h := newHandler(t, build(), executor.TaskStore(store))
				msg := userMessage(text)
				if task != nil {
					msg.Message.TaskID, msg.Message.ContextID = task.ID, task.ContextID
				}
				res, err := h.SendMessage(call(t), msg)
				if err != nil {
					t.Fatal(err)
				}
				task, _ = res.(*a2a.Task)
			}
			if got := firstText(task); got != "first: 1 first; second: 2 second; " {
				t.Errorf("got %s %q", task.Status.State, got)
			}
		})
	}
}
