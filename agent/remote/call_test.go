package remote_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// everything is an agent that can do all that a remote may.
func everything(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	switch req.Original().Parts[0].Text() {
	case "fail":
		_ = w.Text("partial")
		return nil, errcode.New(errcode.RateLimited, "quota_exceeded", errcode.Message("Too many."), errcode.RetryAfter(time.Minute),
			errcode.Source("llm:gpt/classify"), errcode.Detail("limit", 3), errcode.DomainCode("DOC_005"))
	case "reject":
		return agent.Rejected("not today"), nil
	case "ask":
		name, err := hitl.Ask[string](ctx, "name", "Your name?", hitl.Payload(map[string]any{"field": "name"}))
		if err != nil {
			return nil, err
		}
		return agent.Text("hello " + name), nil
	}
	report := w.Artifact("report", stream.Description("the report"))
	return nil, errors.Join(
		w.Progress("at work"), w.Text("a"), report.Text("r1"), w.Text("b"), report.Data(map[string]any{"n": 1}),
		report.File(stream.File{Name: "f.txt", Bytes: []byte("xyz")}), report.Text("r2"), report.Close(),
		w.File(stream.File{Name: "u", URI: "https://example.com/u"}), w.Text("c"))
}

// ways are the ways to reach an agent.
func ways(t *testing.T, s served) map[string]*remote.Agent {
	t.Helper()
	card, err := agentcard.NewResolver(s.client).Resolve(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	only := func(p a2a.TransportProtocol, v a2a.ProtocolVersion) *a2a.AgentCard {
		c := *card
		c.SupportedInterfaces = nil
		for _, i := range card.SupportedInterfaces {
			if i.ProtocolBinding == p && i.ProtocolVersion == v {
				c.SupportedInterfaces = append(c.SupportedInterfaces, i)
			}
		}
		if len(c.SupportedInterfaces) != 1 {
			t.Fatalf("%s %s is not in the card", p, v)
		}
		return &c
	}
	slow := *card
	slow.Capabilities.Streaming = false
	out := map[string]*remote.Agent{}
	for name, c := range map[string]*a2a.AgentCard{
		"card":                 card,
		"1.0 JSON-RPC":         only(a2a.TransportProtocolJSONRPC, a2a.Version),
		"1.0 HTTP+JSON":        only(a2a.TransportProtocolHTTPJSON, a2a.Version),
		"1.0 gRPC":             only(a2a.TransportProtocolGRPC, a2a.Version),
		"0.3 JSON-RPC":         only(a2a.TransportProtocolJSONRPC, a2av0.Version),
		"0.3 HTTP+JSON":        only(a2a.TransportProtocolHTTPJSON, a2av0.Version),
		"card without streams": &slow,
	} {
		a, err := remote.FromCard(c, remote.HTTPClient(s.client), remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials())))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		out[name] = a
	}
	out["address"] = to(t, s.url)
	out["address of the card"] = to(t, s.url+"/.well-known/agent-card.json")
	client, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithJSONRPCTransport(s.client))
	if err != nil {
		t.Fatal(err)
	}
	given, err := remote.FromClient(client, "given/bank")
	if err != nil {
		t.Fatal(err)
	}
	out["client"] = given
	return out
}

func TestCall(t *testing.T) {
	t.Parallel()
	s := serve(t, streaming("bank", everything))
	for name, a := range ways(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := a.Call(t.Context(), remote.Text("go"))
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.Text(); got != "abc\nr1{\"n\":1}r2" {
				t.Errorf("text: got %q", got)
			}
			if diff := cmp.Diff(any(map[string]any{"n": 1.0}), answer.Data()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if len(answer.Artifacts) != 2 || answer.Artifacts[1].Name != "report" || answer.Artifacts[1].Description != "the report" {
				t.Errorf("artifacts: got %+v", answer.Artifacts)
			}
			if answer.TaskID == "" || answer.ContextID == "" || len(answer.Result().Artifacts) != 2 {
				t.Errorf("got %+v", answer)
			}
			if files := answer.Artifacts[1].Parts[2].File(); files.Name != "f.txt" || string(files.Bytes) != "xyz" {
				t.Errorf("file: got %+v", files)
			}
		})
	}
}

