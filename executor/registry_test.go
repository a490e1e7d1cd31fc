package executor

import (
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
