package executor_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// counted counts how often a node runs.
func counted(n *atomic.Int32, fn node) node {
	return func(ctx context.Context, s order) (string, error) {
		n.Add(1)
		return fn(ctx, s)
	}
}

// TestFlowLeavesAnswersOfOthersAlone: a message that answers a question which no
// node of the flow asked was taken for the flow's own, which then had expired.
func TestFlowLeavesAnswersOfOthersAlone(t *testing.T) {
	t.Parallel()
	t.Run("begin asks", func(t *testing.T) {
		t.Parallel()
		a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), fixed("XL")),
			func(ctx context.Context, req *agent.Request) (order, error) {
				_, err := hitl.Ask[string](ctx, "who", "Who?")
				return order{Text: req.Text()}, err
			}, finish))
		both(t, a, func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertInputRequired(t, "Who?")
			got = got.Reply(t, "me")
			got.AssertCompleted(t)
			got.AssertText(t, "Ada XL")
		})
	})
	t.Run("finish asks", func(t *testing.T) {
		t.Parallel()
		var ran atomic.Int32
		a := agent.New("shop", agent.Flow(line(t, counted(&ran, asking("name")), fixed("XL")), begin,
			func(ctx context.Context, s order) (*agent.Result, error) {
				v, err := hitl.Ask[string](ctx, "ok", "OK?")
				if err != nil {
					return nil, err
				}
				return agent.Text(s.Name + " " + v), nil
			}))
		got := executortest.Run(t, a, "x")
		got.AssertInputRequired(t, "What name?")
		got = got.Reply(t, "Ada")
		got.AssertInputRequired(t, "OK?")
		got = got.Reply(t, "yes")
		got.AssertCompleted(t)
		got.AssertText(t, "Ada yes")
		if ran.Load() != 2 { // before the answer and with it
			t.Errorf("the node ran %d times", ran.Load())
		}
	})
	t.Run("the handler asks first", func(t *testing.T) {
		t.Parallel()
		r, err := agent.NewFlowRunner(line(t, fixed("Ada"), asking("size")), begin, finish)
		if err != nil {
			t.Fatal(err)
		}
		a := agent.New("shop", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if _, err := hitl.Ask[string](ctx, "which", "Which?"); err != nil {
				return nil, err
			}
			return r.Stream(ctx, req, w)
		}), agent.OnRelease(r.Release))
		got := executortest.Run(t, a, "x").Reply(t, "this")
		got.AssertInputRequired(t, "What size?")
		got = got.Reply(t, "XL")
		got.AssertCompleted(t)
		got.AssertText(t, "Ada XL")
	})
	t.Run("two flows of a task", func(t *testing.T) {
		t.Parallel()
		var ran atomic.Int32
		one, err := agent.NewFlowRunner(named(t, "one", counted(&ran, fixed("Ada")), asking("size")), begin, finish)
		if err != nil {
			t.Fatal(err)
		}
		two, err := agent.NewFlowRunner(named(t, "two", asking("name"), fixed("M")), begin, finish)
		if err != nil {
			t.Fatal(err)
		}
		a := agent.New("shop", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			res, err := one.Stream(ctx, req, w)
			if err != nil {
				return res, err
			}
			return two.Stream(ctx, req, w)
		}), agent.OnRelease(one.Release), agent.OnRelease(two.Release))
		got := executortest.Run(t, a, "x")
		got.AssertInputRequired(t, "What size?")
		got = got.Reply(t, "XL")
		got.AssertInputRequired(t, "What name?")
		got = got.Reply(t, "Bob")
		got.AssertCompleted(t)
		got.AssertText(t, "Bob M")
		if ran.Load() != 1 {
			t.Errorf("the first flow's node ran %d times", ran.Load())
		}
	})
}

// shop is a handler of the agent, and what sends it messages.
func shop(t *testing.T, a *agent.Agent, opts ...executor.Option) (h *executor.Handler, send func(task *a2a.Task, parts ...*a2a.Part) *a2a.Task) {
	t.Helper()
	h, ctx := newHandler(t, a, opts...), call(t)
	return h, func(task *a2a.Task, parts ...*a2a.Part) *a2a.Task {
		t.Helper()
		m := a2a.NewMessage(a2a.MessageRoleUser, parts...)
		if task != nil {
			m.TaskID = task.ID
		}
		return sent(ctx, t, h, &a2a.SendMessageRequest{Message: m})
	}
}

func answering(id string, v any) *a2a.Part {
	return a2a.NewDataPart(map[string]any{"answers": map[string]any{id: v}})
}

