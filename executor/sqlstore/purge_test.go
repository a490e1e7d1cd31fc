package sqlstore

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// openAt opens a database whose clock is the test's.
func openAt(t *testing.T, dsn string, opts ...Option) (*DB, *atomic.Int64) {
	t.Helper()
	c := mustConfig(t, opts...)
	clock := &atomic.Int64{}
	clock.Store(time.Now().UnixNano())
	c.now = func() time.Time { return time.Unix(0, clock.Load()) }
	db, err := open(t.Context(), dsn, c, migrations)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, clock
}

func TestPurgeByAgeAndState(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), Keep(time.Hour), Keep(10*time.Minute, a2a.TaskStateFailed), Keep(2*time.Hour, a2a.TaskStateInputRequired))
		tasks := db.Tasks()
		for _, s := range []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateInputRequired, a2a.TaskStateWorking} {
			put(t, tasks, string(s), s)
			if _, err := db.PushConfigs().Save(t.Context(), a2a.TaskID(s), &a2a.PushConfig{ID: "x", URL: "https://example.com"}); err != nil {
				t.Fatal(err)
			}
			for _, run := range []string{"/loan", "/loan/1"} {
				if err := db.Flows().Save(t.Context(), flow.Checkpoint{Run: string(s) + run, Seq: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := []string{"COMPLETED FAILED INPUT_REQUIRED WORKING", "COMPLETED INPUT_REQUIRED WORKING", "INPUT_REQUIRED WORKING", "WORKING"}
		for i, after := range []time.Duration{0, 11 * time.Minute, time.Hour, 2 * time.Hour} {
			clock.Add(int64(after))
			if _, err := db.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := left(t, db); got != want[i] {
				t.Errorf("after purge %d there is %q left, want %q", i, got, want[i])
			}
		}
	})
}

// left lists what is left: a task with all that is its own, by its short state.
func left(t *testing.T, db *DB) string {
	t.Helper()
	var out []string
	for _, s := range []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateInputRequired, a2a.TaskStateWorking} {
		id := a2a.TaskID(s)
		_, taskErr := db.Tasks().Get(owned(t.Context()), id)
		_, pushErr := db.PushConfigs().Get(t.Context(), id, "x")
		_, flowErr := db.Flows().Load(t.Context(), string(id)+"/loan")
		_, nestedErr := db.Flows().Load(t.Context(), string(id)+"/loan/1")
		gone := errors.Is(taskErr, a2a.ErrTaskNotFound)
		if gone != errors.Is(pushErr, push.ErrPushConfigNotFound) || gone != errors.Is(flowErr, flow.ErrUnknownRun) || gone != errors.Is(nestedErr, flow.ErrUnknownRun) {
			t.Errorf("%s: the task is not removed as a whole: %v, %v, %v, %v", s, taskErr, pushErr, flowErr, nestedErr)
		}
		if !gone {
			out = append(out, strings.TrimPrefix(string(s), "TASK_STATE_"))
		}
	}
	return strings.Join(out, " ")
}

// whole reports whether a task is there, with all that is its own or without
// any of it.
func whole(t *testing.T, db *DB, user, id string) (there bool) {
	t.Helper()
	_, taskErr := db.Tasks().Get(call(t.Context(), user), a2a.TaskID(id))
	_, pushErr := db.PushConfigs().Get(t.Context(), a2a.TaskID(id), "x")
	_, flowErr := db.Flows().Load(t.Context(), id+"/loan")
	gone := errors.Is(taskErr, a2a.ErrTaskNotFound)
	if gone != errors.Is(pushErr, push.ErrPushConfigNotFound) || gone != errors.Is(flowErr, flow.ErrUnknownRun) {
		t.Errorf("%s: the task is not removed as a whole: %v, %v, %v", id, taskErr, pushErr, flowErr)
	}
	return !gone
}

