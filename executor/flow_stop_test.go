package executor_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/stream"
)

// stops are the ways in which a task ends before its code has returned. Where a
// time limit was over before the last node was reached, a longer one is tried.
var stops = map[string]struct {
	state   a2a.TaskState
	reason  string
	limited func(time.Duration) executor.Option
	stop    func(t *testing.T, c *a2aclient.Client, srv *executor.Server, id a2a.TaskID)
}{
	"run timeout":        {state: a2a.TaskStateFailed, reason: "run_timeout", limited: executor.RunTimeout},
	"inactivity timeout": {state: a2a.TaskStateFailed, reason: "inactivity_timeout", limited: executor.InactivityTimeout},
	"cancel": {state: a2a.TaskStateCanceled, stop: func(t *testing.T, c *a2aclient.Client, _ *executor.Server, id a2a.TaskID) {
		t.Helper()
		if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id}); err != nil {
			t.Error(err)
		}
	}},
	"shutdown": {state: a2a.TaskStateFailed, reason: "server_shutdown", stop: func(t *testing.T, _ *a2aclient.Client, srv *executor.Server, _ a2a.TaskID) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = srv.Shutdown(ctx) // says that a run was stopped
	}},
}

// stoppedFlow is the flow of the tests below: two nodes side by side, of which
// one is done, then a nested flow of which one node is done.
func stoppedFlow(t *testing.T, last node) *flow.Compiled[order] {
	t.Helper()
	g := flow.New[order]("stopped")
	left := flow.Node(g, "left", "form", fixed("l"), func(*order, string) {})
	right := flow.Node(g, "right", "form", func(context.Context, order) (map[string]int, error) { return map[string]int{"n": 7}, nil },
		func(*order, map[string]int) {})
	secret := flow.Node(g, "secret", "form", fixed("s"), func(*order, string) {}, flow.NoArtifact())
	form := flow.Node(g, "form", "flow", flow.Nested(line(t, fixed("Ada"), last), func(s order) order { return s }), func(s *order, v order) { *s = v })
	join := flow.Node(g, "join", "form", fixed("j"), func(*order, string) {})
	g.Edge(flow.START, left, right, secret)
	g.Join(join, left, right, secret)
	g.Edge(join, form)
	g.Edge(form, flow.END)
	return compiled(t, g)
}

// TestFinishedNodesOutliveAStop: a task that was stopped before its code had
// returned lost what the nodes of its flow had finished, though the code obeyed in time.
func TestFinishedNodesOutliveAStop(t *testing.T) {
	t.Parallel()
	for name, s := range stops {
		for heeds, wait := range map[string]func(ctx context.Context, over <-chan struct{}){
			"heeded":  func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() },
			"ignored": func(_ context.Context, over <-chan struct{}) { <-over },
		} {
			for _, binding := range []string{"JSONRPC", "HTTP+JSON", "GRPC"} {
				t.Run(name+" "+heeds+" "+binding, func(t *testing.T) {
					t.Parallel()
					for limit := 100 * time.Millisecond; ; limit *= 4 {
						reached, over := make(chan a2a.TaskID, 1), make(chan struct{})
						a := agent.New("shop", agent.Flow(stoppedFlow(t, func(ctx context.Context, _ order) (string, error) {
							id, _, _ := strings.Cut(flow.IdempotencyKey(ctx), "/")
							reached <- a2a.TaskID(id)
							wait(ctx, over)
							return "", ctx.Err()
						}), begin, finish))
						opts := []executor.Option{executor.GracePeriod(time.Millisecond)}
						if heeds == "heeded" {
							opts[0] = executor.GracePeriod(time.Minute)
						}
						if s.limited != nil {
							opts = append(opts, s.limited(limit))
						}
						srv, _, clients := serveBindings(t, a, opts...)
						ended := make(chan *a2a.Task, 1)
						go func() { ended <- sentBy(t, clients[binding]) }()
						if s.stop != nil {
							s.stop(t, clients[binding], srv, <-reached)
						}
						task := <-ended
						close(over)
						if task == nil {
							return
						}
						if e, _ := errcode.FromTask(task); s.stop == nil && limit < 10*time.Second {
							if at, _ := e.Node(); at.ID != "form" || len(reached) == 0 {
								continue
							}
						}
						checkStopped(t, task, s.state, s.reason)
						return
					}
				})
			}
		}
	}
}

