package storetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/executor/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func inMemory() taskstore.Store {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})
}

func TestInMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) taskstore.Store { return inMemory() })
	if err := storetest.TestStore(t.Context(), inMemory()); err != nil {
		t.Error(err)
	}
}

func TestInMemoryPushConfigs(t *testing.T) {
	t.Parallel()
	storetest.RunPushConfigs(t, func(*testing.T) push.ConfigStore { return push.NewInMemoryStore() })
}

// Each of these stores breaks one promise.
type (
	careless struct{ taskstore.Store } // takes any version
	nosy     struct{ taskstore.Store } // shows everybody's tasks
	lossy    struct{ taskstore.Store } // loses what is empty
	rude     struct{ taskstore.Store } // panics
	unpaged  struct{ taskstore.Store } // has one page
)

func (s careless) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	all := *req
	all.PrevVersion = taskstore.TaskVersionMissing
	return s.Store.Update(ctx, &all)
}

func (s lossy) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	c := *t
	c.Metadata = nil
	return s.Store.Create(ctx, &c)
}

func (s rude) Get(context.Context, a2a.TaskID) (*taskstore.StoredTask, error) { panic("no") }

func (s unpaged) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.Store.List(ctx, req)
	if err == nil {
		res.NextPageToken = ""
	}
	return res, err
}

// ofEverybody gives a store in which all tasks are everybody's.
func ofEverybody() taskstore.Store {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "everybody", nil },
	})
}

// shadowed is a store that has all tasks a second time, where they are
// everybody's, to leak from.
type shadowed struct {
	taskstore.Store
	leak taskstore.Store
}

func newShadowed() shadowed { return shadowed{inMemory(), ofEverybody()} }

func (s shadowed) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	v, err := s.Store.Create(ctx, t)
	if err == nil {
		_, err = s.leak.Create(ctx, t)
	}
	return v, err
}

func (s shadowed) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	if err == nil {
		_, err = careless{s.leak}.Update(ctx, req)
	}
	return v, err
}

// Each of these breaks one promise in one corner.
type (
	leaky     struct{ shadowed } // shows everybody's tasks when asked for a context
	grabbing  struct{ shadowed } // lets anybody update without a version
	forgetful struct{ taskstore.Store }
	stale     struct { // filters by the state in which a task was created
		taskstore.Store
		first *sync.Map
	}
)

func (s leaky) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.ContextID != "" && req.PageToken == "" {
		return s.leak.List(ctx, req)
	}
	return s.Store.List(ctx, req)
}

func (s grabbing) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.shadowed.Update(ctx, req)
	if err != nil && req.PrevVersion == taskstore.TaskVersionMissing {
		return s.leak.Update(ctx, req)
	}
	return v, err
}

// List drops the filter after the first page.
func (s forgetful) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.PageToken != "" {
		req = &a2a.ListTasksRequest{PageSize: req.PageSize, PageToken: req.PageToken}
	}
	return s.Store.List(ctx, req)
}

func (s stale) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	s.first.Store(t.ID, t.Status.State)
	return s.Store.Create(ctx, t)
}

func (s stale) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	all := *req
	all.Status = a2a.TaskStateUnspecified
	res, err := s.Store.List(ctx, &all)
	if err != nil || req.Status == a2a.TaskStateUnspecified {
		return res, err
	}
	res.Tasks = slices.DeleteFunc(res.Tasks, func(t *a2a.Task) bool {
		first, _ := s.first.Load(t.ID)
		return first != req.Status
	})
	res.TotalSize = len(res.Tasks)
	return res, nil
}

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		store taskstore.Store
		want  string
	}{
		{"takes any version", careless{inMemory()}, "an update of an old version is a conflict"},
		{"shows everybody's tasks", nosy{ofEverybody()}, "another user's task is not there"},
		{"loses metadata", lossy{inMemory()}, "what was created is got"},
		{"panics", rude{inMemory()}, "panic"},
		{"has one page", unpaged{inMemory()}, "pages are stable"},
		{"shows everybody's tasks of a context", leaky{newShadowed()}, "a list is filtered"},
		{"lets anybody update without a version", grabbing{newShadowed()}, "another user's task is not there"},
		{"drops the filter on the second page", forgetful{inMemory()}, "every page is filtered"},
		{"filters by the first state", stale{inMemory(), &sync.Map{}}, "a filter goes by what a task is now"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := storetest.TestStore(t.Context(), tc.store)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a violation of %q", err, tc.want)
			}
		})
	}
}
