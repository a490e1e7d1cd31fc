package executor

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The model of the store is a list of tasks that is looked through as a whole.

type modelTask struct {
	id, user string
	state    a2a.TaskState
	version  taskstore.TaskVersion
	since    time.Time // when it finished
	order    int       // of finishing; 0: not
	rests    bool      // nobody is served with it
	written  int
}

type modelStore struct {
	age     time.Duration
	number  int
	tasks   []*modelTask
	pins    map[string]int
	counter int
}

func (m *modelStore) find(id string) *modelTask {
	m.forget()
	for _, t := range m.tasks {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (m *modelStore) forget() {
	all := slices.Clone(m.tasks) // DeleteFunc moves those it keeps while it asks
	m.tasks = slices.DeleteFunc(m.tasks, func(t *modelTask) bool {
		if t.order == 0 || !t.rests {
			return false
		}
		later := 0
		for _, o := range all {
			if o.rests && o.order > t.order {
				later++
			}
		}
		return m.age > 0 && time.Since(t.since) >= m.age || m.number > 0 && later >= m.number
	})
}

func (m *modelStore) settle(t *modelTask) {
	switch {
	case !t.state.Terminal():
		t.order, t.rests = 0, false
	case t.order == 0:
		m.counter++
		t.order, t.since = m.counter, time.Now()
	}
	if t.order > 0 && m.pins[t.id] == 0 {
		t.rests = true
	}
	m.forget()
}

func (m *modelStore) write(t *modelTask, state a2a.TaskState) {
	m.counter++
	t.written, t.state = m.counter, state
	t.version++
	m.settle(t)
}

func (m *modelStore) list(user string, state a2a.TaskState) (ids []string) {
	m.forget()
	mine := slices.Clone(m.tasks)
	slices.SortFunc(mine, func(a, b *modelTask) int { return b.written - a.written })
	for _, t := range mine {
		if t.user == user && (state == "" || t.state == state) {
			ids = append(ids, t.id)
		}
	}
	return ids
}

func TestMemoryIsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		age := time.Duration(rapid.SampledFrom([]int{0, 1, 10}).Draw(rt, "age")) * time.Minute
		number := rapid.IntRange(0, 4).Draw(rt, "number")
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 60).Draw(rt, "steps")
		if failed := compared(t, age, number, steps); failed != "" {
			rt.Fatal(failed)
		}
	})
}

// TestMemoryIsTheModelPastItsNumber: of three that finish in another order than
// they were created in, both forget the one that finished first, and no other.
func TestMemoryIsTheModelPastItsNumber(t *testing.T) {
	t.Parallel()
	steps := []step{
		{op: "create", id: "a", user: "ann", state: a2a.TaskStateCompleted},
		{op: "create", id: "c", user: "ann", state: a2a.TaskStateWorking},
		{op: "create", id: "b", user: "ann", state: a2a.TaskStateCompleted},
		{op: "update", id: "c", user: "ann", state: a2a.TaskStateCompleted},
		{op: "get", id: "a", user: "ann"},
		{op: "list", user: "ann", size: 2},
	}
	if failed := compared(t, 0, 2, steps); failed != "" {
		t.Error(failed)
	}
}

// compared does the steps to a store and to its model, and tells where they differ.
func compared(t *testing.T, age time.Duration, number int, steps []step) (failed string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		c := &comparison{
			real: memory(age, number), unpin: map[string][]func(){},
			model: &modelStore{age: age, number: number, pins: map[string]int{}},
		}
		for i, s := range steps {
			if diff := c.step(s); diff != "" {
				failed = fmt.Sprintf("step %d, %+v (-model +store):\n%s", i, s, diff)
				return
			}
		}
	})
	return failed
}

type step struct {
	op, id, user string
	state        a2a.TaskState
	size         int
}

func drawStep(t *rapid.T) step {
	states := []a2a.TaskState{a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateCompleted, a2a.TaskStateFailed}
	return step{
		op:    rapid.SampledFrom([]string{"create", "create", "update", "update", "get", "list", "pin", "unpin", "wait"}).Draw(t, "op"),
		id:    rapid.StringMatching("[a-h]").Draw(t, "id"),
		user:  rapid.SampledFrom([]string{"ann", "ann", "bob"}).Draw(t, "user"),
		state: rapid.SampledFrom(states).Draw(t, "state"),
		size:  rapid.IntRange(1, 3).Draw(t, "size"),
	}
}

type comparison struct {
	real  *memoryStore
	model *modelStore
	unpin map[string][]func()
}

