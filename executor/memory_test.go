package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"
)

func as(user string) context.Context {
	ctx, call := a2asrv.NewCallContext(context.Background(), nil)
	call.User = a2asrv.NewAuthenticatedUser(user, nil)
	return ctx
}

func memory(age time.Duration, number int) *memoryStore {
	return newMemoryStore(a2asrv.NewTaskStoreAuthenticator(), age, number)
}

func taskIn(id string, state a2a.TaskState) *a2a.Task {
	return &a2a.Task{ID: a2a.TaskID(id), ContextID: "c", Status: a2a.TaskStatus{State: state}}
}

func mustCreate(t *testing.T, s taskstore.Store, user string, task *a2a.Task) {
	t.Helper()
	if _, err := s.Create(as(user), task); err != nil {
		t.Fatal(err)
	}
}

// kept are the ids, in order, of the tasks of u that can be found.
func kept(s taskstore.Store, ids ...string) (found []string) {
	for _, id := range ids {
		if _, err := s.Get(as("u"), a2a.TaskID(id)); err == nil {
			found = append(found, id)
		}
	}
	return found
}

func TestMemoryForgetsByNumber(t *testing.T) {
	t.Parallel()
	s := memory(0, 2)
	mustCreate(t, s, "u", taskIn("parked", a2a.TaskStateInputRequired))
	mustCreate(t, s, "u", taskIn("asked", a2a.TaskStateAuthRequired))
	mustCreate(t, s, "u", taskIn("running", a2a.TaskStateWorking))
	mustCreate(t, s, "u", taskIn("early", a2a.TaskStateWorking))
	for _, id := range []string{"a", "b"} {
		mustCreate(t, s, "u", taskIn(id, a2a.TaskStateCompleted))
	}
	// Begun first, finished last: it is not the first to go.
	if _, err := s.Update(as("u"), &taskstore.UpdateRequest{Task: taskIn("early", a2a.TaskStateFailed), PrevVersion: 1}); err != nil {
		t.Fatal(err)
	}
	got := kept(s, "parked", "asked", "running", "a", "b", "early")
	if diff := cmp.Diff([]string{"parked", "asked", "running", "b", "early"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	for _, err := range []error{
		second(s.Get(as("u"), "a")),
		second(s.Update(as("u"), &taskstore.UpdateRequest{Task: taskIn("a", a2a.TaskStateFailed)})),
	} {
		if !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("forgotten task: got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestMemoryForgetsByAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory(time.Hour, 0)
		var gone []a2a.TaskID
		s.forgotten = func(id a2a.TaskID) { gone = append(gone, id) }
		mustCreate(t, s, "u", taskIn("parked", a2a.TaskStateInputRequired))
		for i := range 100 {
			mustCreate(t, s, "u", taskIn(fmt.Sprint(i), a2a.TaskStateCompleted))
		}
		time.Sleep(time.Hour - time.Second)
		mustCreate(t, s, "u", taskIn("young", a2a.TaskStateCompleted))
		time.Sleep(time.Second)
		if got := kept(s, "99", "parked", "young"); !slices.Equal(got, []string{"parked", "young"}) {
			t.Errorf("kept %q", got)
		}
		res, err := s.List(as("u"), &a2a.ListTasksRequest{})
		if err != nil || res.TotalSize != 2 {
			t.Errorf("list: got %d tasks, %v", res.TotalSize, err)
		}
		if len(gone) == 0 || len(gone) > 4*(sweep+1) {
			t.Errorf("4 operations forgot %d tasks", len(gone))
		}
		for range 100 / sweep {
			kept(s, "parked")
		}
		if len(gone) != 100 || len(s.tasks) != 2 || s.resting.Len() != 1 || s.owners["u"].Len() != 2 {
			t.Errorf("forgot %d, left %d tasks", len(gone), len(s.tasks))
		}
		// An id that was forgotten, or should be, is free again.
		time.Sleep(2 * time.Hour)
		mustCreate(t, s, "u", taskIn("young", a2a.TaskStateWorking))
		mustCreate(t, s, "u", taskIn("99", a2a.TaskStateWorking))
		kept(s, "parked")
		if got := kept(s, "parked", "young", "99"); len(got) != 3 {
			t.Errorf("kept %q", got)
		}
	})
}

func TestMemoryLimitsOfZeroKeepAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory(0, 0)
		for i := range 1000 {
			mustCreate(t, s, "u", taskIn(fmt.Sprint(i), a2a.TaskStateCompleted))
		}
		time.Sleep(1000 * time.Hour)
		if got := kept(s, "0", "999"); len(got) != 2 || len(s.tasks) != 1000 {
			t.Errorf("kept %d", len(s.tasks))
		}
	})
}

// TestMemoryKeepsWhatIsServed: a task that finished while somebody is being
// served with it stays until that is over, whatever else finishes.
func TestMemoryKeepsWhatIsServed(t *testing.T) {
	t.Parallel()
	s := memory(0, 1)
	unpin, again := s.pin("served"), s.pin("served")
	mustCreate(t, s, "u", taskIn("served", a2a.TaskStateCompleted))
	for i := range 10 {
		mustCreate(t, s, "u", taskIn(fmt.Sprint(i), a2a.TaskStateCompleted))
	}
	unpin()
	unpin() // counts once
	mustCreate(t, s, "u", taskIn("more", a2a.TaskStateCompleted))
	if got := kept(s, "served"); len(got) != 1 {
		t.Fatal("forgotten while served")
	}
	again()
	if got := kept(s, "served", "more"); !slices.Equal(got, []string{"more"}) || len(s.pins) != 0 {
		t.Errorf("kept %q, %d pins", got, len(s.pins)) // it finished first
	}
}