func TestRemoteFailure(t *testing.T) {
	t.Parallel()
	s := serve(t, streaming("bank", everything))
	for name, a := range ways(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := a.Call(t.Context(), remote.Text("fail"))
			var e *errcode.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			delay, _ := e.RetryAfter()
			source := "http:" + host(s.url) + "/bank"
			switch name {
			case "client":
				source = "http:given/bank"
			case "1.0 gRPC":
				source = a.Source() // of the other port
			}
			if e.Code() != errcode.RateLimited || e.Reason() != "quota_exceeded" || e.Message() != "Too many." || delay != time.Minute ||
				e.Source() != source || e.DomainCode() != "DOC_005" || e.Domain() != "bank" || e.CorrelationID() == "" || e.Retried() != 0 {
				t.Errorf("got %v, source %q, delay %v", e, e.Source(), delay)
			}
			want := map[string]any{"limit": 3.0, "origin": map[string]any{"source": "llm:gpt/classify"}}
			if diff := cmp.Diff(want, e.Details()); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			if answer.Text() != "partial" {
				t.Errorf("what came before: got %q", answer.Text())
			}
		})
	}
}

func TestRejected(t *testing.T) {
	t.Parallel()
	a := to(t, serve(t, streaming("bank", everything)).url)
	answer, err := a.Call(t.Context(), remote.Text("reject"))
	if err != nil || !answer.Rejected || answer.Note != "not today" || !answer.Result().Rejected {
		t.Errorf("got %+v, %v", answer, err)
	}
	_, err = a.Tool()(t.Context(), "reject")
	if !errcode.Is(err, errcode.Internal) || errcode.Default().Convert(err).Message() != "not today" {
		t.Errorf("as a tool: got %v", err)
	}
}

// TestAskedOutsideOfARun: without anybody to ask, the question is the error.
func TestAskedOutsideOfARun(t *testing.T) {
	t.Parallel()
	_, err := to(t, serve(t, streaming("bank", everything)).url).Call(t.Context(), remote.Text("ask"))
	ask := hitl.Find(err)
	if ask == nil || ask.Prompt() != "Your name?" || ask.Data()["field"] != "name" || ask.Auth() {
		t.Errorf("got %v", err)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	a := to(t, serve(t, invoking("bank", func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if len(req.Data()) > 0 {
			return agent.Data(map[string]any{"got": req.Data()[0]}), nil
		}
		return agent.Text("text " + req.Text()), nil
	})).url)
	for input, want := range map[string]string{
		"hello":       "text hello",
		"":            "text ",
		"{not JSON":   "text {not JSON",
		` {"id": 7} `: `{"got":{"id":7}}`,
		"[1, 2]":      `{"got":[1,2]}`,
		"42":          "text 42",
	} {
		if got, err := a.Tool()(t.Context(), input); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", input, got, err, want)
		}
	}
}

// TestPassThrough: what the remote streams arrives at the caller's client as it
// was: order, artifact boundaries, kinds, once.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	s := serve(t, streaming("bank", everything))
	for name, a := range ways(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := serve(t, agent.New("front", agent.Stream(a.Handle)))
			want := []string{": abc", "report: r1{data}<f.txt xyz>r2"}
			want[0] = ": ab<u at https://example.com/u>c"
			k := front.talk(t)
			k.follow("go")
			if diff := cmp.Diff(want, contents(k.task)); diff != "" {
				t.Errorf("streaming (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, contents(front.talk(t).say("go"))); diff != "" {
				t.Errorf("blocking (-want +got):\n%s", diff)
			}
			task := front.talk(t).say("fail")
			e := failureOf(t, task)
			if e.Code() != errcode.RateLimited || e.Source() != a.Source() {
				t.Errorf("failure: got %v, source %q", e, e.Source())
			}
			if diff := cmp.Diff([]string{": partial"}, contents(task)); diff != "" {
				t.Errorf("partial output (-want +got):\n%s", diff)
			}
			if got := front.talk(t).say("reject"); got.Status.State != a2a.TaskStateRejected {
				t.Errorf("rejected: got %s", got.Status.State)
			}
			k = front.talk(t)
			if got := k.say("ask"); got.Status.State != a2a.TaskStateInputRequired {
				t.Fatalf("ask: got %s %+v", got.Status.State, got.Status.Message)
			}
			if got := k.say("Ann"); got.Status.State != a2a.TaskStateCompleted || contents(got)[len(got.Artifacts)-1] != ": hello Ann" {
				t.Errorf("answer: got %s %v", got.Status.State, contents(got))
			}
		})
	}
}