// sentBy sends a message in a stream, and gives the task as it is stored then.
func sentBy(t *testing.T, c *a2aclient.Client) *a2a.Task {
	t.Helper()
	var id a2a.TaskID
	for ev, err := range c.SendStreamingMessage(context.Background(), userMessage("x")) {
		if err != nil {
			t.Error(err)
			return nil
		}
		id = ev.TaskInfo().TaskID
	}
	task, err := c.GetTask(context.Background(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Error(err)
		return nil
	}
	return task
}

func checkStopped(t *testing.T, task *a2a.Task, state a2a.TaskState, reason string) {
	t.Helper()
	if diff := cmp.Diff([]string{"left", "right", "join", "form/name"}, artifactNames(task)); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if task.Status.State != state {
		t.Fatalf("got %s, want %s", task.Status.State, state)
	}
	if n, _ := task.Artifacts[1].Parts[0].Data().(map[string]any); n["n"] != 7.0 {
		t.Errorf("data: got %v", task.Artifacts[1].Parts[0])
	}
	if state != a2a.TaskStateFailed {
		return
	}
	e, _ := errcode.FromTask(task)
	n, _ := e.Node()
	f, _ := e.Flow()
	want := errcode.Flow{ID: "stopped", CompletedNodes: []string{"left", "right", "secret", "join"}}
	if e.Reason() != reason || n.ID != "form" || n.Kind != "flow" || !cmp.Equal(f, want) {
		t.Errorf("got %s at %+v in %+v", e.Reason(), n, f)
	}
}

// TestFinishedNodesOutliveTheirFinish: what nodes had finished was lost where the
// flow's result was being made and its code panicked, or ended its goroutine.
func TestFinishedNodesOutliveTheirFinish(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){
		"panics": func() { panic("finish") },
		"exits":  runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), fixed("XL")), begin, func(context.Context, order) (*agent.Result, error) {
				end()
				return nil, nil
			}))
			both(t, a, func(t *testing.T, got *executortest.Got) {
				t.Helper()
				d := got.AssertFailed(t, errcode.Internal)
				if diff := cmp.Diff([]string{"name", "size"}, artifactNames(got.Task)); diff != "" {
					t.Errorf("artifacts (-want +got):\n%s", diff)
				}
				if d.Flow == nil || strings.Join(d.Flow.CompletedNodes, ",") != "name,size" || d.Node != nil {
					t.Errorf("node %+v, flow %+v", d.Node, d.Flow)
				}
			})
		})
	}
}

// TestGuardrailDiscardsFinishedNodes: whichever way it is reached.
func TestGuardrailDiscardsFinishedNodes(t *testing.T) {
	t.Parallel()
	blocked := errcode.New(errcode.GuardrailBlocked, "pii")
	for name, a := range map[string]*agent.Agent{
		"a node": agent.New("shop", agent.Flow(line(t, fixed("Ada"), failing(blocked)), begin, finish)),
		"finish": agent.New("shop", agent.Flow(line(t, fixed("Ada"), fixed("XL")), begin,
			func(context.Context, order) (*agent.Result, error) { return agent.Text("x"), blocked })),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, a, func(t *testing.T, got *executortest.Got) {
				t.Helper()
				got.AssertFailed(t, errcode.GuardrailBlocked)
				if len(got.Task.Artifacts) > 0 {
					t.Errorf("artifacts: %v", artifactNames(got.Task))
				}
			})
		})
	}
}

// twice is a flow whose node runs two others, one after the other.
func twice(t *testing.T, one, two *flow.Compiled[order], after error, opts ...flow.NodeOption) *flow.Compiled[order] {
	t.Helper()
	same := func(s order) order { return s }
	first, second := flow.Nested(one, same), flow.Nested(two, same)
	g := flow.New[order]("outer")
	n := flow.Node(g, "n", "flow", func(ctx context.Context, s order) (order, error) {
		s, err := first(ctx, s)
		if err == nil {
			s, err = second(ctx, s)
		}
		if err == nil {
			err = after
		}
		return s, err
	}, func(s *order, v order) { *s = v }, opts...)
	g.Edge(flow.START, n)
	g.Edge(n, flow.END)
	return compiled(t, g)
}

