package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// script is a random handler: what each of its goroutines writes, how it ends
// each turn, and what it does that it should not.
type script struct {
	writers [][]string    // per goroutine
	endings []string      // per turn
	late    bool          // writes after it returned
	both    bool          // has Invoke too
	free    chan struct{} // lets deaf code go, when all is over
}

func drawScript(t *rapid.T) script {
	write := rapid.SampledFrom([]string{"text", "data", "named", "file", "progress", "close", "pause", "lost"})
	ending := rapid.SampledFrom([]string{
		"ok", "result", "nothing", "reject", "error", "app", "guardrail", "panic", "goexit", "ask", "auth",
		"error+result", "typed nil", "bad error", "wait", "deaf",
	})
	return script{
		writers: rapid.SliceOfN(rapid.SliceOfN(write, 0, 6), 0, 3).Draw(t, "writers"),
		endings: rapid.SliceOfN(ending, 1, 3).Draw(t, "endings"),
		late:    rapid.Bool().Draw(t, "late"),
		both:    rapid.Bool().Draw(t, "both"),
		free:    make(chan struct{}),
	}
}

func (s script) agent() *agent.Agent {
	turn := func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		n := 0
		for _, m := range req.History() {
			if m.Role == a2a.MessageRoleAgent && len(m.Parts) == 2 {
				n++ // a question
			}
		}
		var wg sync.WaitGroup
		for i, ops := range s.writers {
			wg.Go(func() { s.write(w, i, ops) })
		}
		wg.Wait()
		if s.late {
			go func() { // the package's leak check waits for it
				for range 5 {
					runtime.Gosched()
					_ = w.Text("late")
				}
			}()
		}
		return s.end(ctx, s.endings[min(n, len(s.endings)-1)])
	}
	opts := []agent.Option{agent.Stream(turn)}
	if s.both {
		opts = append(opts, agent.Invoke(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			w, _ := stream.FromContext(ctx)
			return turn(ctx, req, w)
		}))
	}
	return agent.New("model", opts...)
}

func (script) write(w *stream.Writer, i int, ops []string) {
	for n, op := range ops {
		switch op {
		case "text":
			_ = w.Text(fmt.Sprintf("%d.%d ", i, n))
		case "data":
			_ = w.Data(map[string]any{"n": n, "empty": []any{}, "null": nil})
		case "named":
			_ = w.Artifact(fmt.Sprint(n % 2)).Text("x")
		case "file":
			_ = w.File(stream.File{Name: "f"})
		case "progress":
			_ = w.Progress("working")
		case "close":
			_ = w.Artifact(fmt.Sprint(n % 2)).Close()
		case "pause":
			runtime.Gosched()
		case "lost":
			_ = w.Data(map[string]any{"c": make(chan int), "ok": 1})
		}
	}
}

func (s script) end(ctx context.Context, ending string) (*agent.Result, error) {
	switch ending {
	case "result":
		return agent.Data(map[string]any{"done": true}), nil
	case "nothing", "ok":
		return nil, nil
	case "reject":
		return agent.Rejected("no"), nil
	case "app":
		return nil, errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Second))
	case "guardrail":
		return nil, &errcode.GuardrailBlockedError{Category: "x"}
	case "panic":
		panic("hunter2")
	case "goexit":
		runtime.Goexit()
	case "ask":
		return nil, hitl.InputRequired("?")
	case "auth":
		return nil, hitl.AuthRequired("!")
	case "error+result":
		return agent.Text("half"), errors.New("x")
	case "typed nil":
		var e *nilError
		return nil, e
	case "bad error":
		return nil, &loopError{}
	case "deaf":
		<-s.free
	case "wait":
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
		return nil, ctx.Err()
	}
	return nil, errors.New("an error")
}

// TestModel runs random handlers against random clients: the order of events is
// legal, there is one ending, and the store has what the stream told.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		for range max(1, repeats(1, 5)/5) {
			checkModel(rt)
		}
	})
}

