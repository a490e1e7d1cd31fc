package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbconv"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/limiter"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/executor"
)

// These tests say what the bare host does on the wire that the protocol layer
// corrects, a row of the table each; see host_test.go.

// finishing is an executor whose task completes, or parks when asked to.
func finishing(_ context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
	end := a2a.TaskStateCompleted
	switch ec.Message.Parts[0].Text() {
	case "ask":
		end = a2a.TaskStateInputRequired
	case "credentials":
		end = a2a.TaskStateAuthRequired
	}
	_ = yield(a2a.NewSubmittedTask(ec, ec.Message), nil) && yield(a2a.NewStatusUpdateEvent(ec, end, nil), nil)
}

// hostAnswer sends a request to one of the host's own bindings.
func hostAnswer(t *testing.T, binding http.Handler, path, body string, header map[string]string) (code int, contentType, answer string) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	rec := callServer(t, binding, method, path, body, header)
	return rec.Code, rec.Header().Get("Content-Type"), rec.Body.String()
}

// nowRight is how each of these tests says that the host has changed.
func nowRight(t *testing.T, right bool, got any, what string) {
	t.Helper()
	if right {
		t.Errorf("the host now answers %v: %s may be unnecessary", got, what)
	}
}

func TestHostChoosesTheWrongError(t *testing.T) {
	t.Parallel()
	store := taskstore.NewInMemory(nil)
	h := a2asrv.NewHandler(bareExecutor(finishing), a2asrv.WithTaskStore(store))
	ctx := call(t)
	for _, state := range []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateInputRequired} {
		id := a2a.TaskID(state)
		if _, err := store.Create(ctx, &a2a.Task{ID: id, ContextID: "c", Status: a2a.TaskStatus{State: state}}); err != nil {
			t.Fatal(err)
		}
		for _, err := range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
			nowRight(t, !errors.Is(err, a2a.ErrTaskNotFound), err, "protocol.SubscribeToTask of "+string(state))
		}
	}
	_, err := h.ListTasks(ctx, &a2a.ListTasksRequest{})
	nowRight(t, !errors.Is(err, a2a.ErrUnauthenticated), err, "ownerOf")
	short := userMessage("x")
	short.Config = &a2a.SendMessageConfig{HistoryLength: new(int), AcceptedOutputModes: []string{"audio/ogg"}}
	res, err := h.SendMessage(ctx, short)
	if err != nil {
		nowRight(t, true, err, "checkModes")
		return
	}
	task, _ := res.(*a2a.Task)
	nowRight(t, task == nil || len(task.History) == 0, task, "withHistory of an answer to a message")
}

func TestHostMixesUpPushErrors(t *testing.T) {
	t.Parallel()
	ctx := call(t)
	h := a2asrv.NewHandler(bareExecutor(finishing), a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))
	id := sent(ctx, t, h, userMessage("ask")).ID
	_, err := h.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: "unknown"})
	nowRight(t, errors.Is(err, a2a.ErrTaskNotFound), err, "noConfig")
	raw, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "DeleteTaskPushNotificationConfig", "params": map[string]any{"taskId": id, "id": "unknown"},
	})
	_, _, answer := hostAnswer(t, a2asrv.NewJSONRPCHandler(h), "/", string(raw), nil)
	nowRight(t, strings.Contains(answer, `"result"`), answer, "answer.emptyResult")
}

