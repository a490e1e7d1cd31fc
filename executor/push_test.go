package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// receiver is a client's web hook. answer decides what becomes of a request,
// by its number.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string // what each accepted event says
	asked  int
	tokens []string
	news   chan struct{}
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) (accept bool)) *receiver {
	t.Helper()
	rc := &receiver{news: make(chan struct{}, 1000)}
	rc.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event a2a.StreamResponse
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Errorf("body: %v", err)
		}
		rc.mu.Lock()
		rc.asked++
		n := rc.asked
		rc.tokens = append(rc.tokens, r.Header.Get("A2A-Notification-Token"))
		rc.mu.Unlock()
		if answer != nil && !answer(n, w, r) {
			return
		}
		rc.mu.Lock()
		rc.got = append(rc.got, said(event.Event))
		rc.mu.Unlock()
		rc.news <- struct{}{}
	}))
	t.Cleanup(rc.Close)
	return rc
}

func said(ev a2a.Event) string {
	switch e := ev.(type) {
	case *a2a.Task:
		return "task " + string(e.Status.State)
	case *a2a.TaskStatusUpdateEvent:
		return "status " + string(e.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		return "artifact " + e.Artifact.Parts[0].Text()
	default:
		return "?"
	}
}

func (rc *receiver) events() []string {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.got)
}

// await waits for n accepted events.
func (rc *receiver) await(t *testing.T, n int) []string {
	t.Helper()
	for range n {
		select {
		case <-rc.news:
		case <-t.Context().Done():
			t.Fatal("no event came")
		}
	}
	return rc.events()
}

// notified is a message whose sender wants to be notified.
func notified(text, url string) *a2a.SendMessageRequest {
	msg := userMessage(text)
	msg.Config = &a2a.SendMessageConfig{PushConfig: &a2a.PushConfig{ID: "one", URL: url, Token: "secret"}}
	return msg
}

// chunky streams its input word by word.
var chunky = agent.New("chunky", agent.Stream(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	for word := range strings.FieldsSeq(req.Text()) {
		if err := w.Text(word); err != nil {
			return nil, err
		}
	}
	return nil, nil
}))

func unmerged() executor.Option { return executor.StreamBuffer(stream.Buffer{}) }

func TestPushInOrder(t *testing.T) {
	t.Parallel()
	h := newHandler(t, chunky, unmerged(), executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	rc := newReceiver(t, func(n int, _ http.ResponseWriter, _ *http.Request) bool {
		for range n % 3 {
			runtime.Gosched() // not all at the same pace
		}
		return true
	})
	if _, state := answered(call(t), t, h, notified("a b c", rc.URL), true); state != a2a.TaskStateCompleted {
		t.Errorf("ended as %q", state)
	}
	want := []string{
		"task TASK_STATE_WORKING", "artifact a", "artifact b", "artifact c", "artifact ", "status TASK_STATE_COMPLETED",
	}
	if diff := cmp.Diff(want, rc.await(t, len(want))); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if rc.tokens[0] != "secret" {
		t.Errorf("token: got %q", rc.tokens[0])
	}
}

// TestPushThatFailsLeavesTheTaskUntouched: the host alone fails such a task.
func TestPushThatFailsLeavesTheTaskUntouched(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	hanging := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { <-hang; return true })
	t.Cleanup(func() { close(hang) })
	down := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return false
	})
	cases := []struct {
		name string
		url  string
		push executor.Push
		log  string
	}{
		{"refused", "http://127.0.0.1:1", executor.Push{AllowPrivateNetworks: true}, "connection refused"},
		{"always 500", down.URL, executor.Push{AllowPrivateNetworks: true}, "500 Internal Server Error"},
		{"hanging", hanging.URL, executor.Push{AllowPrivateNetworks: true, Timeout: 50 * time.Millisecond}, "deadline exceeded"},
		{"private network", down.URL, executor.Push{}, "blocked address range"},
		{"sender panics", down.URL, executor.Push{Sender: sendFunc(func(context.Context) error { panic("oops") })}, "oops"},
		{"sender exits", down.URL, executor.Push{Sender: sendFunc(func(context.Context) error { runtime.Goexit(); return nil })}, "stopped without returning"},
		{"sender fails", down.URL, executor.Push{Sender: sendFunc(func(context.Context) error { return errors.New("no way") })}, "no way"},
		{"store fails", down.URL, executor.Push{Store: &badConfigs{list: func() error { return errors.New("disk full") }}, AllowPrivateNetworks: true}, "disk full"},
		{"store panics", down.URL, executor.Push{Store: &badConfigs{list: func() error { panic("head crash") }}, AllowPrivateNetworks: true}, "head crash"},
	}
	for _, tc := range cases {
		for _, streaming := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				var logs syncBuffer
				tc.push.Attempts = 2
				h := newHandler(t, chunky, unmerged(), executor.Logger(slog.New(slog.NewTextHandler(&logs, nil))), executor.PushNotifications(tc.push))
				id, state := answered(call(t), t, h, notified("a b", tc.url), streaming)
				if state != a2a.TaskStateCompleted {
					t.Errorf("ended as %q", state)
				}
				task, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: id})
				if err != nil || task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 1 {
					t.Errorf("stored: %+v, %v", task, err)
				}
				if err := h.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if !strings.Contains(logs.String(), "push notification failed") || !strings.Contains(logs.String(), tc.log) {
					t.Errorf("the log does not say %q:\n%s", tc.log, logs.String())
				}
			})
		}
	}
}

