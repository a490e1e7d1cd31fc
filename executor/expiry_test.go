package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
)

// asksOnce parks, and ends with the answer.
func asksOnce(_ context.Context, req *agent.Request) (*agent.Result, error) {
	if _, asked := req.Question(); asked {
		return agent.Text("thanks"), nil
	}
	return nil, hitl.AuthRequired("?")
}

func stateOf(t *testing.T, h *executor.Handler, id a2a.TaskID) a2a.TaskState {
	t.Helper()
	task, err := h.GetTask(user(t, "u"), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return task.Status.State
}

// A store that fails, or exits the goroutine, at the moment of expiry spent the
// only try, and the task waited for ever.
func TestExpiryWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"get", "update", "panic"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := newHookedStore()
				h := newHandler(t, invoking(asksOnce), executor.TaskStore(store), executor.ParkTimeout(time.Hour))
				task := sent(user(t, "u"), t, h, userMessage("hi"))
				var n atomic.Int64
				down := func() error {
					if n.Add(1) > 3 {
						return nil
					}
					if what == "panic" {
						panic("down")
					}
					return errors.New("connection reset")
				}
				if what == "update" {
					store.onUpdate(func(*taskstore.UpdateRequest) error { return down() })
				} else {
					store.onGet(func(a2a.TaskID) error { return down() })
				}
				time.Sleep(time.Hour + time.Minute)
				if got := stateOf(t, h, task.ID); got != a2a.TaskStateFailed {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// A store that rounds timestamps up, or a clock that was set back, kept tasks
// from expiring.
func TestExpiryGoesByThisProcessClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHookedStore()
		store.onUpdate(func(r *taskstore.UpdateRequest) error {
			if at := r.Task.Status.Timestamp; at != nil {
				later := at.Add(10 * time.Minute)
				r.Task.Status.Timestamp = &later
			}
			return nil
		})
		h := newHandler(t, invoking(asksOnce), executor.TaskStore(store), executor.ParkTimeout(time.Minute))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		time.Sleep(time.Minute + time.Second)
		if got := stateOf(t, h, task.ID); got != a2a.TaskStateFailed {
			t.Errorf("got %s", got)
		}
	})
}

// A task whose answer was already taken expired nevertheless.
func TestExpiryAfterTheAnswerWasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHookedStore()
		h := newHandler(t, invoking(asksOnce), executor.TaskStore(store), executor.ParkTimeout(time.Hour))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		var once sync.Once
		store.onUpdate(func(*taskstore.UpdateRequest) error {
			once.Do(func() { time.Sleep(time.Hour) }) // of the message, before the run
			return nil
		})
		time.Sleep(time.Hour - time.Minute)
		if got := sent(user(t, "u"), t, h, replyTo(task, a2a.NewTextPart("x"))); got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("got %v", got.Status)
		}
	})
}

// A task that expired has a correlation id, and the log had it nowhere.
func TestExpiryIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		h := newHandler(t, invoking(asksOnce), executor.ParkTimeout(time.Hour), executor.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		time.Sleep(time.Hour + time.Minute)
		if got := stateOf(t, h, task.ID); got != a2a.TaskStateFailed {
			t.Errorf("got %s", got)
		}
		if !strings.Contains(log.String(), "parked task expired") || !regexp.MustCompile(`correlation_id=[0-9a-f]{16}`).MatchString(log.String()) {
			t.Errorf("log: %s", log.String())
		}
	})
}