func TestHostSendsPushAnotherWay(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	s := push.NewHTTPPushSender(&push.HTTPSenderConfig{FailOnError: true, AllowPrivateNetworks: true})
	config := &a2a.PushConfig{URL: h.URL, Auth: &a2a.PushAuthInfo{Scheme: "ApiKey", Credentials: "x"}}
	if err := s.SendPush(t.Context(), config, &a2a.Task{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	got := h.next(t).header
	nowRight(t, got.Get("Content-Type") == "application/a2a+json", got, "the media type in NewPushRequest")
	nowRight(t, got.Get("Authorization") == "ApiKey x", got, "the credentials in NewPushRequest")
}

func TestHostDropsTheConfigIDOfGRPC03(t *testing.T) {
	t.Parallel()
	got, err := pbconv.FromProtoCreateTaskPushConfigRequest(create03("t", "c", ""))
	if err != nil {
		t.Fatal(err)
	}
	nowRight(t, got.ID == "c", got, "nameConfig")
}

func TestHostTakesAnyVersionAndOneExtension(t *testing.T) {
	t.Parallel()
	var asked []string
	_, h := bare(t, func(ctx context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		if e, ok := a2asrv.ExtensionsFrom(ctx); ok {
			asked = e.RequestedURIs()
		}
		finishing(ctx, ec, yield)
	})
	body := rpcBody(`{"message":` + goodMessage + `}`)
	_, _, answer := hostAnswer(t, a2asrv.NewJSONRPCHandler(h), "/", body, map[string]string{"A2A-Version": "2.0", "A2A-Extensions": "a,b"})
	nowRight(t, strings.Contains(answer, "-32009"), answer, "negotiate")
	nowRight(t, slices.Contains(asked, "a"), asked, "splitList")
}

func TestHostTellsErrorsInAnotherShape(t *testing.T) {
	t.Parallel()
	_, h := bare(t, finishing)
	current, rest := a2asrv.NewJSONRPCHandler(h), a2asrv.NewRESTHandler(h)
	old, oldREST := a2av0.NewJSONRPCHandler(h), a2av0.NewRESTHandler(h)

	_, _, answer := hostAnswer(t, current, "/", rpcBody(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}}`), nil)
	nowRight(t, !strings.Contains(answer, "-32700"), answer, "the edge's check of undecodable parameters")
	_, _, answer = hostAnswer(t, current, "/", rpcBody(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`), nil)
	nowRight(t, strings.Contains(answer, "BadRequest"), answer, "internal/schema")
	_, _, answer = hostAnswer(t, current, "/", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, nil)
	nowRight(t, strings.Contains(answer, `"taskId"`), answer, "taskId in the metadata over JSON-RPC")
	_, _, answer = hostAnswer(t, current, "/", `{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask","params":{"id":"x"}}`, nil)
	nowRight(t, strings.Contains(answer, `"id":9007199254740993,`), answer, "answer.restoreID")

	code, contentType, answer := hostAnswer(t, rest, "/message:stream", `{"message":{"messageId":"m","taskId":"x","role":"ROLE_USER","parts":[{"text":"x"}]}}`, nil)
	nowRight(t, code != 200 || !strings.HasPrefix(contentType, "text/event-stream"), answer, "holding back the status of a stream")
	code, contentType, answer = hostAnswer(t, rest, "/nowhere", "", nil)
	nowRight(t, strings.Contains(contentType, "json"), answer, "notFound")
	if code != http.StatusNotFound {
		t.Errorf("got %d", code)
	}

	_, contentType, answer = hostAnswer(t, old, "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}`, nil)
	nowRight(t, !strings.Contains(answer, `"data":[`), answer, "the object at error.data")
	nowRight(t, strings.Contains(contentType, "json"), contentType, "the content type of 0.3 errors")
	_, contentType, _ = hostAnswer(t, oldREST, "/v1/tasks/x", "", nil)
	nowRight(t, contentType == "application/json", contentType, "the content type of errors over HTTP+JSON 0.3")
}

// TestHostDoesNotEndTheQuestionForCredentials: its stream goes on after it for
// ever, so only the event is looked at.
func TestHostDoesNotEndTheQuestionForCredentials(t *testing.T) {
	t.Parallel()
	ev := &a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{State: a2a.TaskStateAuthRequired}}
	nowRight(t, a2av0.FromV1TaskStatusUpdateEvent(ev).Final, "final", "finalAuth")
}

func TestHostNamesNoChallenge(t *testing.T) {
	t.Parallel()
	h := a2asrv.NewHandler(bareExecutor(finishing), a2asrv.WithCallInterceptors(interceptor{before: func() error { return a2a.ErrUnauthenticated }}))
	rec := callServer(t, a2asrv.NewRESTHandler(h), http.MethodGet, "/tasks/x", "", nil)
	nowRight(t, rec.Code != http.StatusUnauthorized || rec.Header().Get("WWW-Authenticate") != "", rec.Header(), "the challenge of a 401")
}

func TestHostTakesBodiesOfAnySize(t *testing.T) {
	t.Parallel()
	_, h := bare(t, finishing)
	body := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","more":"` + strings.Repeat("x", 20<<20) + `"}}`
	code, _, answer := hostAnswer(t, a2asrv.NewJSONRPCHandler(h), "/", body, nil)
	nowRight(t, code == http.StatusRequestEntityTooLarge || !strings.Contains(answer, "-32001"), code, "MaxBodyBytes")
}

// TestHostMakesEveryDetailAStruct, and every data part an object, over gRPC.
func TestHostMakesEveryDetailAStruct(t *testing.T) {
	t.Parallel()
	var data any
	h := a2asrv.NewHandler(bareExecutor(func(ctx context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		data = ec.Message.Parts[0].Data()
		finishing(ctx, ec, yield)
	}), a2asrv.WithCallInterceptors(refusingGets{}))
	gs := grpc.NewServer()
	a2agrpc.NewHandler(h).RegisterWith(gs)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = gs.Serve(l) }()
	defer gs.Stop()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	client := a2apb.NewA2AServiceClient(conn)
	_, err = client.GetTask(t.Context(), &a2apb.GetTaskRequest{Id: "x"})
	for _, d := range status.Convert(err).Details() {
		_, typed := d.(*errdetails.BadRequest)
		nowRight(t, typed, d, "GRPCStatus")
	}
	list := structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("x")}})
	_, err = client.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Data{Data: list}}},
	}})
	if m, ok := data.(map[string]any); err != nil || !ok || len(m) != 0 {
		t.Errorf("the host now gives %#v, %v: noObjects may be unnecessary", data, err)
	}
}

