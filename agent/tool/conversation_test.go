package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// loopAgent is an agent of a loop.
func loopAgent(t *testing.T, m tool.Model, tools ...tool.Tool) *agent.Agent {
	t.Helper()
	return agent.New("a", agent.Stream(loop(t, m, tools).Stream))
}

// payments asks for a consent to each.
type payments struct {
	mu   sync.Mutex
	made []string
}

type payment struct {
	To string `json:"to"`
}

func (p *payments) tool(name string) tool.Tool {
	return tool.Func(name, "", func(ctx context.Context, in payment) (string, error) {
		yes, err := hitl.Ask[bool](ctx, "confirm", name+" "+in.To+"?")
		if err != nil || !yes {
			return "no", err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.made = append(p.made, name+" "+in.To)
		return "done", nil
	})
}

func (p *payments) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.made))
}

// TestOneConsentIsForOneCall: one answer was taken for all calls that asked under
// the same key: of other arguments, of another tool, and once more the same.
func TestOneConsentIsForOneCall(t *testing.T) {
	t.Parallel()
	ann, mallory, done := `pay {"to":"Ann"}`, `pay {"to":"Mallory"}`, says("Done.")
	for name, c := range map[string]struct {
		turns []tool.ModelResponse
		asked []string
	}{
		"other arguments":  {[]tool.ModelResponse{calls(ann, mallory), done}, []string{"pay Ann?", "pay Mallory?"}},
		"another tool":     {[]tool.ModelResponse{calls(ann, `tip {"to":"Ann"}`), done}, []string{"pay Ann?", "tip Ann?"}},
		"the same at once": {[]tool.ModelResponse{calls(ann, ann), done}, []string{"pay Ann?", "pay Ann?"}},
		"the same again":   {[]tool.ModelResponse{calls(ann), calls(ann), done}, []string{"pay Ann?", "pay Ann?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p payments
			got := executortest.Run(t, loopAgent(t, script(c.turns...), p.tool("pay"), p.tool("tip")), "x")
			for i, question := range c.asked {
				got.AssertInputRequired(t, question)
				if n := len(p.all()); n != i {
					t.Fatalf("%d consents, %d payments: %q", i, n, p.all())
				}
				got = got.Reply(t, "true")
			}
			got.AssertText(t, "Done.")
			if len(p.all()) != len(c.asked) {
				t.Errorf("paid %q", p.all())
			}
		})
	}
}

// TestConsentToAnMCPServer is for one call, too.
func TestConsentToAnMCPServer(t *testing.T) {
	t.Parallel()
	s := tool.NewServer("travel", tool.InProcess(asking()))
	closed(t, s)
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	book := `book {"sign":false}`
	first := executortest.Run(t, loopAgent(t, script(calls(book), calls(book), says("Done.")), tools...), "x")
	first.AssertInputRequired(t, "Which seat?")
	second := first.Reply(t, "7")
	second.AssertInputRequired(t, "Which seat?")
	second.Reply(t, "8").AssertText(t, "Done.")
}