type sendFunc func(context.Context) error

func (f sendFunc) SendPush(ctx context.Context, _ *a2a.PushConfig, _ a2a.Event) error { return f(ctx) }

// badConfigs is a store that fails in some of its methods.
type badConfigs struct {
	push.InMemoryPushConfigStore
	list, save func() error
	deleted    atomic.Int32
}

func (s *badConfigs) Save(context.Context, a2a.TaskID, *a2a.PushConfig) (*a2a.PushConfig, error) {
	if s.save != nil {
		return nil, s.save()
	}
	return &a2a.PushConfig{}, nil
}

func (s *badConfigs) List(context.Context, a2a.TaskID) ([]*a2a.PushConfig, error) {
	if s.list != nil {
		return nil, s.list()
	}
	return nil, nil
}

func (s *badConfigs) DeleteAll(context.Context, a2a.TaskID) error {
	s.deleted.Add(1)
	return nil
}

func TestPushIsSentAgain(t *testing.T) {
	t.Parallel()
	h := newHandler(t, chunky, executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	rc := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n <= 2 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return n > 2
	})
	answered(call(t), t, h, notified("", rc.URL), false)
	if diff := cmp.Diff([]string{"task TASK_STATE_WORKING", "task TASK_STATE_COMPLETED"}, rc.await(t, 2)); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if rc.asked != 4 {
		t.Errorf("asked %d times", rc.asked)
	}
}

// TestPushDelaysNobody: while a receiver takes its time, its task ends, others
// are served, and their notifications go out. A shutdown waits for it.
func TestPushDelaysNobody(t *testing.T) {
	t.Parallel()
	h := newHandler(t, chunky, executor.PushNotifications(executor.Push{AllowPrivateNetworks: true, Timeout: time.Minute}))
	release := make(chan struct{})
	slow := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { <-release; return true })
	quick := newReceiver(t, nil)
	answered(call(t), t, h, notified("a", slow.URL), false)
	answered(call(t), t, h, notified("a", quick.URL), true)
	quick.await(t, 3)
	if got := slow.events(); len(got) != 0 {
		t.Errorf("the slow one has %q", got)
	}
	down := make(chan error, 1)
	go func() { down <- h.Shutdown(context.Background()) }()
	select {
	case err := <-down:
		t.Fatalf("the shutdown did not wait: %v", err)
	default:
	}
	close(release)
	if err := <-down; err != nil {
		t.Error(err)
	}
	if got := slow.events(); len(got) < 2 || !strings.HasSuffix(got[len(got)-1], "COMPLETED") {
		t.Errorf("the slow one has %q", got)
	}
}

func TestShutdownDropsWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	h := newHandler(t, chunky, executor.PushNotifications(executor.Push{AllowPrivateNetworks: true, Timeout: time.Hour}))
	asked := make(chan struct{}, 10)
	rc := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		asked <- struct{}{}
		<-r.Context().Done()
		return false
	})
	answered(call(t), t, h, notified("a", rc.URL), false)
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "push notifications were not delivered") {
		t.Errorf("got %v", err)
	}
}

// TestSenderThatHeedsNothingIsLeftBehind: it cannot hold back what follows, nor
// a shutdown.
func TestSenderThatHeedsNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int32
		release := make(chan struct{})
		deaf := sendFunc(func(context.Context) error {
			sent.Add(1)
			<-release
			return nil
		})
		h := newHandler(t, chunky, executor.PushNotifications(executor.Push{Sender: deaf, Timeout: time.Second}))
		begun := time.Now()
		answered(call(t), t, h, notified("", "http://example.com"), false)
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if d := time.Since(begun); sent.Load() != 2 || d > 5*time.Second {
			t.Errorf("sent %d, took %v", sent.Load(), d)
		}
		close(release)
		synctest.Wait()
	})
}

// TestStoreThatHangsDelaysNobody, and so does one that fails to save.
func TestStoreThatHangsDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		store := &badConfigs{list: func() error { <-release; return nil }}
		h := newHandler(t, chunky, executor.PushNotifications(executor.Push{Store: store, Timeout: time.Minute, Attempts: 1}))
		begun := time.Now()
		if _, state := answered(call(t), t, h, notified("a", "http://example.com"), true); state != a2a.TaskStateCompleted || time.Since(begun) > time.Second {
			t.Errorf("ended as %q after %v", state, time.Since(begun))
		}
		store.save = func() error { panic("no room") }
		if _, err := h.SendMessage(call(t), notified("a", "http://example.com")); err == nil || strings.Contains(err.Error(), "room") {
			t.Errorf("save: got %v", err)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
	})
}