// refusingGets refuses GetTask with a typed detail.
type refusingGets struct {
	a2asrv.PassthroughCallInterceptor
}

func (refusingGets) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	if call.Method() != "GetTask" {
		return ctx, nil, nil
	}
	return ctx, nil, a2a.NewError(a2a.ErrInvalidParams, "no").WithTypedDetails(errordetails.NewTyped(
		"type.googleapis.com/google.rpc.BadRequest", map[string]any{"fieldViolations": []any{map[string]any{"field": "id"}}}))
}

// TestHostTellsTheLoserNothing: of two messages to one task at once, one gets an
// error without a kind.
func TestHostTellsTheLoserNothing(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	ctx, h := bare(t, func(ctx context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		if ec.Message.Parts[0].Text() == "slow" {
			close(begun)
			<-release
		}
		finishing(ctx, ec, yield)
	})
	res, err := h.SendMessage(ctx, userMessage("ask"))
	if err != nil {
		t.Fatal(err)
	}
	to := func(text string) *a2a.SendMessageRequest {
		m := userMessage(text)
		m.Message.TaskID = res.TaskInfo().TaskID
		return m
	}
	first := make(chan error, 1)
	go func() {
		_, err := h.SendMessage(call(t), to("slow"))
		first <- err
	}()
	<-begun
	_, err = h.SendMessage(call(t), to("second"))
	nowRight(t, errors.Is(err, a2a.ErrUnsupportedOperation), err, "errBusy")
	if err == nil {
		t.Error("the host now takes two messages at once")
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestHostHasNoWordForTooMuch: a message over the host's own limit of executions
// gets an error without a kind, an internal one over each binding.
func TestHostHasNoWordForTooMuch(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	h := a2asrv.NewHandler(bareExecutor(func(ctx context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		close(begun)
		<-release
		finishing(ctx, ec, yield)
	}), a2asrv.WithConcurrencyConfig(limiter.ConcurrencyConfig{MaxExecutions: 1}))
	first := make(chan error, 1)
	go func() {
		_, err := h.SendMessage(call(t), userMessage("x"))
		first <- err
	}()
	<-begun
	code, _, answer := hostAnswer(t, a2asrv.NewJSONRPCHandler(h), "/", rpcBody(`{"message":`+goodMessage+`}`), nil)
	nowRight(t, code != http.StatusOK || !strings.Contains(answer, `"code":-32603`), answer, "the kind errUnavailable")
	rec := callServer(t, a2asrv.NewRESTHandler(h), http.MethodPost, "/message:send", `{"message":`+goodMessage+`}`, nil)
	nowRight(t, rec.Code != http.StatusInternalServerError || rec.Header().Get("Retry-After") != "", rec.Code, "MaxRuns")
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// everybodys is a store that serves the tasks of all users to each, and says whose
// they are.
type everybodys struct{ taskstore.Store }

func (s everybodys) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := s.Store.Get(ctx, id)
	if st != nil {
		st.User = "ada"
	}
	return st, err
}

// TestHostShowsWhatACustomStoreServes: it looks at the version of what a store
// gives, but not at whose task that is.
func TestHostShowsWhatACustomStoreServes(t *testing.T) {
	t.Parallel()
	store := everybodys{taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: func(context.Context) (string, error) { return "all", nil }})}
	task := &a2a.Task{ID: "adas", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired}}
	if _, err := store.Create(user(t, "ada"), task); err != nil {
		t.Fatal(err)
	}
	h := a2asrv.NewHandler(bareExecutor(finishing), a2asrv.WithTaskStore(store))
	_, err := h.GetTask(user(t, "eve"), &a2a.GetTaskRequest{ID: "adas"})
	nowRight(t, err != nil, err, "theirs, in watchedStore.Get")

	own := newHandler(t, conforming(nil), executor.TaskStore(store))
	for name, ask := range map[string]func(ctx context.Context) error{
		"GetTask": func(ctx context.Context) error { return second(own.GetTask(ctx, &a2a.GetTaskRequest{ID: "adas"})) },
		"CancelTask": func(ctx context.Context) error {
			return second(own.CancelTask(ctx, &a2a.CancelTaskRequest{ID: "adas"}))
		},
		"SubscribeToTask": func(ctx context.Context) error {
			for _, err := range own.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "adas"}) {
				return err
			}
			return nil
		},
		"SendMessage": func(ctx context.Context) error {
			msg := userMessage("mine now")
			msg.Message.TaskID = "adas"
			return second(own.SendMessage(ctx, msg))
		},
	} {
		if err := ask(user(t, "eve")); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("%s of another's task: got %v", name, err)
		}
	}
	if got, err := own.GetTask(user(t, "ada"), &a2a.GetTaskRequest{ID: "adas"}); err != nil || got.Status.State != a2a.TaskStateInputRequired {
		t.Errorf("the owner: got %v, %v", got, err)
	}
}
