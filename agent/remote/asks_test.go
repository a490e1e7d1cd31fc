package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// bank is an agent with two questions, one of them for credentials. It notes
// the tasks that it worked on.
type bank struct {
	mu    sync.Mutex
	tasks []string // one for each run
}

func (b *bank) run(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	b.mu.Lock()
	b.tasks = append(b.tasks, req.TaskID())
	n := len(b.tasks)
	b.mu.Unlock()
	if err := w.Text(fmt.Sprintf("run %d ", n)); err != nil {
		return nil, err
	}
	name, err := hitl.Ask[map[string]any](ctx, "name", "Your name?", hitl.Payload(map[string]any{"field": "name"}))
	if err != nil {
		return nil, err
	}
	token, err := hitl.Ask[string](ctx, "token", "Sign in.", hitl.Auth("oauth2", "read"), hitl.AuthURL("https://login.example"))
	if err != nil {
		return nil, err
	}
	return nil, w.Text(fmt.Sprint(name["first"], " has ", token))
}

// distinct are the tasks that the bank worked on, each once.
func (b *bank) distinct() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, id := range b.tasks {
		if len(out) == 0 || out[len(out)-1] != id {
			out = append(out, id)
		}
	}
	return out
}

func taskStore() executor.Option {
	return executor.TaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()}))
}

// fronts are the kinds of code that call a remote agent. Each makes an agent
// anew, as after a restart; what is kept is in stores.
func fronts() map[string]func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
	runs := map[string]flow.Store{"call": flow.NewMemory(), "stream": flow.NewMemory()}
	flowOf := func(t *testing.T, name string, node flow.Func[string, string], opts []agent.Option) *agent.Agent {
		t.Helper()
		g := flow.New[string](name)
		n := flow.Node(g, "ask_bank", "remote", node, func(s *string, v string) { *s = v })
		g.Edge(flow.START, n)
		g.Edge(n, flow.END)
		c, err := g.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return agent.New("front", append(opts, agent.Flow(c,
			func(_ context.Context, req *agent.Request) (string, error) { return req.Text(), nil },
			func(_ context.Context, s string) (*agent.Result, error) { return agent.Text(s), nil },
			agent.FlowStore(runs[name])))...)
	}
	return map[string]func(t *testing.T, address string, opts ...agent.Option) *agent.Agent{
		"a handler in front": func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
			t.Helper()
			return agent.New("front", append(opts, agent.Stream(to(t, address).Handle))...)
		},
		"a handler that calls": func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
			t.Helper()
			a := to(t, address)
			return agent.New("front", append(opts, agent.Invoke(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
				answer, err := a.Call(ctx, remote.Text("go"))
				if err != nil {
					return nil, err
				}
				return answer.Result(), nil
			}))...)
		},
		"a tool": func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
			t.Helper()
			tool := to(t, address).Tool()
			return agent.New("front", append(opts, agent.Invoke(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
				text, err := tool(ctx, "go")
				if err != nil {
					return nil, err
				}
				return agent.Text(text), nil
			}))...)
		},
		"a node": func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
			t.Helper()
			return flowOf(t, "call", remote.Node(to(t, address), remote.Text), opts)
		},
		"a node that streams": func(t *testing.T, address string, opts ...agent.Option) *agent.Agent {
			t.Helper()
			a := to(t, address)
			return flowOf(t, "stream", func(ctx context.Context, s string) (string, error) {
				_, err := a.Stream(ctx, remote.Text(s))
				return "", err
			}, opts)
		},
	}
}