func TestPushTellsOfParkedTasks(t *testing.T) {
	t.Parallel()
	asks := agent.New("asks", agent.Stream(func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
		return nil, hitl.AuthRequired("log in")
	}))
	h := newHandler(t, asks, executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	rc := newReceiver(t, nil)
	id, state := answered(call(t), t, h, notified("x", rc.URL), true)
	if state != a2a.TaskStateAuthRequired {
		t.Fatalf("parked as %q", state)
	}
	if _, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: id}); err != nil {
		t.Fatal(err)
	}
	want := []string{"task TASK_STATE_WORKING", "status TASK_STATE_AUTH_REQUIRED", "status TASK_STATE_CANCELED"}
	if diff := cmp.Diff(want, rc.await(t, 3)); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
}

func TestPushTellsOfExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 10)
		sender := eventFunc(func(ev a2a.Event) { got <- said(ev) })
		h := newHandler(t, asksOnAsk, executor.ParkTimeout(time.Hour), executor.PushNotifications(executor.Push{Sender: sender}))
		answered(call(t), t, h, notified("ask", "http://example.com"), true)
		for _, want := range []string{"task TASK_STATE_WORKING", "status TASK_STATE_INPUT_REQUIRED", "task TASK_STATE_FAILED"} {
			if ev := <-got; ev != want {
				t.Errorf("got %q, want %q", ev, want)
			}
		}
	})
}

type eventFunc func(a2a.Event)

func (f eventFunc) SendPush(_ context.Context, _ *a2a.PushConfig, ev a2a.Event) error {
	f(ev)
	return nil
}

// TestReceiversOfAForgottenTaskGo, but not before they have its last event.
func TestReceiversOfAForgottenTaskGo(t *testing.T) {
	t.Parallel()
	store := push.NewInMemoryStore()
	release := make(chan struct{})
	var got atomic.Int32
	sender := eventFunc(func(a2a.Event) {
		<-release
		got.Add(1)
	})
	h := newHandler(t, chunky, executor.KeepFinished(0, 1),
		executor.PushNotifications(executor.Push{Sender: sender, Store: store, Timeout: time.Minute}))
	first, _ := answered(call(t), t, h, notified("a", "http://example.com"), false)
	last, _ := answered(call(t), t, h, notified("a", "http://example.com"), false)
	close(release)
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: first}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("got %v, want it forgotten", err)
	}
	for id, want := range map[a2a.TaskID]int{first: 0, last: 1} {
		if kept, err := store.List(t.Context(), id); err != nil || len(kept) != want {
			t.Errorf("kept %d receivers, want %d", len(kept), want)
		}
	}
	if n := got.Load(); n < 4 {
		t.Errorf("%d events arrived", n)
	}
}

func TestPushInTheCard(t *testing.T) {
	t.Parallel()
	with := newServer(t, chunky, executor.PushNotifications(executor.Push{}))
	without := newServer(t, chunky)
	if !with.Card("http://x").Capabilities.PushNotifications || without.Card("http://x").Capabilities.PushNotifications {
		t.Error("the card does not say whether push notifications are supported")
	}
	if _, err := without.SendMessage(call(t), notified("x", "http://example.com")); !errors.Is(err, a2a.ErrPushNotificationNotSupported) {
		t.Errorf("without: got %v", err)
	}
	for _, url := range []string{"ftp://example.com/x", "file:///etc/passwd", "//example.com", "http:///x"} {
		if _, err := with.SendMessage(call(t), notified("x", url)); !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// TestPushConfigsAreListedByPages: they came in any order, and all at once.
func TestPushConfigsAreListedByPages(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	made := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: say("ask", nil)})
	task, _ := made.result["task"].(map[string]any)
	want := []string{"a", "b", "c", "d", "e"}
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		if got := w.ask(t, "JSON-RPC", request{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": task["id"], "id": id, "url": "https://example.com/"}}); got.failed {
			t.Fatalf("%+v", got)
		}
	}
	for _, b := range bindingNames[:3] {
		var ids []string
		token, pages := "", 0
		for ; pages == 0 || token != "" && pages < 9; pages++ {
			got := w.ask(t, b, request{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": task["id"], "pageSize": 2, "pageToken": token}})
			configs, _ := got.result["configs"].([]any)
			for _, c := range configs {
				m, _ := c.(map[string]any)
				id, _ := m["id"].(string)
				ids = append(ids, id)
			}
			token, _ = got.result["nextPageToken"].(string)
		}
		if diff := cmp.Diff(want, ids); diff != "" || pages != 3 {
			t.Errorf("%s: %d pages (-want +got):\n%s", b, pages, diff)
		}
		bad := w.ask(t, b, request{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": task["id"], "pageToken": "?"}})
		if bad.reason != "INVALID_PARAMS" || bad.fields["pageToken"] == "" {
			t.Errorf("%s: a bad token: got %+v", b, bad)
		}
	}
}
