package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// TestHostKeepsEveryTask: what the default store is for.
func TestHostKeepsEveryTask(t *testing.T) {
	t.Parallel()
	ctx, h := bare(t, func(_ context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		_ = yield(a2a.NewSubmittedTask(ec, ec.Message), nil) && yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	})
	first, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if _, err := h.SendMessage(ctx, userMessage("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: first.TaskInfo().TaskID}); err != nil {
		t.Errorf("the host now forgets tasks (%v): the store may be unnecessary", err)
	}
}

// asksOnAsk parks a task on "ask", and answers everything else.
var asksOnAsk = agent.New("asks", agent.Stream(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	if strings.HasPrefix(req.Text(), "ask") {
		return nil, hitl.InputRequired("what?")
	}
	return nil, w.Text("re: " + req.Text())
}))

// TestFinishedTasksAreForgottenAndParkedOnesStay: everybody gets their answer
// all the same, though a task may be forgotten as soon as it has ended.
func TestFinishedTasksAreForgottenAndParkedOnesStay(t *testing.T) {
	t.Parallel()
	h := newHandler(t, asksOnAsk, executor.KeepFinished(0, 1))
	parked, err := h.SendMessage(call(t), userMessage("ask"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var finished []a2a.TaskID
	var wg sync.WaitGroup
	for i := range repeats(8, 16) {
		ctx, streamed := call(t), i%2 == 0
		wg.Go(func() {
			for j := range 25 {
				id, state := answered(ctx, t, h, userMessage(fmt.Sprintf("%d/%d", i, j)), streamed)
				if state != a2a.TaskStateCompleted {
					t.Errorf("%s ended as %q", id, state)
				}
				mu.Lock()
				finished = append(finished, id)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	answer := userMessage("that")
	answer.Message.TaskID = parked.TaskInfo().TaskID
	id, state := answered(call(t), t, h, answer, false)
	if state != a2a.TaskStateCompleted {
		t.Errorf("the parked task ended as %q", state)
	}
	finished = append(finished, id)
	if err := h.Shutdown(t.Context()); err != nil { // nothing is being served any more
		t.Error(err)
	}
	found := 0
	for _, id := range finished {
		_, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: id})
		switch {
		case err == nil:
			found++
		case !errors.Is(err, a2a.ErrTaskNotFound):
			t.Errorf("forgotten task: got %v", err)
		}
	}
	if found != 1 {
		t.Errorf("%d finished tasks are kept, want 1", found)
	}
}

// answered sends a message and gives the state that its answer ended with.
func answered(ctx context.Context, t *testing.T, h *executor.Handler, msg *a2a.SendMessageRequest, streaming bool) (id a2a.TaskID, state a2a.TaskState) {
	t.Helper()
	if !streaming {
		res, err := h.SendMessage(ctx, msg)
		if err != nil {
			t.Error(err)
			return "", ""
		}
		task, ok := res.(*a2a.Task)
		if !ok {
			t.Errorf("got a %T", res)
			return "", ""
		}
		return task.ID, task.Status.State
	}
	for ev, err := range h.SendStreamingMessage(ctx, msg) {
		if err != nil {
			t.Error(err)
			break
		}
		id = ev.TaskInfo().TaskID
		if s, ok := ev.(*a2a.TaskStatusUpdateEvent); ok {
			state = s.Status.State
		}
	}
	return id, state
}

// TestSubscriberOfAForgottenTaskGetsTheEnd: a run in progress is never
// forgotten, and who follows it is told how it ended, while others finish.
func TestSubscriberOfAForgottenTaskGetsTheEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(release) })
	slow := agent.New("slow", agent.Stream(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if req.Text() == "slow" {
			if err := w.Text("begun"); err != nil {
				return nil, err
			}
			<-release
		}
		return nil, w.Text("done")
	}))
	h := newHandler(t, slow, executor.KeepFinished(0, 1))
	var id a2a.TaskID
	for ev, err := range h.SendStreamingMessage(call(t), userMessage("slow")) {
		if err != nil {
			t.Fatal(err)
		}
		if id = ev.TaskInfo().TaskID; id != "" {
			break // the client leaves
		}
	}
	crowd := func() {
		for range 5 {
			answered(call(t), t, h, userMessage("x"), false)
		}
	}
	crowd()
	var last a2a.TaskState
	for ev, err := range h.SubscribeToTask(call(t), &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := ev.(type) {
		case *a2a.Task: // the snapshot, and the end where that came late
			crowd()
			goOn()
			last = e.Status.State
		case *a2a.TaskStatusUpdateEvent:
			last = e.Status.State
		}
		crowd()
	}
	if last != a2a.TaskStateCompleted {
		t.Errorf("the subscriber was told %q", last)
	}
	crowd()
	if err := h.Shutdown(t.Context()); err != nil { // nothing is being served any more
		t.Error(err)
	}
	if _, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("got %v, want it forgotten", err)
	}
}

func TestKeepFinishedIsForTheDefaultStore(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executor.Option{
		"with a store": {executor.KeepFinished(0, 0), executor.TaskStore(taskstore.NewInMemory(nil))},
		"negative age": {executor.KeepFinished(-1, 0)}, "negative number": {executor.KeepFinished(0, -1)},
	} {
		if _, err := executor.NewHandler(asksOnAsk, opts...); err == nil || !strings.Contains(err.Error(), "KeepFinished") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