// TestMistypedAnswerAsksAgain: an answer to a question that is not open failed the task.
func TestMistypedAnswerAsksAgain(t *testing.T) {
	t.Parallel()
	completed := func(t *testing.T, task *a2a.Task) {
		t.Helper()
		if task.Status.State != a2a.TaskStateCompleted {
			t.Errorf("got %s: %+v", task.Status.State, task.Status.Message)
		}
	}
	parked := func(t *testing.T, task *a2a.Task, says string) {
		t.Helper()
		if task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %s: %+v", task.Status.State, task.Status.Message)
		}
		data, _ := task.Status.Message.Parts[1].Data().(map[string]any)
		wrong, _ := data["violations"].([]any)
		if len(wrong) != 1 {
			t.Fatalf("violations: %v", data)
		}
		if v, _ := wrong[0].(map[string]any); v["field"] != says {
			t.Errorf("got %v, want %s", v, says)
		}
	}
	t.Run("one question", func(t *testing.T) {
		t.Parallel()
		_, send := shop(t, agent.New("shop", agent.Flow(line(t, asking("name"), fixed("XL")), begin, finish)))
		task := send(nil, a2a.NewTextPart("x"))
		parked(t, send(task, answering("typo", "Ada")), "") // it is not a text
		completed(t, send(task, answering(string(task.ID)+"/line/name/1/name", "Ada")))
	})
	t.Run("an answer with a member answers", func(t *testing.T) {
		t.Parallel()
		type survey struct {
			Answers map[string]string `json:"answers"`
		}
		_, send := shop(t, agent.New("shop", agent.Flow(line(t, func(ctx context.Context, _ order) (string, error) {
			v, err := hitl.Ask[survey](ctx, "survey", "Survey?")
			return v.Answers["q1"], err
		}, fixed("XL")), begin, finish)))
		completed(t, send(send(nil, a2a.NewTextPart("x")), answering("q1", "yes")))
	})
	t.Run("two questions", func(t *testing.T) {
		t.Parallel()
		var ran atomic.Int32
		g := flow.New[order]("pair")
		z := flow.Node(g, "zero", "form", counted(&ran, fixed("z")), func(*order, string) {})
		x := flow.Node(g, "x", "form", asking("x"), func(*order, string) {})
		y := flow.Node(g, "y", "form", asking("y"), func(*order, string) {})
		g.Edge(flow.START, z)
		g.Edge(z, x, y)
		g.Edge(x, flow.END)
		g.Edge(y, flow.END)
		c := compiled(t, g)
		_, send := shop(t, agent.New("shop", agent.Flow(c, begin, finish)))
		task := send(nil, a2a.NewTextPart("x"))
		id := string(task.ID) + "/pair/"
		both := a2a.NewDataPart(map[string]any{"answers": map[string]any{id + "x/1/x": "1", id + "y/1/typo": "2"}})
		parked(t, send(task, both), "/answers/"+strings.ReplaceAll(id+"y/1/typo", "/", "~1"))
		parked(t, send(task, a2a.NewDataPart(map[string]any{"answers": map[string]any{}})), "/answers")
		both = a2a.NewDataPart(map[string]any{"answers": map[string]any{id + "x/1/x": "1", id + "y/1/y": "2"}})
		completed(t, send(task, both))
		if ran.Load() != 1 {
			t.Errorf("a completed node ran %d times", ran.Load())
		}
	})
}

// TestFinishThatFailsKeepsTheWork: the outputs of a flow whose finish function
// failed were lost.
func TestFinishThatFailsKeepsTheWork(t *testing.T) {
	t.Parallel()
	a := agent.New("shop", agent.Flow(line(t, fixed("Ada"), fixed("XL")), begin,
		func(context.Context, order) (*agent.Result, error) {
			return nil, &errcode.ComponentInvokeError{Component: "printer"}
		}))
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		d := got.AssertFailed(t, errcode.UpstreamUnavailable, executortest.Reason("component_invoke_error"))
		if d.Flow == nil || strings.Join(d.Flow.CompletedNodes, ",") != "name,size" || d.Node != nil {
			t.Errorf("node %+v, flow %+v", d.Node, d.Flow)
		}
		if names := strings.Join(artifactNames(got.Task), ","); names != "name,size" {
			t.Errorf("artifacts %s", names)
		}
	})
}

// hiccup is a store whose next load fails.
type hiccup struct {
	flow.Store
	fails atomic.Int32
}

func (s *hiccup) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	if s.fails.Add(-1) >= 0 {
		return flow.Checkpoint{}, errors.New("hiccup")
	}
	return s.Store.Load(ctx, run)
}

// TestFlowOutlivesAStoreThatFailsOnce: one load that failed failed the task.
func TestFlowOutlivesAStoreThatFailsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &hiccup{Store: flow.NewMemory()}
		_, send := shop(t, agent.New("shop", agent.Flow(line(t, asking("name"), fixed("XL")), begin, finish, agent.FlowStore(store))))
		task := send(nil, a2a.NewTextPart("x"))
		store.fails.Store(1)
		if got := send(task, a2a.NewTextPart("Ada")); got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("got %s: %+v", got.Status.State, got.Status.Message)
		}
	})
}