// putWhole stores a task with a push configuration and a flow.
func putWhole(t *testing.T, db *DB, user, id string, state a2a.TaskState) {
	t.Helper()
	_, err1 := db.Tasks().Create(call(t.Context(), user), &a2a.Task{ID: a2a.TaskID(id), ContextID: "c", Status: a2a.TaskStatus{State: state}})
	_, err2 := db.PushConfigs().Save(t.Context(), a2a.TaskID(id), &a2a.PushConfig{ID: "x", URL: "https://example.com"})
	err3 := db.Flows().Save(t.Context(), flow.Checkpoint{Run: id + "/loan", Seq: 1})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
}

// Of those that have ended the last stay, whoever's they are and however they
// ended; those that are at work or parked stay, however old they are.
func TestPurgeByNumber(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), KeepNumber(3), Keep(time.Hour, a2a.TaskStateRejected))
		tasks := []struct {
			id, user string
			state    a2a.TaskState
			stays    bool
		}{
			{"works", "me", a2a.TaskStateWorking, true},
			{"asks", "me", a2a.TaskStateInputRequired, true},
			{"asks who", "you", a2a.TaskStateAuthRequired, true},
			{"first", "me", a2a.TaskStateCompleted, false},
			{"second", "you", a2a.TaskStateFailed, false},
			{"third", "me", a2a.TaskStateRejected, false},
			{"fourth", "me", a2a.TaskStateCanceled, true},
			{"fifth", "you", a2a.TaskStateCompleted, true},
			{"sixth", "", a2a.TaskStateFailed, true},
		}
		for _, c := range tasks {
			putWhole(t, db, c.user, c.id, c.state)
			clock.Add(int64(time.Second))
		}
		for round, want := range []int{3, 0} {
			if n, err := db.Purge(t.Context()); n != want || err != nil {
				t.Errorf("purge %d removed %d tasks (%v), want %d", round, n, err, want)
			}
		}
		for _, c := range tasks {
			if whole(t, db, c.user, c.id) != c.stays {
				t.Errorf("%s is there: %t", c.id, !c.stays)
			}
		}
	})
}

func TestPurgeOfManyTasksByNumber(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, _ := openAt(t, dsn, PurgeEvery(0), KeepNumber(5))
		if err := db.seed(t.Context(), batch+12, 1); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Purge(t.Context()); n != batch+7 || err != nil {
			t.Errorf("%d tasks were removed (%v), want %d", n, err, batch+7)
		}
	})
}

func TestPurgeIsByIndex(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, _ := openAt(t, dsn)
		ranked(t, db, "tasks_ended", lastKept, 10)
		ranked(t, db, "tasks_ended", "SELECT id "+surplusTasks+" LIMIT ?", 1, "x", 10)
	})
}

// A parked task that somebody has just answered is about to run.
func TestPurgeLeavesWhatIsLeased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), Keep(time.Hour, a2a.TaskStateInputRequired))
		for _, id := range []string{"answered", "waits"} {
			putWhole(t, db, "me", id, a2a.TaskStateInputRequired)
		}
		clock.Add(int64(2 * time.Hour))
		if !acquire(t, db.Tasks(), "answered") {
			t.Fatal("no lease")
		}
		if n, err := db.Purge(t.Context()); n != 1 || err != nil || !whole(t, db, "me", "answered") {
			t.Errorf("%d tasks were removed (%v), want 1", n, err)
		}
	})
}

// A push configuration that was saved as its task was removed, or whose task
// never came, stayed for ever.
func TestPurgeOfPushConfigsWithoutTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), KeepNumber(1))
		save := func(task a2a.TaskID) {
			if _, err := db.PushConfigs().Save(t.Context(), task, &a2a.PushConfig{ID: "x", URL: "https://example.com"}); err != nil {
				t.Fatal(err)
			}
		}
		put(t, db.Tasks(), "task", a2a.TaskStateWorking)
		save("task")
		save("gone")
		clock.Add(int64(2 * orphanAge))
		save("to come")
		if _, err := db.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		for task, kept := range map[a2a.TaskID]bool{"task": true, "gone": false, "to come": true} {
			if _, err := db.PushConfigs().Get(t.Context(), task, "x"); (err == nil) != kept {
				t.Errorf("%s: got %v, want kept: %t", task, err, kept)
			}
		}
	})
}

func TestPurgeOfManyTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), Keep(time.Hour))
		err := db.seed(t.Context(), batch+7, 1)
		if err != nil {
			t.Fatal(err)
		}
		clock.Add(int64(3 * time.Hour))
		if n, err := db.Purge(t.Context()); n != batch+7 || err != nil {
			t.Errorf("%d tasks were removed (%v), want %d", n, err, batch+7)
		}
	})
}

func TestPurgeOfFlowsWithoutTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, clock := openAt(t, dsn, PurgeEvery(0), KeepFlows(time.Hour))
		put(t, db.Tasks(), "task", a2a.TaskStateInputRequired)
		for _, run := range []string{"task/loan", "gone/loan", "alone"} {
			if err := db.Flows().Save(t.Context(), flow.Checkpoint{Run: run, Seq: 1, Data: []byte("x")}); err != nil {
				t.Fatal(err)
			}
		}
		clock.Add(int64(2 * time.Hour))
		if _, err := db.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		for run, kept := range map[string]bool{"task/loan": true, "gone/loan": false, "alone": false} {
			if _, err := db.Flows().Load(t.Context(), run); (err == nil) != kept {
				t.Errorf("%s: got %v, want kept: %t", run, err, kept)
			}
		}
	})
}

func TestPurgeInTheBackground(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, err := Open(t.Context(), dsn, PurgeEvery(time.Millisecond), Keep(time.Nanosecond))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		put(t, db.Tasks(), "x", a2a.TaskStateCompleted)
		for err == nil { // ends by itself, or with the test's time
			_, err = db.Tasks().Get(owned(t.Context()), "x")
		}
		if !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Error(err)
		}
	})
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db, err := Open(t.Context(), dsn, MaxBytes(1000))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		long := strings.Repeat("x", 1001)
		ctx := owned(t.Context())
		for what, got := range map[string]struct{ err, want error }{
			"a task":        {second(db.Tasks().Create(ctx, &a2a.Task{ID: "t", Metadata: map[string]any{"x": long}})), ErrTooLarge},
			"a checkpoint":  {db.Flows().Save(ctx, flow.Checkpoint{Run: "r", Seq: 1, Data: []byte(long)}), ErrTooLarge},
			"a push config": {second(db.PushConfigs().Save(ctx, "t", &a2a.PushConfig{URL: "https://example.com/" + long})), ErrTooLarge},
			"a task id":     {second(db.Tasks().Create(ctx, &a2a.Task{ID: a2a.TaskID(long + long)})), a2a.ErrInvalidParams},
			"a context id":  {second(db.Tasks().Create(ctx, &a2a.Task{ID: "t", ContextID: long + long})), a2a.ErrInvalidParams},
			"a zero byte":   {second(db.Tasks().Create(ctx, &a2a.Task{ID: "t", ContextID: "a\x00b"})), a2a.ErrInvalidParams},
			"a user":        {second(db.Tasks().Create(call(ctx, long+long), &a2a.Task{ID: "t"})), a2a.ErrInvalidParams},
			"an odd id":     {second(db.Tasks().Get(ctx, "\xff")), a2a.ErrTaskNotFound},
		} {
			if !errors.Is(got.err, got.want) {
				t.Errorf("%s: got %v, want %v", what, got.err, got.want)
			}
		}
		if res, err := db.Tasks().List(ctx, &a2a.ListTasksRequest{ContextID: "a\x00b"}); err != nil || res.TotalSize != 0 {
			t.Errorf("list: got %v, %v", res, err)
		}
	})
}

func second[T any](_ T, err error) error { return err }