func TestMemoryMasksOwners(t *testing.T) {
	t.Parallel()
	s := memory(0, 0)
	mustCreate(t, s, "ann", taskIn("x", a2a.TaskStateWorking))
	update := &taskstore.UpdateRequest{Task: taskIn("x", a2a.TaskStateFailed)}
	for name, err := range map[string]error{
		"get": second(s.Get(as("bob"), "x")), "update": second(s.Update(as("bob"), update)),
		"absent": second(s.Get(as("bob"), "y")),
	} {
		if err != a2a.ErrTaskNotFound { //nolint:errorlint // indistinguishable means just this
			t.Errorf("%s: got %v", name, err)
		}
	}
	if res, err := s.List(as("bob"), &a2a.ListTasksRequest{}); err != nil || res.TotalSize != 0 {
		t.Errorf("list: got %+v, %v", res, err)
	}
	if _, err := s.List(as(""), &a2a.ListTasksRequest{}); !errors.Is(err, a2a.ErrUnauthenticated) {
		t.Errorf("list without a user: got %v", err)
	}
	if _, err := s.Get(context.Background(), "x"); !errors.Is(err, a2a.ErrUnauthenticated) {
		t.Errorf("no call: got %v", err)
	}
}

func TestMemoryVersions(t *testing.T) {
	t.Parallel()
	s := memory(0, 0)
	mustCreate(t, s, "u", taskIn("x", a2a.TaskStateWorking))
	if _, err := s.Create(as("u"), taskIn("x", a2a.TaskStateWorking)); !errors.Is(err, taskstore.ErrTaskAlreadyExists) {
		t.Errorf("again: got %v", err)
	}
	update := func(prev taskstore.TaskVersion) error {
		_, err := s.Update(as("u"), &taskstore.UpdateRequest{Task: taskIn("x", a2a.TaskStateWorking), PrevVersion: prev})
		return err
	}
	if err := errors.Join(update(1), update(2), update(taskstore.TaskVersionMissing)); err != nil {
		t.Error(err)
	}
	if err := update(2); !errors.Is(err, taskstore.ErrConcurrentModification) {
		t.Errorf("old version: got %v", err)
	}
}

// TestMemoryShares nothing: neither with who wrote a task nor with who read it.
func TestMemorySharesNothing(t *testing.T) {
	t.Parallel()
	s := memory(0, 0)
	whole := func() *a2a.Task {
		at := time.Unix(1, 0).UTC()
		data := a2a.NewDataPart(map[string]any{"list": []any{1.0, map[string]any{"k": "v"}}, "empty": []any{}, "null": nil})
		data.SetMeta("m", []any{"x"})
		file := &a2a.Part{Content: a2a.Raw{1, 2}, Filename: "f"}
		msg := &a2a.Message{ID: "m", Parts: a2a.ContentParts{data, nil, file, {Content: a2a.Raw{}}}, Extensions: []string{"e"}, ReferenceTasks: []a2a.TaskID{"r"}}
		return &a2a.Task{
			ID: "x", History: []*a2a.Message{msg, nil}, Metadata: map[string]any{"k": []any{"v"}},
			Artifacts: []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{data}, Metadata: map[string]any{}, Extensions: []string{"e"}}, nil},
			Status:    a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: &at, Message: msg},
		}
	}
	written := whole()
	mustCreate(t, s, "u", written)
	spoil(written)
	for range 2 {
		st, err := s.Get(as("u"), "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole(), st.Task); diff != "" {
			t.Fatalf("stored (-want +got):\n%s", diff)
		}
		spoil(st.Task)
	}
}

// spoil changes all of a task that can change.
func spoil(t *a2a.Task) {
	*t.Status.Timestamp = time.Unix(2, 0)
	m := t.History[0]
	m.Extensions[0], m.ReferenceTasks[0] = "!", "!"
	spoilValue(m.Parts[0].Metadata)
	spoilValue(m.Parts[0].Data())
	if raw, ok := m.Parts[2].Content.(a2a.Raw); ok {
		raw[0] = 9
	}
	spoilValue(t.Metadata)
	t.Artifacts[0].Extensions[0], t.Artifacts[0].Metadata["new"] = "!", true
	t.History[1], t.Artifacts[1] = m, t.Artifacts[0]
}

func spoilValue(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			spoilValue(e)
			v[k] = "!"
		}
	case []any:
		for i, e := range v {
			spoilValue(e)
			v[i] = "!"
		}
	}
}

func TestMemoryAtOnce(t *testing.T) {
	t.Parallel()
	s := memory(time.Microsecond, 3)
	s.forgotten = func(id a2a.TaskID) { _, _ = s.Get(as("u"), id) } // no lock is held
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				id := fmt.Sprintf("%d", (i*j)%20)
				unpin := s.pin(a2a.TaskID(id))
				_, _ = s.Create(as("u"), taskIn(id, a2a.TaskStateWorking))
				_, _ = s.Update(as("u"), &taskstore.UpdateRequest{Task: taskIn(id, a2a.TaskStateCompleted)})
				_, _ = s.List(as("u"), &a2a.ListTasksRequest{})
				unpin()
			}
		})
	}
	wg.Wait()
	if len(s.pins) != 0 {
		t.Errorf("%d pins are left", len(s.pins))
	}
}
