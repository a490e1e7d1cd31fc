package storetest_test

import (
	"context"
	"strings"
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

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	everybody := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "everybody", nil },
	})
	cases := []struct {
		name  string
		store taskstore.Store
		want  string
	}{
		{"takes any version", careless{inMemory()}, "an update of an old version is a conflict"},
		{"shows everybody's tasks", nosy{everybody}, "another user's task is not there"},
		{"loses metadata", lossy{inMemory()}, "what was created is got"},
		{"panics", rude{inMemory()}, "panic"},
		{"has one page", unpaged{inMemory()}, "pages are stable"},
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
