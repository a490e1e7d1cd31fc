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
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dsn, opts := kind.empty(t)
			db, clock := openAt(t, dsn, append(opts, PurgeEvery(0), Keep(time.Hour), Keep(10*time.Minute, a2a.TaskStateFailed), Keep(2*time.Hour, a2a.TaskStateInputRequired))...)
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

func TestPurgeOfManyTasks(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dsn, opts := kind.empty(t)
			db, clock := openAt(t, dsn, append(opts, PurgeEvery(0), Keep(time.Hour))...)
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
}

func TestPurgeOfFlowsWithoutTasks(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dsn, opts := kind.empty(t)
			db, clock := openAt(t, dsn, append(opts, PurgeEvery(0), KeepFlows(time.Hour))...)
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
}

func TestPurgeInTheBackground(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dsn, opts := kind.empty(t)
			db, err := Open(t.Context(), dsn, append(opts, PurgeEvery(time.Millisecond), Keep(time.Nanosecond))...)
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
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dsn, opts := kind.empty(t)
			db, err := Open(t.Context(), dsn, append(opts, MaxBytes(1000))...)
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
}

func second[T any](_ T, err error) error { return err }
