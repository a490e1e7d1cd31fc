package executor

import (
	"errors"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
)

// TestAnswerRightAfterTheQuestion: a client may answer as soon as it has seen
// the question, and the run's goroutine may go on later than that.
func TestAnswerRightAfterTheQuestion(t *testing.T) {
	t.Parallel()
	c := &config{agent: agent.New("a")}
	x := newAgentExecutor(c)
	task := &a2a.Task{ID: "t", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}
	r := newRun(c, task, agent.NewRequest(agent.RequestInfo{}))
	first, err := x.admit("")
	if err != nil {
		t.Fatal(err)
	}
	x.begin(r, first)
	x.stored(task)
	if _, err := x.admit(task.ID); err == nil {
		t.Error("a message is admitted to a task at work")
	}
	now := time.Now()
	x.stored(&a2a.Task{ID: "t", Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired, Timestamp: &now}})
	if _, err := x.admit(task.ID); err != nil {
		t.Errorf("the answer is refused: %v", err)
	}
}

// A task that was answered kept its timer, and with it its last request, for as
// long as it could have been parked.
func TestTimersOfParkedTasksEnd(t *testing.T) {
	t.Parallel()
	g := newRegistry()
	noop := func() { t.Error("called") }
	for _, id := range []a2a.TaskID{"answered", "ended", "parked"} {
		g.after(id, time.Hour, true, noop)
		g.after(id, time.Hour, false, noop)
	}
	r := newRun(&config{}, &a2a.Task{ID: "answered"}, nil)
	g.begin(r, nil)
	g.after("answered", time.Hour, true, noop) // at work
	g.stopTimer("ended")
	if len(g.timers) != 1 || g.timers["parked"] == nil {
		t.Errorf("timers: %v", g.timers)
	}
	if g.claim("answered") || !g.claim("parked") || g.claim("parked") {
		t.Error("a task is taken twice, or not at all")
	}
	if _, err := g.admit("parked"); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("a message to a task that is taken: got %v", err)
	}
	g.disclaim("parked")
	if _, err := g.admit("parked"); err != nil {
		t.Error(err)
	}
	g.close()
}