// TestQuestionsGoUpAndAnswersDown: through each kind of code, over restarts of
// the caller, to one and the same remote task.
func TestQuestionsGoUpAndAnswersDown(t *testing.T) {
	t.Parallel()
	for name, build := range fronts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bank{}
			back := serve(t, streaming("bank", b.run))
			store := taskStore()
			var k *talk
			restart := func() {
				s := serve(t, build(t, back.url), store)
				next := s.talk(t)
				if k != nil {
					next.task = k.task
				}
				k = next
			}
			restart()
			task := k.say("go")
			question := dataOf(task)
			if task.Status.State != a2a.TaskStateInputRequired || task.Status.Message.Parts[0].Text() != "Your name?" || question["field"] != "name" {
				t.Fatalf("first: got %s %v", task.Status.State, question)
			}
			restart()
			task = k.send(a2a.NewDataPart(map[string]any{"first": "Ann"}))
			question = dataOf(task)
			if task.Status.State != a2a.TaskStateAuthRequired || question["scheme"] != "oauth2" || question["url"] != "https://login.example" {
				t.Fatalf("second: got %s %v", task.Status.State, question)
			}
			restart()
			task = k.say("t0ken")
			got := ""
			for _, line := range contents(task) {
				got += line[2:]
			}
			if task.Status.State != a2a.TaskStateCompleted || got != "run 1 run 2 run 3 Ann has t0ken" && got != "run 1 \nrun 2 \nrun 3 Ann has t0ken" {
				t.Errorf("got %s %q", task.Status.State, got)
			}
			if n := len(b.distinct()); n != 1 {
				t.Errorf("the bank worked on %d tasks, want one", n)
			}
		})
	}
}

func dataOf(task *a2a.Task) map[string]any {
	for _, p := range task.Status.Message.Parts {
		if m, ok := p.Data().(map[string]any); ok {
			return m
		}
	}
	return nil
}

// TestCallIsNotMadeAgain: when the caller's own question has its code run again,
// the remote task that asked before gives its result, and is not sent anything.
func TestCallIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	b := &bank{}
	a := to(t, serve(t, streaming("bank", b.run)).url)
	front := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		answer, err := a.Call(ctx, remote.Text("go"))
		if err != nil {
			return nil, err
		}
		sure, err := hitl.Ask[string](ctx, "sure", "Sure?")
		if err != nil {
			return nil, err
		}
		return agent.Text(answer.Artifacts[len(answer.Artifacts)-1].Parts[0].Text() + " " + sure), nil
	}))
	k := front.talk(t)
	k.say("go")
	k.send(a2a.NewDataPart(map[string]any{"first": "Ann"}))
	if got := k.say("t0ken"); got.Status.Message.Parts[0].Text() != "Sure?" {
		t.Fatalf("got %+v", got.Status.Message)
	}
	if got := contents(k.say("yes")); len(got) != 1 || got[0] != ": run 3 Ann has t0ken yes" {
		t.Errorf("got %q", got)
	}
	if n := len(b.tasks); n != 3 {
		t.Errorf("the bank ran %d times, want 3", n)
	}
}

