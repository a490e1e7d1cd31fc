package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/retained"
)

// keeper keeps something with its task, asks, and goes by the answer.
func keeper(ctx context.Context, req *agent.Request) (*agent.Result, error) {
	if _, asked := req.Question(); !asked {
		retained.Set(ctx, "so far", func() (string, bool) { return "much", true })
		return nil, hitl.InputRequired("Go on?")
	}
	if kept, _ := retained.Get(ctx, "so far"); kept != "much" {
		return nil, errors.New("nothing was kept")
	}
	if req.Text() == "no" {
		return nil, errors.New("no")
	}
	return agent.Text("done"), nil
}

// TestWhatIsRetainedGoesWithTheTasksEnd: what a parked task kept stayed in the
// store after a cancel and when nobody answered.
func TestWhatIsRetainedGoesWithTheTasksEnd(t *testing.T) {
	t.Parallel()
	answer := func(text string) func(context.Context, *testing.T, a2asrv.RequestHandler, a2a.TaskID) {
		return func(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, id a2a.TaskID) {
			t.Helper()
			m := userMessage(text)
			m.Message.TaskID = id
			sent(ctx, t, h, m)
		}
	}
	for want, end := range map[a2a.TaskState]func(context.Context, *testing.T, a2asrv.RequestHandler, a2a.TaskID){
		a2a.TaskStateCompleted: answer("yes"),
		a2a.TaskStateFailed:    answer("no"),
		a2a.TaskStateCanceled: func(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, id a2a.TaskID) {
			t.Helper()
			if _, err := h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id}); err != nil {
				t.Error(err)
			}
		},
		"expired": func(context.Context, *testing.T, a2asrv.RequestHandler, a2a.TaskID) { time.Sleep(2 * time.Hour) },
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, store := user(t, "u"), newHookedStore()
				h := newHandler(t, agent.New("a", agent.Invoke(keeper)), executor.TaskStore(store), executor.ParkTimeout(time.Hour))
				id := sent(ctx, t, h, userMessage("x")).ID
				if st, err := store.Get(ctx, id); err != nil || st.Task.Metadata[retained.Key] == nil {
					t.Fatalf("parked: %v, %v", st, err)
				}
				end(ctx, t, h, id)
				synctest.Wait()
				st, err := store.Get(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				if kept, ok := st.Task.Metadata[retained.Key]; ok {
					t.Errorf("%s: %v is still kept", st.Task.Status.State, kept)
				}
				if got := st.Task.Status.State; got != want && (want != "expired" || got != a2a.TaskStateFailed) {
					t.Errorf("the task is %s", got)
				}
			})
		})
	}
}