// TestConversationGoesOn: after an answer, what had finished does not run again,
// nothing is said twice, and the model is not asked what it has answered, also in
// a flow's node.
func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	var sent, asked atomic.Int64
	tools := []tool.Tool{
		named("transfer", func(context.Context) (string, error) { sent.Add(1); return "sent", nil }),
		named("pin", func(ctx context.Context) (string, error) { return hitl.Ask[string](ctx, "pin", "PIN?") }),
	}
	turns := []tool.ModelResponse{
		{Text: "One moment.", Calls: calls("transfer", "pin").Calls, Raw: map[string]any{"signed": "thought"}, Usage: tool.Usage{InputTokens: 1}},
		{Text: "Once more.", Calls: calls("pin", "transfer").Calls, Usage: tool.Usage{InputTokens: 1}},
		{Text: "Done.", Usage: tool.Usage{InputTokens: 1}},
	}
	var raws []string
	m := model(func(ctx context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		asked.Add(1)
		for _, said := range req.Messages {
			if said.Raw != nil {
				raw, _ := json.Marshal(said.Raw)
				raws = append(raws, string(raw))
			}
		}
		return script(turns...)(ctx, req)
	})
	whole := loop(t, m, tools, tool.MaxIterations(3))
	got := executortest.Run(t, agent.New("a", agent.Stream(whole.Stream)), "go")
	got.AssertInputRequired(t, "PIN?")
	got = got.Reply(t, "1234")
	got.AssertInputRequired(t, "PIN?")
	got = got.Reply(t, "5678")
	if n, k := sent.Load(), asked.Load(); n != 2 || k != 3 {
		t.Errorf("sent %d times, asked the model %d times", n, k)
	}
	var texts []string
	for _, a := range got.Task.Artifacts {
		for _, p := range a.Parts {
			if p.Text() != "" {
				texts = append(texts, p.Text())
			}
		}
	}
	if diff := cmp.Diff("One moment.|Once more.|Done.", strings.Join(texts, "|")); diff != "" {
		t.Errorf("the artifacts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`{"signed":"thought"}`, `{"signed":"thought"}`}, raws); diff != "" {
		t.Errorf("what the model sees of its answer again (-want +got):\n%s", diff)
	}
}

// TestConversationsOfAFlow: each node has its own, over a restart.
func TestConversationsOfAFlow(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	runs, tasks := flow.NewMemory(), executor.TaskStore(memoryTasks())
	build := func() *agent.Agent {
		l := loop(t, script(calls("transfer", "pin"), says("Done.")), []tool.Tool{
			named("transfer", func(context.Context) (string, error) { sent.Add(1); return "sent", nil }),
			named("pin", func(ctx context.Context) (string, error) { return hitl.Ask[string](ctx, "pin", "PIN?") }),
		}, tool.Silent())
		g := flow.New[string]("two")
		ask := func(ctx context.Context, s string) (string, error) {
			a, err := l.Run(ctx, tool.UserText(s))
			if err != nil {
				return "", err
			}
			return a.Text, nil
		}
		one := flow.Node(g, "one", "llm", ask, func(*string, string) {})
		two := flow.Node(g, "two", "llm", ask, func(s *string, v string) { *s = v })
		g.Edge(flow.START, one)
		g.Edge(one, two)
		g.Edge(two, flow.END)
		c, err := g.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return agent.New("a", agent.Flow(c, func(_ context.Context, req *agent.Request) (string, error) { return req.Text(), nil },
			func(_ context.Context, s string) (*agent.Result, error) { return agent.Text(s), nil }, agent.FlowStore(runs)))
	}
	task := converse(t, build(), tasks, nil, "go")
	task = converse(t, build(), tasks, task, "1234") // to the first node; the second asks
	if n := sent.Load(); n != 2 {
		t.Errorf("sent %d times by two nodes", n)
	}
	if meta, _ := json.Marshal(task.Metadata); strings.Contains(string(meta), "sent") {
		t.Errorf("the client reads %s", meta)
	}
	task = converse(t, build(), tasks, task, "5678")
	if n := sent.Load(); n != 2 || task.Status.State != "TASK_STATE_COMPLETED" {
		t.Errorf("sent %d times, the task is %s", n, task.Status.State)
	}
}

// TestFinishedConversation: code that asks a question of its own after a loop runs
// again from its start; the loop is not, and neither is one before another's
// question.
func TestFinishedConversation(t *testing.T) {
	t.Parallel()
	var sent, asked atomic.Int64
	transfer := named("transfer", func(context.Context) (string, error) { sent.Add(1); return "sent", nil })
	l := loop(t, model(func(ctx context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		asked.Add(1)
		return script(calls("transfer"), says("Done."))(ctx, req)
	}), []tool.Tool{transfer}, tool.Silent())
	a := agent.New("a", agent.Invoke(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		var texts []string
		for range 2 {
			answer, err := l.Run(ctx, tool.UserText("the same"))
			if err != nil {
				return nil, err
			}
			texts = append(texts, fmt.Sprint(answer.Text, len(answer.Messages), answer.Iterations))
		}
		for _, q := range []string{"Sure?", "Really?"} {
			if _, err := hitl.Ask[string](ctx, q, q); err != nil {
				return nil, err
			}
		}
		return agent.Text(strings.Join(texts, " ")), nil
	}))
	executortest.Run(t, a, "x").Reply(t, "yes").Reply(t, "yes").AssertText(t, "Done.4 2 Done.4 2")
	if n, k := sent.Load(), asked.Load(); n != 2 || k != 4 {
		t.Errorf("sent %d times by two runs, asked the model %d times", n, k)
	}
}