func checkModel(t *rapid.T) {
	s := drawScript(t)
	h, err := executor.NewHandler(s.agent(), quiet,
		executor.GracePeriod(time.Millisecond), executor.RunTimeout(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer close(s.free)
	c := client{t: t, h: h}
	task := c.turn(nil, rapid.SampledFrom([]string{"blocking", "stream", "leave", "cancel"}).Draw(t, "first"))
	for task != nil && !task.Status.State.Terminal() && len(c.turns) < 4 {
		task = c.turn(task, rapid.SampledFrom([]string{"blocking", "stream", "leave", "cancel", "subscribe", "cancel parked"}).Draw(t, "next"))
	}
	down, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.Shutdown(down); err != nil {
		t.Fatalf("shutdown: %v", err)
	}
}

// client does one turn after the other.
type client struct {
	t     *rapid.T
	h     *executor.Handler
	turns []string
}

func (c *client) ctx() context.Context {
	ctx, _ := a2asrv.NewCallContext(context.Background(), nil)
	return ctx
}

// turn sends a message, in that manner, and gives the task as it then is stored,
// nil when that manner does not tell.
func (c *client) turn(task *a2a.Task, how string) *a2a.Task {
	c.turns = append(c.turns, how)
	req := userMessage("x")
	if task != nil {
		req.Message.TaskID = task.ID
	}
	switch how {
	case "blocking":
		res, err := c.h.SendMessage(c.ctx(), req)
		if err != nil {
			c.t.Fatalf("%v: %v", c.turns, err)
		}
		got := c.stored(res.TaskInfo().TaskID)
		answered, ok := res.(*a2a.Task)
		if err := executortest.CheckStored([]a2a.Event{answered}, got); !ok || err != nil {
			c.t.Fatalf("%v: %v", c.turns, err)
		}
		c.settled(got)
		return got
	case "cancel parked":
		got, err := c.h.CancelTask(c.ctx(), &a2a.CancelTaskRequest{ID: task.ID})
		if err != nil || got.Status.State != a2a.TaskStateCanceled {
			c.t.Fatalf("%v: %+v, %v", c.turns, got, err)
		}
		return got
	case "subscribe":
		return c.subscribe(task, req)
	}
	return c.stream(req, how)
}

func (c *client) stream(req *a2a.SendMessageRequest, how string) *a2a.Task {
	var got []a2a.Event
	ctx, leave := context.WithCancel(c.ctx())
	defer leave()
	for ev, err := range c.h.SendStreamingMessage(ctx, req) {
		if err != nil {
			c.t.Fatalf("%v: %v", c.turns, err)
		}
		got = append(got, ev)
		if len(got) > 1 {
			continue
		}
		switch how {
		case "leave":
			return nil
		case "cancel":
			_, err := c.h.CancelTask(c.ctx(), &a2a.CancelTaskRequest{ID: ev.TaskInfo().TaskID})
			if err != nil && !errors.Is(err, a2a.ErrTaskNotCancelable) {
				c.t.Fatalf("%v: %v", c.turns, err)
			}
		}
	}
	return c.told(got)
}

// subscribe follows a parked task into the turn that its answer begins.
func (c *client) subscribe(task *a2a.Task, req *a2a.SendMessageRequest) *a2a.Task {
	var got []a2a.Event
	var answered sync.WaitGroup
	for ev, err := range c.h.SubscribeToTask(c.ctx(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			c.t.Fatalf("%v: %v", c.turns, err)
		}
		if got == nil {
			answered.Go(func() {
				if _, err := c.h.SendMessage(c.ctx(), req); err != nil {
					c.t.Errorf("%v: %v", c.turns, err)
				}
			})
		}
		got = append(got, ev)
	}
	answered.Wait()
	if len(got) < 2 {
		c.t.Fatalf("%v: the next turn did not come", c.turns)
	}
	return c.told(got[1:])
}

func (c *client) told(got []a2a.Event) *a2a.Task {
	if len(got) == 0 {
		c.t.Fatalf("%v: no events", c.turns)
	}
	stored := c.stored(got[0].TaskInfo().TaskID)
	last, _ := got[len(got)-1].(*a2a.TaskStatusUpdateEvent)
	if c.turns[len(c.turns)-1] == "cancel" && last != nil && !last.Status.State.Terminal() && stored.Status.State == a2a.TaskStateCanceled {
		if err := executortest.CheckOrder(got); err != nil {
			c.t.Fatalf("%v: %v", c.turns, err)
		}
		return stored // the turn was over, and then the parked task was canceled
	}
	if err := errors.Join(executortest.CheckOrder(got), executortest.CheckStored(got, stored)); err != nil {
		c.t.Fatalf("%v: %v", c.turns, err)
	}
	c.settled(stored)
	return stored
}

// settled checks what holds for any task once its turn is over.
func (c *client) settled(task *a2a.Task) {
	state := task.Status.State
	if !state.Terminal() && state != a2a.TaskStateInputRequired && state != a2a.TaskStateAuthRequired {
		c.t.Fatalf("%v: the turn is over and the task %s", c.turns, state)
	}
	if state != a2a.TaskStateFailed {
		return
	}
	e, ok := errcode.FromTask(task)
	if !ok || e.Reason() == "remote_task_failed" || e.CorrelationID() == "" || strings.Contains(e.Message(), "hunter2") {
		c.t.Fatalf("%v: failed with %v", c.turns, e)
	}
	if e.Code() == errcode.GuardrailBlocked && len(task.Artifacts) > 0 {
		c.t.Fatalf("%v: blocked, with %d artifacts", c.turns, len(task.Artifacts))
	}
}

func (c *client) stored(id a2a.TaskID) *a2a.Task {
	task, err := c.h.GetTask(c.ctx(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		c.t.Fatalf("%v: %v", c.turns, err)
	}
	return task
}