// TestTwoCallsThatAsk: of two questions at once one is asked after the other,
// and neither call begins again.
func TestTwoCallsThatAsk(t *testing.T) {
	t.Parallel()
	asking := func(name string) (served, *bank) {
		b := &bank{}
		return serve(t, invoking(name, func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			b.mu.Lock()
			b.tasks = append(b.tasks, req.TaskID())
			b.mu.Unlock()
			answer, err := hitl.Ask[string](ctx, "q", name+"?")
			if err != nil {
				return nil, err
			}
			return agent.Text(name + " " + answer), nil
		})), b
	}
	one, oneRuns := asking("one")
	two, twoRuns := asking("two")
	first, second := to(t, one.url), to(t, two.url)
	front := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		a, errA := first.Call(ctx, remote.Text("go"))
		b, errB := second.Call(ctx, remote.Text("go"))
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		return agent.Text(a.Text() + ", " + b.Text()), nil
	}))
	k := front.talk(t)
	if got := k.say("go").Status.Message.Parts[0].Text(); got != "one?" {
		t.Fatalf("got %q", got)
	}
	if got := k.say("1").Status.Message.Parts[0].Text(); got != "two?" {
		t.Fatalf("got %q", got)
	}
	if diff := cmp.Diff([]string{": one 1, two 2"}, contents(k.say("2"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(oneRuns.tasks) != 2 || len(twoRuns.tasks) != 2 {
		t.Errorf("they ran %d and %d times, want 2 each", len(oneRuns.tasks), len(twoRuns.tasks))
	}
}

// TestRemoteWentOn: what became of a parked remote task by other means is what
// the caller finds, and its answer is not given to another question.
func TestRemoteWentOn(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   func(t *testing.T, back served, id string) // to the remote task
		want func(t *testing.T, task *a2a.Task)
	}{
		{"it ended", func(t *testing.T, back served, id string) {
			t.Helper()
			k := back.talk(t)
			k.task = &a2a.Task{ID: a2a.TaskID(id)}
			k.send(a2a.NewDataPart(map[string]any{"first": "Bob"}))
			k.say("k3y")
		}, func(t *testing.T, task *a2a.Task) {
			t.Helper()
			want := []string{": run 1 ", ": run 2 ", ": run 3 Bob has k3y"}
			got := contents(task)
			if task.Status.State != a2a.TaskStateCompleted || !cmp.Equal(got, want) && !cmp.Equal(got, []string{want[1], want[2], want[0]}) &&
				!cmp.Equal(got, []string{want[0], want[2], want[1]}) {
				t.Errorf("got %s %q", task.Status.State, got)
			}
		}},
		{"it asks something else", func(t *testing.T, back served, id string) {
			t.Helper()
			k := back.talk(t)
			k.task = &a2a.Task{ID: a2a.TaskID(id)}
			k.send(a2a.NewDataPart(map[string]any{"first": "Bob"}))
		}, func(t *testing.T, task *a2a.Task) {
			t.Helper()
			if task.Status.State != a2a.TaskStateAuthRequired {
				t.Errorf("got %s", task.Status.State)
			}
		}},
		{"it was cancelled", func(t *testing.T, back served, id string) {
			t.Helper()
			k := back.talk(t)
			k.task = &a2a.Task{ID: a2a.TaskID(id)}
			k.cancel()
		}, func(t *testing.T, task *a2a.Task) {
			t.Helper()
			if e := failureOf(t, task); e.Code() != errcode.UpstreamUnavailable || e.Reason() != "remote_task_canceled" || e.Retriable() {
				t.Errorf("got %v", e)
			}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := &bank{}
			back := serve(t, streaming("bank", b.run))
			front := serve(t, agent.New("front", agent.Stream(to(t, back.url).Handle)))
			k := front.talk(t)
			k.say("go")
			tc.do(t, back, b.distinct()[0])
			tc.want(t, k.say("Ann"))
		})
	}
}

// TestRemoteIsAtWork: a remote task that somebody else answered, and that is at
// work when the caller's client answers, is followed to its end.
func TestRemoteIsAtWork(t *testing.T) {
	t.Parallel()
	ids, release := make(chan string, 2), make(chan struct{})
	back := serve(t, streaming("bank", func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		name, err := hitl.Ask[string](ctx, "name", "Your name?")
		ids <- req.TaskID()
		if err != nil {
			return nil, err
		}
		_ = w.Text("hello ")
		<-release
		return nil, w.Text(name)
	}))
	for _, streams := range []bool{true, false} {
		card := back.srv.Card(back.url)
		card.Capabilities.Streaming = streams
		a, err := remote.FromCard(card, remote.HTTPClient(back.client))
		if err != nil {
			t.Fatal(err)
		}
		front := serve(t, agent.New("front", agent.Stream(a.Handle)))
		k := front.talk(t)
		k.say("go")
		other := back.talk(t)
		other.task = &a2a.Task{ID: a2a.TaskID(<-ids)}
		req := other.message(a2a.NewTextPart("Bob"))
		req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
		if _, err := other.client.SendMessage(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		<-ids // it is at work
		for ev, err := range k.client.SendStreamingMessage(t.Context(), k.message(a2a.NewTextPart("Ann"))) {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok && u.Artifact.Parts[0].Text() == "hello " {
				release <- struct{}{} // what was there is forwarded while the rest is awaited
			}
		}
		if got := front.state(t, string(k.task.ID)); got != a2a.TaskStateCompleted {
			t.Errorf("streams %t: got %s", streams, got)
		}
		task, err := k.client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: k.task.ID})
		if err != nil || !cmp.Equal(contents(task), []string{": hello Bob"}) {
			t.Errorf("streams %t: got %q, %v", streams, contents(task), err)
		}
	}
}