// TestChunksComeAsTheyAre: a chunk is forwarded before the next one exists.
func TestChunksComeAsTheyAre(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := serve(t, streaming("bank", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for _, text := range []string{"one ", "two ", "three "} {
			if err := w.Text(text); err != nil {
				return nil, err
			}
			<-next
		}
		return nil, nil
	}))
	front := serve(t, agent.New("front", agent.Stream(to(t, s.url).Handle)))
	k := front.talk(t)
	var got []string
	for ev, err := range k.client.SendStreamingMessage(t.Context(), k.message(a2a.NewTextPart("go"))) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok && a.Artifact.Parts[0].Text() != "" {
			got = append(got, a.Artifact.Parts[0].Text())
			next <- struct{}{} // the remote writes its next chunk only now
		}
	}
	if diff := cmp.Diff([]string{"one ", "two ", "three "}, got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}

// TestContextID: the conversation is the same one at the remote.
func TestContextID(t *testing.T) {
	t.Parallel()
	ids := make(chan string, 1)
	s := serve(t, invoking("bank", func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		ids <- req.ContextID()
		return nil, nil
	}))
	a := to(t, s.url)
	var opts []remote.CallOption
	front := serve(t, invoking("front", func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		_, err := a.Call(ctx, remote.Text(req.Text()), opts...)
		return nil, err
	}))
	if task := front.talk(t).say("x"); <-ids != task.ContextID {
		t.Error("the remote is in another conversation")
	}
	opts = []remote.CallOption{remote.ContextID("other"), {}}
	front.talk(t).say("x")
	if got := <-ids; got != "other" {
		t.Errorf("got %q", got)
	}
	opts = []remote.CallOption{remote.ContextID("")}
	if task := front.talk(t).say("x"); <-ids == task.ContextID {
		t.Error("a new conversation was asked for")
	}
}

// TestMessagesGoDownWhole: text, data, files and metadata of a message arrive
// at the remote as they were sent.
func TestMessagesGoDownWhole(t *testing.T) {
	t.Parallel()
	got := make(chan *agent.Request, 1)
	back := serve(t, invoking("bank", func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		got <- req
		return nil, nil
	}))
	tried := &interceptor{}
	front := serve(t, agent.New("front", agent.Stream(to(t, back.url, remote.ClientOptions(a2aclient.WithCallInterceptors(tried))).Handle)))
	k := front.talk(t)
	req := k.message(a2a.NewTextPart("text"), a2a.NewDataPart(map[string]any{"n": 1}),
		&a2a.Part{Content: a2a.Raw("xyz"), Filename: "f.txt", MediaType: "text/plain"},
		&a2a.Part{Content: a2a.URL("https://example.com/u"), Filename: "u"})
	req.Message.Metadata = map[string]any{"lang": "de"}
	if _, err := k.client.SendMessage(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	r := <-got
	files := r.Files()
	if r.Text() != "text" || !cmp.Equal(r.Data(), []any{map[string]any{"n": 1.0}}) || len(files) != 2 || string(files[0].Bytes) != "xyz" ||
		files[0].Name != "f.txt" || files[0].MediaType != "text/plain" || files[1].URI != "https://example.com/u" || r.Metadata()["lang"] != "de" {
		t.Errorf("got %q %v %+v %v", r.Text(), r.Data(), files, r.Metadata())
	}
	if tried.calls.Load() == 0 {
		t.Error("the client's interceptor was not asked")
	}
}

type interceptor struct {
	a2aclient.PassthroughInterceptor
	calls atomic.Int32
}

func (i *interceptor) Before(ctx context.Context, _ *a2aclient.Request) (context.Context, any, error) {
	i.calls.Add(1)
	return ctx, nil, nil
}
