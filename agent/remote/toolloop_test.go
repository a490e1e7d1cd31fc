package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/hitl"
)

// planner is a model that books a flight and a hotel at once, and says what
// came of that.
type planner struct{}

func (planner) Generate(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == tool.User {
		return tool.ModelResponse{Calls: []tool.Call{
			{ID: "1", Name: "airline", Args: json.RawMessage(`{"what":"a flight"}`)},
			{ID: "2", Name: "hotel", Args: json.RawMessage(`{"what":"a room"}`)},
		}}, nil
	}
	text := ""
	for _, r := range last.Results {
		text += r.CallID + ": " + r.Text + "; "
	}
	return tool.ModelResponse{Text: text}, nil
}

// TestParallelRemoteToolsOfALoopThatAsk: a model calls two remote agents at
// once, and both ask. The client is asked both, one after the other, and each
// answer reaches the remote task that asked for it, and no other.
func TestParallelRemoteToolsOfALoopThatAsk(t *testing.T) {
	t.Parallel()
	type order struct {
		What string `json:"what"`
	}
	booking := func(name, question string) *agent.Agent {
		return invoking(name, func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			got, err := hitl.Ask[string](ctx, "detail", question)
			if err != nil {
				return nil, err
			}
			return agent.Text(fmt.Sprintf("%s with %s of task %s", agent.NewRequest(agent.RequestInfo{Message: req.Original()}).Text(), got, req.TaskID())), nil
		})
	}
	backs := map[string]served{"Which seat?": serve(t, booking("airline", "Which seat?")), "Which view?": serve(t, booking("hotel", "Which view?"))}
	asTool := func(name, question string) tool.Tool {
		call := to(t, backs[question].url).Tool()
		return tool.Func(name, "Books.", func(ctx context.Context, in order) (string, error) { return call(ctx, in.What) })
	}
	l, err := tool.NewLoop(planner{}, []tool.Tool{asTool("airline", "Which seat?"), asTool("hotel", "Which view?")})
	if err != nil {
		t.Fatal(err)
	}
	k := serve(t, agent.New("planner", agent.Stream(l.Stream))).talk(t)
	answers := map[string]string{"Which seat?": "12A", "Which view?": "the sea"}
	k.say("Book a journey.")
	asked := map[string]bool{}
	for range answers {
		if k.task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("the task is %s: %+v", k.task.Status.State, k.task.Status.Message)
		}
		question := k.task.Status.Message.Parts[0].Text()
		asked[question] = true
		k.say(answers[question])
	}
	got := contents(k.task)
	want := fmt.Sprintf(": 1: a flight with 12A of task %s; 2: a room with the sea of task %s; ",
		onlyTask(t, backs["Which seat?"]), onlyTask(t, backs["Which view?"]))
	if len(asked) != 2 || k.task.Status.State != a2a.TaskStateCompleted || len(got) != 1 || got[0] != want {
		t.Errorf("asked %v, then %s %q, want %q", asked, k.task.Status.State, got, want)
	}
}

// onlyTask is the one task that an agent ever had, which has completed.
func onlyTask(t *testing.T, s served) a2a.TaskID {
	t.Helper()
	res, err := s.talk(t).client.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Tasks) != 1 || res.Tasks[0].Status.State != a2a.TaskStateCompleted {
		t.Fatalf("the agent has %d tasks: %+v", len(res.Tasks), res.Tasks)
	}
	return res.Tasks[0].ID
}