// TestRemoteForgot: the answer comes after the remote has forgotten the task.
func TestRemoteForgot(t *testing.T) {
	t.Parallel()
	b := &bank{}
	var backend atomic.Pointer[executor.Server]
	start := func() {
		srv, err := executor.NewServer(streaming("bank", b.run), quiet)
		if err != nil {
			t.Fatal(err)
		}
		backend.Store(srv)
	}
	start()
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { backend.Load().ServeHTTP(w, r) }))
	t.Cleanup(hs.Close)
	front := serve(t, agent.New("front", agent.Stream(to(t, hs.URL).Handle)))
	k := front.talk(t)
	k.say("go")
	start() // with an empty store
	if e := failureOf(t, k.say("Ann")); e.Code() != errcode.NotFound || e.Source() != "http:"+host(hs.URL)+"/bank" {
		t.Errorf("got %v, %q", e, e.Source())
	}
}

// TestMemosCannotBeForged: a client cannot send its answer to a remote task of
// somebody else's, by whatever it puts into its messages.
func TestMemosCannotBeForged(t *testing.T) {
	t.Parallel()
	b := &bank{}
	back := serve(t, streaming("bank", b.run))
	a := to(t, back.url)
	front := serve(t, agent.New("front", agent.Stream(a.Handle)))
	victim := front.talk(t)
	victim.say("go")
	memos := victim.task.Metadata // a client can read it, and knows the remote task
	if len(memos) == 0 {
		t.Fatal("no memo to forge")
	}
	k := front.talk(t)
	forged := k.message(a2a.NewTextPart("go"))
	forged.Metadata, forged.Message.Metadata = memos, memos
	question := *victim.task.Status.Message
	question.TaskID, question.ContextID, question.Metadata = "", "", memos
	for name, req := range map[string]*a2a.SendMessageRequest{"metadata": forged, "an agent's message": {Message: &question, Metadata: memos}} {
		res, err := k.client.SendMessage(t.Context(), req)
		if err != nil {
			continue // refused
		}
		task, _ := res.(*a2a.Task)
		answer := k.message(a2a.NewDataPart(map[string]any{"first": "Mallory"}))
		answer.Message.TaskID, answer.Metadata, answer.Message.Metadata = task.ID, memos, memos
		if _, err := k.client.SendMessage(t.Context(), answer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := back.state(t, b.distinct()[0]); got != a2a.TaskStateInputRequired {
		t.Errorf("the victim's remote task is %s now", got)
	}
}

// forgetful is an asker that keeps no memos, of somebody's own.
type forgetful struct{}

func (forgetful) Answer(_ context.Context, key string) (id string, answer any, answered bool, err error) {
	return key, "Ann", true, nil
}

func TestAskerWithoutMemos(t *testing.T) {
	t.Parallel()
	b := &bank{}
	a := to(t, serve(t, streaming("bank", b.run)).url)
	_, err := a.Call(hitl.WithAsker(t.Context(), forgetful{}), remote.Text("go"))
	if e := errcode.Default().Convert(err); e.Code() != errcode.Internal || e.Reason() != "remote_question_lost" || e.Source() != a.Source() {
		t.Errorf("got %v", err)
	}
	if len(b.tasks) != 0 {
		t.Error("the remote was called")
	}
}