// TestStoppedTaskLeavesNoRun: a node that asked after its task was canceled and
// given up left its run behind, as parked.
func TestStoppedTaskLeavesNoRun(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]node{"asks": asking("size"), "ends": fixed("XL")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reached, goOn, over := make(chan string, 1), make(chan struct{}), make(chan struct{})
				r, err := agent.NewFlowRunner(line(t, fixed("Ada"), func(ctx context.Context, s order) (string, error) {
					reached <- flow.IdempotencyKey(ctx)
					<-goOn // whatever ctx says
					return second(ctx, s)
				}), begin, finish)
				if err != nil {
					t.Fatal(err)
				}
				a := agent.New("shop", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
					defer close(over)
					return r.Stream(ctx, req, w)
				}), agent.OnRelease(r.Release))
				h, send := shop(t, a, executor.GracePeriod(time.Second))
				go send(nil, a2a.NewTextPart("x"))
				id, _, _ := strings.Cut(<-reached, "/")
				ctx := call(t)
				if _, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(id)}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // by the test's own clock
				close(goOn)
				<-over
				again := agent.NewRequest(agent.RequestInfo{TaskID: id})
				go func() { <-reached }()
				if _, err := r.Stream(t.Context(), again, nil); errors.Is(err, flow.ErrRunExists) {
					t.Error("the run was left behind")
				}
				r.Release(t.Context(), id)
				if err := h.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestConflictOfANodeIsItsOwn: a node that returned ErrConflict left its run
// behind, as if somebody else went on with it.
func TestConflictOfANodeIsItsOwn(t *testing.T) {
	t.Parallel()
	r, err := agent.NewFlowRunner(line(t, fixed("Ada"), failing(flow.ErrConflict)), begin, finish)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := r.Stream(t.Context(), agent.NewRequest(agent.RequestInfo{TaskID: "t"}), nil)
		var e *flow.NodeError
		if !errors.As(err, &e) || e.Superseded() {
			t.Errorf("got %v", err)
		}
	}
}

// TestForgottenFinishedFlowDoesNotBeginAgain: the answer to a question of somebody
// else ran a flow once more that had finished and was forgotten.
func TestForgottenFinishedFlowDoesNotBeginAgain(t *testing.T) {
	t.Parallel()
	sure := func(ctx context.Context, s order) (*agent.Result, error) {
		_, err := hitl.Ask[string](ctx, "sure", "Sure?")
		return agent.Text(s.Name), err
	}
	for name, shopOf := range map[string]func(t *testing.T, ran *atomic.Int32, opts ...agent.FlowOption) *agent.Agent{
		"finish asks": func(t *testing.T, ran *atomic.Int32, opts ...agent.FlowOption) *agent.Agent {
			t.Helper()
			return agent.New("shop", agent.Flow(line(t, counted(ran, fixed("Ada")), fixed("XL")), begin, sure, opts...))
		},
		"the handler asks": func(t *testing.T, ran *atomic.Int32, opts ...agent.FlowOption) *agent.Agent {
			t.Helper()
			r, err := agent.NewFlowRunner(line(t, counted(ran, fixed("Ada")), fixed("XL")), begin, finish, opts...)
			if err != nil {
				t.Fatal(err)
			}
			return agent.New("shop", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				if res, err := r.Stream(ctx, req, w); err != nil {
					return res, err
				}
				return sure(ctx, order{})
			}), agent.OnRelease(r.Release))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran atomic.Int32
			_, send := shop(t, shopOf(t, &ran, agent.FlowParked(1, time.Hour)))
			one := send(nil, a2a.NewTextPart("one"))
			send(nil, a2a.NewTextPart("two")) // the first is forgotten
			got := send(one, a2a.NewTextPart("yes"))
			if e, _ := errcode.FromTask(got); e.Reason() != "flow_run_expired" || ran.Load() != 2 {
				t.Errorf("the node ran %d times, %s: %v", ran.Load(), got.Status.State, e)
			}
		})
		t.Run(name+" and forgets on purpose", func(t *testing.T) {
			t.Parallel()
			var ran atomic.Int32
			got := executortest.Run(t, shopOf(t, &ran, agent.FlowRun(flow.DeleteOnSuccess())), "x").Reply(t, "yes")
			got.AssertCompleted(t)
			if ran.Load() != 2 { // as DeleteOnSuccess says
				t.Errorf("the node ran %d times", ran.Load())
			}
		})
	}
}

// TestFlowMayBeginAgain where the handler asks after it has failed, or after the
// handler has released it.
func TestFlowMayBeginAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"failed", "released"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran atomic.Int32
			r, err := agent.NewFlowRunner(line(t, fixed("Ada"), func(context.Context, order) (string, error) {
				if ran.Add(1) == 2 && name == "failed" {
					return "", errors.New("down")
				}
				return "XL", nil
			}), begin, finish)
			if err != nil {
				t.Fatal(err)
			}
			a := agent.New("shop", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				switch res, err := r.Stream(ctx, req, w); {
				case ran.Load() == 3:
					return res, err
				case err == nil:
					r.Release(ctx, req.TaskID())
				}
				return nil, hitl.InputRequired("Again?")
			}), agent.OnRelease(r.Release))
			got := executortest.Run(t, a, "x")
			for range 2 {
				got.AssertInputRequired(t, "Again?")
				got = got.Reply(t, "yes")
			}
			got.AssertCompleted(t)
			if _, left := got.Task.Metadata[hitl.MemoKey]; left {
				t.Errorf("metadata: %v", got.Task.Metadata)
			}
		})
	}
}
