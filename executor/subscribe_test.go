package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

type subscriberKey struct{}

// lateStore shows a subscriber nothing, from when it is armed, before a task
// is parked for the second time.
type lateStore struct {
	taskstore.Store
	armed, parked chan struct{}
	parkings      int
}

func (s *lateStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	select {
	case <-s.armed:
		if ctx.Value(subscriberKey{}) != nil {
			<-s.parked
		}
	default:
	}
	return s.Store.Get(ctx, id)
}

func (s *lateStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	ev, _ := req.Event.(*a2a.TaskStatusUpdateEvent)
	if ev != nil && ev.Status.State == a2a.TaskStateInputRequired {
		if s.parkings++; s.parkings == 2 {
			close(s.parked)
		}
	}
	return v, err
}

// TestSubscriptionThatComesAtTheEndOfATurn: when the turn is over before the
// subscription has looked, the end is told once.
func TestSubscriptionThatComesAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	s := &lateStore{
		Store: taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()}),
		armed: make(chan struct{}), parked: make(chan struct{}),
	}
	h := newHandler(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, hitl.InputRequired("?")
	}), executor.TaskStore(s))
	streamed := func(req *a2a.SendMessageRequest) (id a2a.TaskID) {
		for ev, err := range h.SendStreamingMessage(call(t), req) {
			if err != nil {
				t.Error(err)
				return ""
			}
			id = ev.TaskInfo().TaskID
		}
		return id
	}
	id := streamed(userMessage("x"))
	answered := make(chan struct{})
	var got []a2a.TaskState
	ctx := context.WithValue(call(t), subscriberKey{}, true)
	for ev, err := range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, stateIn(ev))
		if len(got) > 1 {
			continue
		}
		close(s.armed)
		go func() {
			defer close(answered)
			req := userMessage("answer")
			req.Message.TaskID = id
			streamed(req)
		}()
	}
	<-answered
	if len(got) != 2 || got[0] != a2a.TaskStateInputRequired || got[1] != a2a.TaskStateInputRequired {
		t.Errorf("the subscriber sees %v, want the question before and the one after the turn", got)
	}
}

// A subscription to a task that is stored as at work, and that nobody works on
// since its process went down, stayed open for ever.
func TestSubscriptionToATaskThatNobodyWorksOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newHookedStore()
		release := make(chan struct{})
		hangs := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			<-release
			return nil, nil
		})
		before, after := newHandler(t, hangs, executor.TaskStore(store)), newHandler(t, hangs, executor.TaskStore(store))
		task := started(user(t, "u"), t, before, "hi")
		var got []a2a.TaskState
		var failure error
		for ev, err := range after.SubscribeToTask(user(t, "u"), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
			if failure = err; err == nil {
				got = append(got, stateIn(ev))
			}
		}
		if len(got) != 1 || got[0] != a2a.TaskStateWorking || failure == nil || !strings.Contains(failure.Error(), "No run of this server") {
			t.Errorf("got %v, %v", got, failure)
		}
		close(release)
		if err := before.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Whoever follows a parked task kept the server from going down, and was cut off.
func TestShutdownEndsSubscriptionsToParkedTasks(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	addr, over := make(chan string, 1), make(chan error, 1)
	go func() {
		over <- executor.Serve(ctx, "127.0.0.1:0", asker(), quiet, executor.OnListen(func(a, _ net.Addr) { addr <- a.String() }))
	}()
	base := "http://" + <-addr
	hc := &http.Client{Transport: &http.Transport{}}
	defer hc.CloseIdleConnections()
	post := func(path, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("A2A-Version", "1.0")
		req.Header.Set("Content-Type", "application/json")
		res, err := hc.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := post("/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`)
	var sent struct{ Task struct{ ID string } }
	if err := errors.Join(json.NewDecoder(res.Body).Decode(&sent), res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	res = post("/v1/tasks/"+sent.Task.ID+":subscribe", "{}")
	defer func() { _ = res.Body.Close() }()
	snapshot := make([]byte, 1)
	if _, err := io.ReadFull(res.Body, snapshot); err != nil {
		t.Fatal(err)
	}
	stop()
	rest, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(rest), "INPUT_REQUIRED") {
		t.Errorf("the stream ends with %v: %s", err, rest)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// TestSubscribersOfAParkedTaskGetTheSame: those who waited for a short turn got its
// end alone, by chance (A2A v1.0 section 3.5.2).
func TestSubscribersOfAParkedTaskGetTheSame(t *testing.T) {
	t.Parallel()
	h := newHandler(t, agent.New("asker", agent.Stream(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			return nil, hitl.InputRequired("Name?")
		}
		return nil, w.Text("you said: " + req.Text())
	})))
	for range 20 {
		res, err := h.SendMessage(call(t), userMessage("hi"))
		task, ok := res.(*a2a.Task)
		if err != nil || !ok || task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %v, %v", res, err)
		}
		const readers = 5
		waiting, got := make(chan struct{}, readers), make(chan []string, readers)
		for range readers {
			go func() {
				var events []string
				for ev, err := range h.SubscribeToTask(call(t), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
					if err != nil {
						events = append(events, err.Error())
						break
					}
					events = append(events, said(ev))
					if len(events) == 1 {
						waiting <- struct{}{}
					}
				}
				got <- events
			}()
		}
		for range readers {
			<-waiting
		}
		answer := userMessage("bob")
		answer.Message.TaskID = task.ID
		if _, err := h.SendMessage(call(t), answer); err != nil {
			t.Fatal(err)
		}
		want := []string{"task TASK_STATE_INPUT_REQUIRED", "task TASK_STATE_WORKING", "artifact you said: bob", "artifact ", "status TASK_STATE_COMPLETED"}
		for range readers {
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	}
}
