package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// firstText is the text of an answered task's first artifact.
func firstText(res a2a.SendMessageResult) string {
	task, ok := res.(*a2a.Task)
	if !ok || len(task.Artifacts) == 0 {
		return ""
	}
	return task.Artifacts[0].Parts[0].Text()
}

func echo(name string) *agent.Agent {
	return agent.New(name, agent.Invoke(agent.TextFunc(func(_ context.Context, s string) (string, error) { return name + ": " + s, nil })))
}

func TestTwoAgentsOnOneMux(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, name := range []string{"loans", "cards"} {
		srv := newServer(t, echo(name), executor.Prefix("/"+name))
		mux.Handle("/"+name+"/", srv)
	}
	hs := httptest.NewServer(mux)
	defer hs.Close()
	for _, name := range []string{"loans", "cards"} {
		card, err := agentcard.NewResolver(hs.Client()).Resolve(t.Context(), hs.URL+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		client, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithJSONRPCTransport(hs.Client()))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.SendMessage(t.Context(), userMessage("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if got := firstText(res); got != name+": hi" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestCard(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("My Bank"), executor.BaseURL("https://bank.example/agents/"), executor.GRPCAddr("bank.example:443"), executor.Version("1.2.3"))
	rec := httptest.NewRecorder()
	srv.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/.well-known/agent-card.json", nil))
	var card struct {
		Name, Version, URL, ProtocolVersion, PreferredTransport string
		SupportedInterfaces                                     []map[string]string
		Capabilities                                            struct {
			Streaming  bool
			Extensions []struct {
				URI      string
				Required bool
				Params   struct{ ErrorCodes []string }
			}
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &card); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"protocolBinding": "JSONRPC", "protocolVersion": "1.0", "url": "https://bank.example/agents/"},
		{"protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "url": "https://bank.example/agents/v1"},
		{"protocolBinding": "JSONRPC", "protocolVersion": "0.3", "url": "https://bank.example/agents/v0.3"},
		{"protocolBinding": "HTTP+JSON", "protocolVersion": "0.3", "url": "https://bank.example/agents/v0.3"},
		{"protocolBinding": "GRPC", "protocolVersion": "1.0", "url": "bank.example:443"},
		{"protocolBinding": "GRPC", "protocolVersion": "0.3", "url": "bank.example:443"},
	}
	if diff := cmp.Diff(want, card.SupportedInterfaces); diff != "" {
		t.Errorf("interfaces (-want +got):\n%s", diff)
	}
	if card.URL != "https://bank.example/agents/v0.3" || card.PreferredTransport != "JSONRPC" || card.ProtocolVersion != "0.3" || card.Version != "1.2.3" {
		t.Errorf("0.3 fields: got %+v", card)
	}
	ext := card.Capabilities.Extensions
	if len(ext) != 1 || ext[0].URI != errcode.ExtensionURI || ext[0].Required || len(ext[0].Params.ErrorCodes) != 8 {
		t.Errorf("extension: got %+v", ext)
	}
}

// TestOnListenMayTalkToTheServer: the server answers by then.
func TestOnListenMayTalkToTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := executor.Serve(ctx, "127.0.0.1:0", echo("a"), quiet, executor.OnListen(func(h, _ net.Addr) {
		if _, err := agentcard.DefaultResolver.Resolve(t.Context(), "http://"+h.String()); err != nil {
			t.Error(err)
		}
		cancel()
	}))
	if err != nil {
		t.Error(err)
	}
}

// startServing runs Serve and gives a client, and a function that shuts it
// down and gives Serve's error.
func startServing(t *testing.T, a *agent.Agent, opts ...executor.Option) (*a2aclient.Client, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	addr := make(chan string, 1)
	served := make(chan error, 1)
	opts = append(opts, quiet, executor.GRPCAddr("127.0.0.1:0"), executor.OnListen(func(h, g net.Addr) {
		if g == nil {
			t.Error("no gRPC address")
		}
		addr <- "http://" + h.String()
	}))
	go func() { served <- executor.Serve(ctx, "127.0.0.1:0", a, opts...) }()
	var base string
	select {
	case base = <-addr:
	case err := <-served:
		cancel()
		t.Fatal(err)
	}
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{}}
	client, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithJSONRPCTransport(hc))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	return client, func() error { cancel(); return <-served }
}

func TestShutdownLetsRunsFinish(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}), make(chan struct{})
	client, shutdown := startServing(t, invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == "late" {
			return nil, nil
		}
		close(begun)
		<-finish
		return agent.Text("finished"), nil
	}))
	answer := make(chan error, 1)
	go func() {
		res, err := client.SendMessage(context.Background(), userMessage("x"))
		if err == nil && firstText(res) != "finished" {
			err = fmt.Errorf("got %+v", res)
		}
		answer <- err
	}()
	<-begun
	down := make(chan error, 1)
	go func() { down <- shutdown() }()
	refused := func() bool {
		_, err := client.SendMessage(context.Background(), userMessage("late"))
		return err != nil
	}
	for !refused() { // until the server has noticed
	}
	close(finish)
	if err := <-answer; err != nil {
		t.Errorf("the run under way: %v", err)
	}
	if err := <-down; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestShutdownEndsWhatDoesNotFinish(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	client, shutdown := startServing(t, streaming(func(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if err := w.Text("half"); err != nil {
			return nil, err
		}
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}), executor.ShutdownTimeout(0))
	last := make(chan a2a.Event, 1)
	go func() {
		defer close(last)
		var ev a2a.Event
		for e, err := range client.SendStreamingMessage(context.Background(), userMessage("x")) {
			if err != nil {
				t.Errorf("stream: %v", err)
				return
			}
			ev = e
		}
		last <- ev
	}()
	<-begun
	if err := shutdown(); err == nil {
		t.Error("Serve does not tell that it ended a run")
	}
	e, ok := errcode.FromEvent(<-last)
	if !ok || e.Code() != errcode.UpstreamUnavailable || e.Reason() != "server_shutdown" || e.Source() != "internal:executor" || !e.Retriable() {
		t.Errorf("the ended run tells %v", e)
	}
}

