package storetest_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// Stores that break a promise; see the table of TestBrokenStoresAreFound.
type (
	careless    struct{ taskstore.Store }
	lossy       struct{ taskstore.Store }
	rude        struct{ taskstore.Store }
	quitter     struct{ taskstore.Store }
	unpaged     struct{ taskstore.Store }
	leaky       struct{ shadowed }
	leakyPage   struct{ shadowed }
	counting    struct{ shadowed }
	tokenful    struct{ taskstore.Store }
	nobodys     struct{ shadowed }
	grabbing    struct{ shadowed }
	loose       struct{ taskstore.Store }
	forgetful   struct{ taskstore.Store }
	generous    struct{ taskstore.Store }
	overflowing struct{ taskstore.Store }
	tied        struct{ taskstore.Store }
	halfway     struct{ taskstore.Store }
)

func (s careless) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	return s.Store.Update(ctx, unversioned(req))
}

func unversioned(req *taskstore.UpdateRequest) *taskstore.UpdateRequest {
	c := *req
	c.PrevVersion = taskstore.TaskVersionMissing
	return &c
}

func (s lossy) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	c := *t
	c.Metadata = nil
	return s.Store.Create(ctx, &c)
}

func (s rude) Get(context.Context, a2a.TaskID) (*taskstore.StoredTask, error) { panic("no") }

func (s quitter) Update(context.Context, *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	runtime.Goexit()
	return 0, nil
}

func (s unpaged) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.Store.List(ctx, req)
	if err == nil {
		res.NextPageToken = ""
	}
	return res, err
}

// shadowed is a store that has all tasks a second time, where they are
// everybody's, to leak from.
type shadowed struct {
	taskstore.Store
	leak taskstore.Store
}

func newShadowed() shadowed { return shadowed{sound(), ordered{ofEverybody()}} }

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
		_, err = s.leak.Update(ctx, unversioned(req))
	}
	return v, err
}

func (s leaky) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.ContextID != "" && req.PageToken == "" {
		return s.leak.List(ctx, req)
	}
	return s.Store.List(ctx, req)
}

func (s leakyPage) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.PageToken != "" {
		return s.leak.List(ctx, req)
	}
	return s.Store.List(ctx, req)
}

func (s counting) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.Store.List(ctx, req)
	all, leakErr := s.leak.List(ctx, &a2a.ListTasksRequest{})
	if err == nil && leakErr == nil {
		res.TotalSize = all.TotalSize
	}
	return res, err
}

// List goes by the name in the token.
func (s tokenful) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	call, _ := a2asrv.CallContextFrom(ctx)
	name, c := "", *req
	if call != nil {
		name = call.User.Name
	}
	if of, token, ok := strings.Cut(req.PageToken, ":"); ok {
		c.PageToken, name = token, of
		ctx, call = a2asrv.NewCallContext(ctx, nil)
		call.User = &a2asrv.User{Name: name, Authenticated: true}
	}
	res, err := s.Store.List(ctx, &c)
	if err == nil && res.NextPageToken != "" {
		res.NextPageToken = name + ":" + res.NextPageToken
	}
	return res, err
}

func (s nobodys) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.Store.List(ctx, req)
	if call, ok := a2asrv.CallContextFrom(ctx); ok && call.User.Name == "" && errors.Is(err, a2a.ErrUnauthenticated) {
		return s.leak.List(ctx, req)
	}
	return res, err
}

func (s grabbing) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.shadowed.Update(ctx, req)
	if err != nil && req.PrevVersion == taskstore.TaskVersionMissing {
		return s.leak.Update(ctx, req)
	}
	return v, err
}

// caseless has users as a database does that compares without case.
func caseless() taskstore.Store {
	names := a2asrv.NewTaskStoreAuthenticator()
	return ordered{taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: func(ctx context.Context) (string, error) {
		name, err := names(ctx)
		return strings.ToLower(name), err
	}})}
}

// List looks for a context as LIKE does.
func (s loose) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.ContextID == "" {
		return s.Store.List(ctx, req)
	}
	all := *req
	all.ContextID, all.PageSize = "", 100
	res, err := s.Store.List(ctx, &all)
	if err != nil {
		return nil, err
	}
	res.Tasks = slices.DeleteFunc(res.Tasks, func(t *a2a.Task) bool { return !strings.HasPrefix(t.ContextID, req.ContextID) })
	res.TotalSize = len(res.Tasks)
	return res, nil
}

func (s forgetful) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req.PageToken != "" {
		req = &a2a.ListTasksRequest{PageSize: req.PageSize, PageToken: req.PageToken}
	}
	return s.Store.List(ctx, req)
}

func (s generous) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	c := *req
	if c.PageToken != "" {
		c.HistoryLength, c.IncludeArtifacts = nil, true
	}
	return s.Store.List(ctx, &c)
}

func (s overflowing) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	c := *req
	if c.StatusTimestampAfter != nil {
		at := time.Unix(0, c.StatusTimestampAfter.UnixNano())
		c.StatusTimestampAfter = &at
	}
	return s.Store.List(ctx, &c)
}