// converse sends a message to the agent, on a server of its own, and gives the
// task as the client sees it.
func converse(t *testing.T, a *agent.Agent, store executor.Option, task *a2a.Task, text string) *a2a.Task {
	t.Helper()
	h, err := executor.NewHandler(a, store)
	if err != nil {
		t.Fatal(err)
	}
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	if task != nil {
		m.TaskID, m.ContextID = task.ID, task.ContextID
	}
	res, err := h.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: m})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := res.(*a2a.Task)
	if !ok {
		t.Fatalf("got a %T", res)
	}
	again, err := h.GetTask(t.Context(), &a2a.GetTaskRequest{ID: got.ID})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func memoryTasks() taskstore.Store {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: func(context.Context) (string, error) { return "(anonymous)", nil }})
}

// noting is a store that notes the metadata of what is stored.
type noting struct {
	taskstore.Store
	mu    sync.Mutex
	noted string
}

func (n *noting) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.noted
}

func (n *noting) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	raw, _ := json.Marshal(req.Task.Metadata)
	n.mu.Lock()
	n.noted = string(raw)
	n.mu.Unlock()
	return n.Store.Update(ctx, req)
}

// TestNothingIsKeptOfTheEnd: what was kept is forgotten when the task has ended.
func TestNothingIsKeptOfTheEnd(t *testing.T) {
	t.Parallel()
	secret := named("secret", func(context.Context) (string, error) { return "hunter2", nil })
	pin := named("pin", func(ctx context.Context) (string, error) { return hitl.Ask[string](ctx, "pin", "PIN?") })
	store := &noting{Store: memoryTasks()}
	a := loopAgent(t, script(calls("secret", "pin"), says("Done.")), secret, pin)
	task := converse(t, a, executor.TaskStore(store), nil, "go")
	if !strings.Contains(store.last(), "hunter2") {
		t.Fatalf("nothing is kept: %s", store.last())
	}
	converse(t, a, executor.TaskStore(store), task, "1")
	if strings.Contains(store.last(), "hunter2") {
		t.Errorf("it is kept still: %s", store.last())
	}
}

// TestQuestionOutsideOfAnExecutor: a loop that nobody keeps begins anew, and its
// questions have the same ids then.
func TestQuestionOutsideOfAnExecutor(t *testing.T) {
	t.Parallel()
	var p payments
	l := loop(t, script(calls(`pay {"to":"Ann"}`, `pay {"to":"Ann"}`), says("Done.")), []tool.Tool{p.tool("pay")}, tool.Parallel(1))
	answers := answered{}
	for range 2 {
		_, err := l.Run(hitl.WithAsker(t.Context(), answers), tool.UserText("x"))
		q := hitl.Find(err)
		if q == nil || answers[q.ID()] != nil {
			t.Fatalf("got %v, %v", err, q)
		}
		answers[q.ID()] = true
	}
	if a, err := l.Run(hitl.WithAsker(t.Context(), answers), tool.UserText("x")); err != nil || a.Text != "Done." {
		t.Errorf("got %v, %v", a, err)
	}
}

// answered is an asker with what was answered.
type answered map[string]any

func (a answered) Answer(_ context.Context, key string) (id string, answer any, ok bool, err error) {
	answer, ok = a[key]
	return key, answer, ok, nil
}