func TestServeTellsWhyItCannot(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := executor.Serve(t.Context(), l.Addr().String(), echo("a")); err == nil {
		t.Error("a taken port: no error")
	}
	if err := executor.Serve(t.Context(), "127.0.0.1:0", echo("a"), executor.GRPCAddr(l.Addr().String())); err == nil {
		t.Error("a taken gRPC port: no error")
	}
}

// TestDisconnectChangesNothing: the reader of a stream leaves, the run goes on.
func TestDisconnectChangesNothing(t *testing.T) {
	t.Parallel()
	left, done := make(chan struct{}), make(chan executor.Outcome, 1)
	h := newHandler(t, streaming(func(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if err := w.Text("before "); err != nil {
			return nil, err
		}
		<-left
		return nil, errors.Join(ctx.Err(), w.Text("after"))
	}), executor.OnOutcome(func(_ context.Context, o executor.Outcome) { done <- o }))
	base := call(t)
	ctx, cancel := context.WithCancel(base)
	var id a2a.TaskID
	for ev, err := range h.SendStreamingMessage(ctx, userMessage("x")) {
		if err != nil {
			t.Fatal(err)
		}
		id = ev.TaskInfo().TaskID
		if _, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok {
			break
		}
	}
	cancel()
	close(left)
	if o := <-done; o.State != executor.Completed {
		t.Errorf("outcome: got %+v", o)
	}
	task, err := h.GetTask(base, &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := artifactText(task); got != "before after" {
		t.Errorf("%q is stored, want both chunks", got)
	}
}

// TestCancel: the task is canceled at once, whether its code obeys, is deaf, or
// waits for an answer.
func TestCancel(t *testing.T) {
	t.Parallel()
	deaf := make(chan struct{})
	t.Cleanup(func() { close(deaf) })
	for name, wait := range map[string]func(context.Context) error{
		"obedient": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"stubborn": func(ctx context.Context) error { <-ctx.Done(); return nil },
		"deaf":     func(context.Context) error { <-deaf; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := make(chan a2a.TaskID, 1)
			h := newHandler(t, streaming(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
				if err := w.Text("so far"); err != nil {
					return nil, err
				}
				begun <- a2a.TaskID(req.TaskID())
				return agent.Text("too late"), wait(ctx)
			}), executor.GracePeriod(10*time.Millisecond))
			ctx := call(t)
			events := make(chan []a2a.Event, 1)
			go func() {
				var got []a2a.Event
				for ev, err := range h.SendStreamingMessage(ctx, userMessage("x")) {
					if err != nil {
						break // the order of what came before is checked
					}
					got = append(got, ev)
				}
				events <- got
			}()
			id := <-begun
			task, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: id})
			if err != nil || task.Status.State != a2a.TaskStateCanceled {
				t.Fatalf("cancel: got %+v, %v", task, err)
			}
			got := <-events
			stored, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(executortest.CheckOrder(got), executortest.CheckStored(got, stored)); err != nil {
				t.Error(err)
			}
			if len(stored.Artifacts) == 0 || stored.Artifacts[0].Parts[0].Text() != "so far" {
				t.Errorf("artifacts: got %+v", stored.Artifacts)
			}
		})
	}
}

// TestSubscribe follows a task at work, a parked one into its next turn, and is
// refused by one that has ended and one that does not exist.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	h := newHandler(t, streaming(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			return nil, hitl.InputRequired("?")
		}
		return nil, w.Text("next turn")
	}))
	ctx := call(t)
	id := sent(ctx, t, h, userMessage("x")).ID
	for i, end := range []func() error{
		func() error {
			req := userMessage("answer")
			req.Message.TaskID = id
			_, err := h.SendMessage(call(t), req)
			return err
		},
		func() error {
			_, err := h.CancelTask(call(t), &a2a.CancelTaskRequest{ID: id})
			return err
		},
	} {
		if i == 1 { // another parked task, which is canceled
			id = sent(ctx, t, h, userMessage("x")).ID
		}
		var got []a2a.Event
		for ev, err := range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev)
			if len(got) > 1 {
				continue
			}
			if snapshot, ok := ev.(*a2a.Task); !ok || snapshot.Status.State != a2a.TaskStateInputRequired {
				t.Fatalf("snapshot: got %+v", ev)
			}
			go func() {
				if err := end(); err != nil {
					t.Error(err)
				}
			}()
		}
		task, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(executortest.CheckOrder(got[1:]), executortest.CheckStored(got, task)); err != nil {
			t.Errorf("turn %d: %v", i, err)
		}
	}
	for _, c := range []struct {
		id   a2a.TaskID
		want error
	}{{id, a2a.ErrUnsupportedOperation}, {"unknown", a2a.ErrTaskNotFound}} {
		for _, err := range h.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: c.id}) {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.id, err, c.want)
			}
		}
	}
	gone, leave := context.WithCancel(ctx)
	defer leave()
	parked := sent(ctx, t, h, userMessage("x")).ID
	for _, err := range h.SubscribeToTask(gone, &a2a.SubscribeToTaskRequest{ID: parked}) {
		if err != nil {
			t.Error(err)
		}
		leave()
	}
}
