package executor_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

var (
	statusTime = regexp.MustCompile(`"timestamp":"[^"]*"`)
	inMillis   = regexp.MustCompile(`^"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z"$`)
)

// TestTimesAreInMilliseconds: statuses had nanoseconds, in the zone of the
// machine. A fraction may be left out (A2A v1.0 section 5.6.1).
func TestTimesAreInMilliseconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(123456789) // of the bubble's clock
		srv := newServer(t, agent.New("timely", agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if err := w.Progress("soon"); err != nil {
				return nil, err
			}
			return nil, w.Text("now")
		})))
		old := `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}}`
		rest03 := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"blocking":true}}`
		if _, err := srv.SendMessage(t.Context(), userMessage("x")); err != nil {
			t.Fatal(err)
		}
		for path, bodies := range map[string][]string{
			"/":                       {rpcBody(`{"message":` + goodMessage + `}`), strings.Replace(rpcBody(`{"message":`+goodMessage+`}`), "SendMessage", "SendStreamingMessage", 1), `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"includeArtifacts":true}}`},
			"/v1/message:send":        {`{"message":` + goodMessage + `}`},
			"/v1/message:stream":      {`{"message":` + goodMessage + `}`},
			"/v1/tasks":               {""},
			"/v0.3":                   {old, strings.Replace(old, "stream", "send", 1)},
			"/v0.3/v1/message:send":   {rest03},
			"/v0.3/v1/message:stream": {rest03},
			"/v0.3/v1/tasks":          {""},
		} {
			for _, body := range bodies {
				req := httptest.NewRequestWithContext(t.Context(), "POST", "http://h"+path, strings.NewReader(body))
				if body == "" {
					req.Method = "GET"
				}
				req.Header.Set("Content-Type", "application/json")
				rec := httptest.NewRecorder()
				srv.ServeHTTP(rec, req)
				times := statusTime.FindAllString(rec.Body.String(), -1)
				for _, at := range times {
					if !inMillis.MatchString(at) {
						t.Errorf("%s: %s in %s", path, at, rec.Body)
					}
				}
				if len(times) == 0 || rec.Code != 200 {
					t.Errorf("%s: HTTP %d without times: %s", path, rec.Code, rec.Body)
				}
			}
		}
	})
}

// TestTimeOfACancelInMilliseconds: the answer to the cancel of a task that no
// run worked on had nanoseconds.
func TestTimeOfACancelInMilliseconds(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for i := range bindingNames {
		row{
			name: "cancel", request: request{op: "CancelTask", params: map[string]any{"id": w.start(t, "ask", nil)}}, not: slices.Concat(bindingNames[:i], bindingNames[i+1:]),
			check: func(t *testing.T, r reply) {
				t.Helper()
				raw, err := json.Marshal(r.result)
				times := statusTime.FindAllString(string(raw), -1)
				if err != nil || len(times) == 0 || slices.ContainsFunc(times, func(s string) bool { return !inMillis.MatchString(s) }) {
					t.Errorf("times %v in %s: %v", times, raw, err)
				}
			},
		}.run(t, w)
	}
}

// elsewhere is a store that another program writes to, in nanoseconds of its own
// zone.
type elsewhere struct{ taskstore.Store }

func (elsewhere) move(t *a2a.Task) {
	if t != nil {
		at := time.Date(2020, 5, 1, 14, 0, 0, 123_456_789, time.FixedZone("", 2*60*60))
		t.Status.Timestamp = &at
	}
}

func (e elsewhere) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := e.Store.Get(ctx, id)
	if st != nil {
		st.User = "" // it does not know whose a task is
		e.move(st.Task)
	}
	return st, err
}

func (e elsewhere) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	at := time.Date(2020, 5, 1, 12, 0, 0, 123_456_789, time.UTC)
	after := req.StatusTimestampAfter
	c := *req
	c.StatusTimestampAfter = nil
	if after != nil && at.Before(*after) {
		return &a2a.ListTasksResponse{}, nil
	}
	res, err := e.Store.List(ctx, &c)
	if res != nil {
		for _, t := range res.Tasks {
			e.move(t)
		}
	}
	return res, err
}

// TestTimesOfOtherPrograms: what a store has in nanoseconds is told, and found, in
// milliseconds.
func TestTimesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	own := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: func(context.Context) (string, error) { return "u", nil }})
	w := serve(t, conforming(nil), executor.TaskStore(elsewhere{own}))
	id := w.start(t, "ok", nil)
	const want = `"timestamp":"2020-05-01T12:00:00.123Z"`
	for _, path := range []string{"/v1/tasks/" + id, "/v1/tasks?statusTimestampAfter=2020-05-01T12:00:00.123Z", "/v0.3/v1/tasks/" + id} {
		if _, body := w.send(t, "GET", path, "", nil); !strings.Contains(body, want) {
			t.Errorf("%s: got %s", path, body)
		}
	}
	for _, after := range []string{"2020-05-01T12:00:00.1231Z", "2020-05-01T12:00:00.124Z"} {
		if _, body := w.send(t, "GET", "/v1/tasks?statusTimestampAfter="+after, "", nil); strings.Contains(body, want) {
			t.Errorf("after %s: got %s", after, body)
		}
	}
	task, err := w.rpc.GetTask(t.Context(), &a2apb.GetTaskRequest{Id: id})
	if err != nil || task.GetStatus().GetTimestamp().GetNanos() != 123_000_000 {
		t.Errorf("gRPC: got %v, %v", task, err)
	}
	old, err := oldpb.NewA2AServiceClient(w.conn).GetTask(t.Context(), &oldpb.GetTaskRequest{Name: "tasks/" + id})
	if err != nil || old.GetStatus().GetTimestamp().GetNanos() != 123_000_000 {
		t.Errorf("gRPC 0.3: got %v, %v", old, err)
	}
}

// TestTimesOverGRPC: a Timestamp could hold more, but the other bindings do not.
func TestTimesOverGRPC(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	in := &a2apb.SendMessageRequest{Message: &a2apb.Message{MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}}}}
	events, err := w.rpc.SendStreamingMessage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for ev, err := events.Recv(); err == nil; ev, err = events.Recv() {
		for _, s := range []*a2apb.TaskStatus{ev.GetTask().GetStatus(), ev.GetStatusUpdate().GetStatus()} {
			if s != nil {
				seen++
				if s.GetTimestamp().GetNanos()%1_000_000 != 0 || s.GetTimestamp().GetSeconds() == 0 {
					t.Errorf("got %v", s.GetTimestamp())
				}
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d statuses", seen)
	}
}

// TestTimesAreStoredInMilliseconds: those of a cancel, which the host makes, were
// stored with nanoseconds.
func TestTimesAreStoredInMilliseconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(123456789) // of the bubble's clock
		store := newHookedStore()
		stored := map[a2a.TaskState]time.Time{}
		store.onUpdate(func(r *taskstore.UpdateRequest) error {
			stored[r.Task.Status.State] = *r.Task.Status.Timestamp
			return nil
		})
		h := newHandler(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, hitl.InputRequired("?")
		}), executor.TaskStore(store))
		task := sent(user(t, "u"), t, h, userMessage("hi"))
		if _, err := h.CancelTask(user(t, "u"), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Fatal(err)
		}
		for _, s := range []a2a.TaskState{a2a.TaskStateInputRequired, a2a.TaskStateCanceled} {
			if at, ok := stored[s]; !ok || at.Nanosecond() == 0 || at.Nanosecond()%int(time.Millisecond) != 0 || at.Location() != time.UTC {
				t.Errorf("%s: stored at %v", s, at)
			}
		}
	})
}