// step does one thing to both, and tells where they differ.
func (c *comparison) step(s step) string {
	found := c.model.find(s.id)
	mine := found != nil && found.user == s.user
	var want, got error
	switch s.op {
	case "create":
		if _, got = c.real.Create(as(s.user), taskIn(s.id, s.state)); found != nil {
			want = taskstore.ErrTaskAlreadyExists
			break
		}
		c.model.tasks = append(c.model.tasks, &modelTask{id: s.id, user: s.user})
		c.model.write(c.model.find(s.id), s.state)
	case "update":
		if _, got = c.real.Update(as(s.user), &taskstore.UpdateRequest{Task: taskIn(s.id, s.state)}); !mine {
			want = a2a.ErrTaskNotFound
			break
		}
		c.model.write(found, s.state)
	case "get":
		return c.get(s, found, mine)
	case "list":
		return c.list(s)
	case "pin":
		c.unpin[s.id] = append(c.unpin[s.id], c.real.pin(a2a.TaskID(s.id)))
		c.model.pins[s.id]++
	case "unpin":
		c.release(s.id)
	case "wait":
		time.Sleep(time.Duration(s.size) * 20 * time.Second)
	}
	if !errors.Is(got, want) {
		return cmp.Diff(fmt.Sprint(want), fmt.Sprint(got))
	}
	return ""
}

func (c *comparison) release(id string) {
	held := c.unpin[id]
	if len(held) == 0 {
		return
	}
	c.unpin[id] = held[1:]
	held[0]()
	c.model.pins[id]--
	if t := c.model.find(id); t != nil {
		c.model.settle(t)
	}
}

func (c *comparison) get(s step, found *modelTask, mine bool) string {
	st, err := c.real.Get(as(s.user), a2a.TaskID(s.id))
	switch {
	case !mine && errors.Is(err, a2a.ErrTaskNotFound):
		return ""
	case !mine || err != nil:
		return fmt.Sprintf("mine: %t, %v", mine, err)
	}
	return cmp.Diff([]any{found.version, found.state, found.user}, []any{st.Version, st.Task.Status.State, st.User})
}

// list reads all pages.
func (c *comparison) list(s step) string {
	state := a2a.TaskState("")
	if s.size == 1 {
		state = s.state
	}
	want := c.model.list(s.user, state)
	var got []string
	for token := ""; ; {
		res, err := c.real.List(as(s.user), &a2a.ListTasksRequest{PageSize: s.size, PageToken: token, Status: state})
		if err != nil {
			return err.Error()
		}
		if res.TotalSize != len(want) || len(res.Tasks) > s.size {
			return fmt.Sprintf("want %d in all, got %d, a page of %d", len(want), res.TotalSize, len(res.Tasks))
		}
		for _, t := range res.Tasks {
			got = append(got, string(t.ID))
		}
		if token = res.NextPageToken; token == "" {
			return cmp.Diff(want, got)
		}
	}
}

// TestMemoryListsAsTheHost: without limits, what is listed is what the host's
// own store lists, page by page.
func TestMemoryListsAsTheHost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 30).Draw(rt, "writes")
		req := rapid.Custom(drawListing).Draw(rt, "request")
		var now time.Time
		config := &taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator(), TimeProvider: func() time.Time {
			now = now.Add(time.Second)
			return now
		}}
		host, own := taskstore.NewInMemory(config), memory(0, 0)
		for i, s := range steps {
			task := taskIn(s.id, s.state)
			at := time.Unix(int64(i), 0)
			task.ContextID, task.Status.Timestamp = "c"+s.id[:1], &at
			task.History = []*a2a.Message{{ID: "1"}, {ID: "2"}}
			task.Artifacts = []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart("x")}}}
			for _, store := range []taskstore.Store{host, own} {
				if _, err := store.Create(as(s.user), task); err != nil {
					_, _ = store.Update(as(s.user), &taskstore.UpdateRequest{Task: task})
				}
			}
		}
		if diff := cmp.Diff(pages(host, req), pages(own, req)); diff != "" {
			rt.Errorf("pages (-host +own):\n%s", diff)
		}
	})
}

func drawListing(t *rapid.T) *a2a.ListTasksRequest {
	after := time.Unix(rapid.Int64Range(0, 30).Draw(t, "after"), 0)
	history := rapid.IntRange(-1, 3).Draw(t, "history")
	req := &a2a.ListTasksRequest{
		PageSize:         rapid.SampledFrom([]int{-1, 0, 1, 2, 3, 100, 101}).Draw(t, "size"),
		ContextID:        rapid.SampledFrom([]string{"", "", "ca", "cb"}).Draw(t, "context"),
		Status:           rapid.SampledFrom([]a2a.TaskState{"", a2a.TaskStateWorking, a2a.TaskStateCompleted}).Draw(t, "status"),
		IncludeArtifacts: rapid.Bool().Draw(t, "artifacts"),
		PageToken:        rapid.SampledFrom([]string{"", "", "", "junk", "AAAA"}).Draw(t, "token"),
	}
	if rapid.Bool().Draw(t, "by time") {
		req.StatusTimestampAfter = &after
	}
	if rapid.Bool().Draw(t, "cut") {
		req.HistoryLength = &history
	}
	return req
}

// pages reads all pages, up to an error.
func pages(s taskstore.Store, req *a2a.ListTasksRequest) (out []any) {
	r := *req
	for {
		res, err := s.List(as("ann"), &r)
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, res.TotalSize, res.PageSize, res.Tasks)
		if r.PageToken = res.NextPageToken; r.PageToken == "" {
			return out
		}
	}
}
