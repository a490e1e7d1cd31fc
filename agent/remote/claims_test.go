package remote_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/hitl"
)

// clerk is an agent that transfers, or greets whoever says his name. It numbers
// its tasks by their first run.
type clerk struct {
	mu    sync.Mutex
	tasks []string
}

func (c *clerk) run(ctx context.Context, req *agent.Request) (*agent.Result, error) {
	n := c.number(req.TaskID())
	text := req.Original().Parts[0].Text()
	if strings.HasPrefix(text, "transfer") {
		return agent.Text(fmt.Sprintf("task %d: done: %s", n, text)), nil
	}
	who, err := hitl.Ask[string](ctx, "who", text+"?")
	if err != nil {
		return nil, err
	}
	return agent.Text(fmt.Sprintf("task %d: %s %s", n, text, who)), nil
}

func (c *clerk) number(task string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range c.tasks {
		if id == task {
			return i + 1
		}
	}
	c.tasks = append(c.tasks, task)
	return len(c.tasks)
}

// TestCallsOfOneRunAreToldApart: each gets the answer to its own message, also
// after another one's question, and none is left out.
func TestCallsOfOneRunAreToldApart(t *testing.T) {
	t.Parallel()
	call := func(text string, opts ...remote.CallOption) func(context.Context, *remote.Agent) (string, error) {
		return func(ctx context.Context, a *remote.Agent) (string, error) {
			answer, err := a.Call(ctx, remote.Text(text), opts...)
			return answer.Text(), err
		}
	}
	tool := func(ctx context.Context, a *remote.Agent) (string, error) { return a.Tool()(ctx, "next") }
	said := func(ctx context.Context, a *remote.Agent) (string, error) {
		req, _ := agent.FromContext(ctx)
		answer, err := a.Call(ctx, remote.Text(req.Text()))
		return answer.Text(), err
	}
	cases := []struct {
		name  string
		calls []func(context.Context, *remote.Agent) (string, error)
		says  []string
		want  string
	}{
		{"a question, then another message", list(call("greet"), call("transfer 100")), []string{"Ann"}, "task 1: greet Ann / task 2: done: transfer 100"},
		{"another message, then a question", list(call("transfer 100"), call("greet")), []string{"Ann"}, "task 3: done: transfer 100 / task 2: greet Ann"},
		{"two questions", list(call("greet"), call("call")), []string{"Ann", "Bob"}, "task 1: greet Ann / task 2: call Bob"},
		{"the same message twice", list(call("greet"), call("greet")), []string{"Ann", "Bob"}, "task 1: greet Ann / task 2: greet Bob"},
		{"a key used twice", list(call("greet", remote.Key("k")), call("transfer 5", remote.Key("k"))), []string{"Ann"}, "task 1: greet Ann / task 2: done: transfer 5"},
		{"a tool called twice", list(tool, tool), []string{"Ann", "Bob"}, "task 1: next Ann / task 2: next Bob"},
		{"what the user says", list(said, call("transfer 1")), []string{"Ann"}, "task 1: go Ann / task 2: done: transfer 1"},
		{"what the user has answered", list(call("go"), call("Ann")), []string{"Ann", "Bob"}, "task 1: go Ann / task 2: Ann Bob"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := to(t, serve(t, invoking("clerk", (&clerk{}).run)).url)
			k := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
				var lines []string
				for _, f := range tc.calls {
					line, err := f(ctx, a)
					if err != nil {
						return nil, err
					}
					lines = append(lines, line)
				}
				return agent.Text(strings.Join(lines, " / ")), nil
			})).talk(t)
			k.say("go")
			for _, text := range tc.says {
				k.say(text)
			}
			if diff := cmp.Diff([]string{": " + tc.want}, contents(k.task)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", k.task.Status.State, diff)
			}
		})
	}
}

func list[T any](v ...T) []T { return v }

// TestParallelToolsThatAsk: of tools at once whose remotes all ask, each remote
// task gets its own answer, and none stays parked.
func TestParallelToolsThatAsk(t *testing.T) {
	t.Parallel()
	c := &clerk{}
	back := serve(t, invoking("clerk", c.run))
	tool := to(t, back.url).Tool()
	inputs := []string{"one", "two", "two", "three"}
	k := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		texts, errs := make([]string, len(inputs)), make([]error, len(inputs))
		var wg sync.WaitGroup
		for i, in := range inputs {
			wg.Go(func() { texts[i], errs[i] = tool(ctx, in) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		for i, text := range texts { // without the task, which is whichever was faster
			_, texts[i], _ = strings.Cut(text, ": ")
		}
		return agent.Text(strings.Join(texts, ", ")), nil
	})).talk(t)
	k.say("go")
	answers := 0
	for k.task.Status.State == a2a.TaskStateInputRequired {
		answers++
		question := k.task.Status.Message.Parts[0].Text()
		k.say("to " + question)
	}
	if diff := cmp.Diff([]string{": one to one?, two to two?, two to two?, three to three?"}, contents(k.task)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", k.task.Status.State, diff)
	}
	if answers != len(inputs) || len(c.tasks) != len(inputs) {
		t.Errorf("%d answers, %d remote tasks, want %d", answers, len(c.tasks), len(inputs))
	}
	for _, id := range c.tasks {
		if got := back.state(t, id); got != a2a.TaskStateCompleted {
			t.Errorf("a remote task is %s", got)
		}
	}
}

// TestCallRepeatedAfterItsRemoteWasAway: a resume that fails before anything was
// sent gives the question back to the same call, made again in the same run.
func TestCallRepeatedAfterItsRemoteWasAway(t *testing.T) {
	t.Parallel()
	const asking = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"who?"}]}}}`
	var gets, sends atomic.Int32
	s := answering(t, parked(asking, &gets, &sends))
	a := to(t, s.url, atOnce)
	k := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		answer, err := a.Call(ctx, remote.Text("go"))
		if err != nil && hitl.Find(err) == nil {
			answer, err = a.Call(ctx, remote.Text("go"))
		}
		if err != nil {
			return nil, err
		}
		return answer.Result(), nil
	})).talk(t)
	k.say("go")
	if got := contents(k.say("Bob")); !cmp.Equal(got, []string{": hello"}) || sends.Load() != 2 {
		t.Errorf("got %q after %d messages", got, sends.Load())
	}
}