// TestNestedFlowsOfOneVisitKeepTheirWork: what a node's first nested flow had
// finished was lost when its second failed, or the node after both.
func TestNestedFlowsOfOneVisitKeepTheirWork(t *testing.T) {
	t.Parallel()
	down := &errcode.ComponentInvokeError{Component: "rag"}
	good, bad := named(t, "one", fixed("Ada"), fixed("M")), named(t, "two", fixed("Bob"), failing(down))
	again := []flow.NodeOption{flow.Retry(2), flow.Backoff(time.Nanosecond, time.Nanosecond)}
	for name, c := range map[string]struct {
		flow *flow.Compiled[order]
		want []string
	}{
		"the second fails":           {twice(t, good, bad, nil), []string{"n/name", "n/size", "n/name"}},
		"the node fails":             {twice(t, good, named(t, "two", fixed("Bob"), fixed("L")), down), []string{"n/name", "n/size", "n/name", "n/size"}},
		"the second fails, tried on": {twice(t, good, bad, nil, again...), []string{"n/name", "n/size", "n/name"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, agent.New("shop", agent.Flow(c.flow, begin, finish)), func(t *testing.T, got *executortest.Got) {
				t.Helper()
				got.AssertFailed(t, errcode.UpstreamUnavailable)
				if diff := cmp.Diff(c.want, artifactNames(got.Task)); diff != "" {
					t.Errorf("artifacts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFlowsOfOneHandlerKeepTheirWork: what a handler's first flow had finished was
// lost when its second failed, or the handler after both.
func TestFlowsOfOneHandlerKeepTheirWork(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]node{"the second fails": failing(errors.New("x")), "the handler fails": fixed("L")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, err1 := agent.NewFlowRunner(named(t, "one", fixed("Ada"), fixed("M")), begin, finish)
			two, err2 := agent.NewFlowRunner(named(t, "two", fixed("Bob"), second), begin, finish)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			a := streaming(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				if _, err := one.Stream(ctx, req, w); err != nil {
					return nil, err
				}
				if _, err := two.Stream(ctx, req, w); err != nil {
					return nil, err
				}
				return nil, errors.New("in the end")
			})
			want := []string{"name", "size", "name", "size"}
			if name == "the second fails" {
				want = want[:3]
			}
			both(t, a, func(t *testing.T, got *executortest.Got) {
				t.Helper()
				if d := got.AssertFailed(t, errcode.Internal); d.Flow == nil || d.Flow.ID != "two" {
					t.Errorf("flow %+v", d.Flow)
				}
				if diff := cmp.Diff(want, artifactNames(got.Task)); diff != "" {
					t.Errorf("artifacts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestResumedFlowStoppedKeepsAllItsWork: a task that is stopped after an answer
// has what was finished before the question, too.
func TestResumedFlowStoppedKeepsAllItsWork(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	g := flow.New[order]("asks")
	a := flow.Node(g, "a", "form", fixed("1"), func(*order, string) {})
	ask := flow.Node(g, "ask", "form", asking("size"), func(*order, string) {})
	deaf := flow.Node(g, "deaf", "form", func(ctx context.Context, _ order) (string, error) {
		close(reached)
		<-ctx.Done()
		return "", ctx.Err()
	}, func(*order, string) {})
	g.Edge(flow.START, a)
	g.Edge(a, ask)
	g.Edge(ask, deaf)
	g.Edge(deaf, flow.END)
	c := compiled(t, g)
	h := newHandler(t, agent.New("shop", agent.Flow(c, begin, finish)))
	parked := sent(call(t), t, h, userMessage("x"))
	go func() { _, _ = h.SendMessage(context.WithoutCancel(call(t)), replyTo(parked, a2a.NewTextPart("XL"))) }()
	<-reached
	task, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: parked.ID})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "ask"}, artifactNames(task)); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

// TestFinishedNodesFitTheLimit: what does not fit of them is left out.
func TestFinishedNodesFitTheLimit(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, fixed(strings.Repeat("x", 400)), failing(errors.New("x"))), begin, finish))
	for limit, want := range map[int64]int{1000: 1, 300: 0} {
		got := executortest.Run(t, a, "x", executortest.With(executor.MaxOutput(limit)))
		got.AssertFailed(t, errcode.Internal)
		if len(got.Task.Artifacts) != want {
			t.Errorf("limit %d: got %v", limit, artifactNames(got.Task))
		}
	}
}