// List gives the time of a page's last task for a token.
func (s tied) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	found, err := everyPage(ctx, s.Store, req)
	if err != nil {
		return nil, err
	}
	total := len(found)
	if req.PageToken != "" {
		before, err := time.Parse(time.RFC3339Nano, req.PageToken)
		if err != nil {
			return nil, a2a.ErrParseError
		}
		found = slices.DeleteFunc(found, func(t *a2a.Task) bool { return t.Status.Timestamp == nil || !t.Status.Timestamp.Before(before) })
	}
	res := &a2a.ListTasksResponse{Tasks: found, TotalSize: total, PageSize: req.PageSize}
	if n := max(req.PageSize, 1); len(found) > n {
		res.Tasks = found[:n]
		if at := found[n-1].Status.Timestamp; at != nil {
			res.NextPageToken = at.Format(time.RFC3339Nano)
		}
	}
	return res, nil
}

func (s halfway) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	if errors.Is(err, taskstore.ErrConcurrentModification) {
		_, _ = s.Store.Update(ctx, unversioned(req))
	}
	return v, err
}

// stale filters by what a task was when it was created.
type stale struct {
	taskstore.Store
	first *sync.Map // a2a.TaskID → *a2a.Task
	drop  func(req *a2a.ListTasksRequest) (out func(*a2a.Task) bool)
}

func newStale(drop func(*a2a.ListTasksRequest) func(*a2a.Task) bool) stale {
	return stale{sound(), &sync.Map{}, drop}
}

// Each takes a filter out of a request, and tells what that leaves out.

func byState(req *a2a.ListTasksRequest) func(*a2a.Task) bool {
	state := req.Status
	req.Status = a2a.TaskStateUnspecified
	return func(t *a2a.Task) bool { return state != a2a.TaskStateUnspecified && t.Status.State != state }
}

func byContext(req *a2a.ListTasksRequest) func(*a2a.Task) bool {
	id := req.ContextID
	req.ContextID = ""
	return func(t *a2a.Task) bool { return id != "" && t.ContextID != id }
}

func byTime(req *a2a.ListTasksRequest) func(*a2a.Task) bool {
	after := req.StatusTimestampAfter
	req.StatusTimestampAfter = nil
	return func(t *a2a.Task) bool {
		return after != nil && t.Status.Timestamp != nil && t.Status.Timestamp.Before(*after)
	}
}

func (s stale) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	s.first.LoadOrStore(t.ID, &a2a.Task{ContextID: t.ContextID, Status: t.Status})
	return s.Store.Create(ctx, t)
}

func (s stale) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	all := *req
	out := s.drop(&all)
	res, err := s.Store.List(ctx, &all)
	if err != nil {
		return nil, err
	}
	n := len(res.Tasks)
	res.Tasks = slices.DeleteFunc(res.Tasks, func(t *a2a.Task) bool {
		first, _ := s.first.Load(t.ID)
		return out(first.(*a2a.Task)) //nolint:errcheck,forcetypeassert // nothing else is stored
	})
	res.TotalSize -= n - len(res.Tasks)
	return res, nil
}

// sharing gives the same task in each list.
type sharing struct {
	taskstore.Store
	mu     *sync.Mutex
	listed map[a2a.TaskID]*a2a.Task
}

func newSharing() sharing { return sharing{sound(), &sync.Mutex{}, map[a2a.TaskID]*a2a.Task{}} }

func (s sharing) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.Store.List(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; err == nil && i < len(res.Tasks); i++ {
		s.listed[res.Tasks[i].ID] = res.Tasks[i]
	}
	return res, err
}

func (s sharing) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := s.Store.Get(ctx, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.listed[id]; err == nil && t != nil {
		st.Task = t
	}
	return st, err
}

// Stores of push configurations that break a promise.
type (
	rudePush     struct{ push.ConfigStore }
	caselessPush struct{ push.ConfigStore }
	greedyPush   struct{ push.ConfigStore }
	sharingPush  struct {
		push.ConfigStore
		saved map[string]*a2a.PushConfig
	}
)

func (s rudePush) List(context.Context, a2a.TaskID) ([]*a2a.PushConfig, error) { panic("no") }

func (s caselessPush) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	if c != nil {
		lower := *c
		lower.ID = strings.ToLower(c.ID)
		c = &lower
	}
	return s.ConfigStore.Save(ctx, id, c)
}

func (s greedyPush) Delete(ctx context.Context, id a2a.TaskID, _ string) error {
	return s.DeleteAll(ctx, id)
}

func (s *sharingPush) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	saved, err := s.ConfigStore.Save(ctx, id, c)
	if err == nil && saved.ID == "one" {
		s.saved = maps.Clone(s.saved)
		if s.saved == nil {
			s.saved = map[string]*a2a.PushConfig{}
		}
		s.saved[string(id)] = saved
	}
	return saved, err
}

func (s *sharingPush) Get(ctx context.Context, id a2a.TaskID, configID string) (*a2a.PushConfig, error) {
	c, err := s.ConfigStore.Get(ctx, id, configID)
	if saved := s.saved[string(id)]; err == nil && configID == "one" && saved != nil {
		return saved, nil
	}
	return c, err
}
