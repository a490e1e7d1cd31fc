package remote_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

// handWritten is an agent on the bare host, as others write them.
type handWritten struct{}

func (handWritten) Execute(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		status := func(s a2a.TaskState, text string) *a2a.TaskStatusUpdateEvent {
			return a2a.NewStatusUpdateEvent(ec, s, a2a.NewMessageForTask(a2a.MessageRoleAgent, ec, a2a.NewTextPart(text)))
		}
		send := func(evs ...a2a.Event) {
			for _, ev := range evs {
				if !yield(ev, nil) {
					return
				}
			}
		}
		text := ec.Message.Parts[0].Text()
		if text == "message" {
			send(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("just a message")))
			return
		}
		if ec.StoredTask == nil {
			send(a2a.NewSubmittedTask(ec, ec.Message))
		}
		switch text {
		case "chunks":
			first := a2a.NewArtifactEvent(ec, a2a.NewTextPart("a"))
			more := a2a.NewArtifactUpdateEvent(ec, first.Artifact.ID, a2a.NewTextPart("b"))
			send(status(a2a.TaskStateWorking, "at work"), first, more, status(a2a.TaskStateCompleted, "done"))
		case "fail":
			send(status(a2a.TaskStateFailed, "it broke"))
		case "error":
			yield(nil, a2a.ErrInvalidParams)
		case "ask":
			send(status(a2a.TaskStateInputRequired, "Your name?"))
		case "auth":
			send(status(a2a.TaskStateAuthRequired, "Sign in."))
		default:
			send(status(a2a.TaskStateWorking, ""), a2a.NewArtifactEvent(ec, a2a.NewTextPart("hello "+text)), status(a2a.TaskStateCompleted, ""))
		}
	}
}

func (handWritten) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}

// TestHostOfACard: agents over gRPC, whose addresses have no scheme, were all of the
// host "unknown", where two of one name were the same agent.
func TestHostOfACard(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://agents.example.com/bank": "agents.example.com", "http://127.0.0.1:80": "127.0.0.1:80",
		"127.0.0.1:9000": "127.0.0.1:9000", "localhost:9000": "localhost:9000", "[::1]:9000": "[::1]:9000",
		"dns:///agents.example.com:443": "agents.example.com:443",
		"":                              "unknown", ":9000": "unknown", "unix:///run/bank.sock": "unknown",
	} {
		a, err := remote.FromCard(&a2a.AgentCard{Name: "bank", SupportedInterfaces: []*a2a.AgentInterface{nil, {URL: address}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Source(); got != "http:"+want+"/bank" {
			t.Errorf("%s: got %s", address, got)
		}
	}
}

// TestNameOfAnAddress: one that cannot be told as it is lost failures their code.
func TestNameOfAnAddress(t *testing.T) {
	t.Parallel()
	_, err := to(t, "http://127.0.0.1:1/a%0Ab%20/", remote.Retry(retry.MaxAttempts(1))).Call(t.Context(), remote.Text("x"))
	d, buildErr := (errcode.Builder{}).Data(errcode.Default().Convert(err))
	if d.ErrorCode != errcode.UpstreamUnavailable || d.ErrorSource != "http:127.0.0.1:1/ab" {
		t.Errorf("got %s of %q, %v", d.ErrorCode, d.ErrorSource, buildErr)
	}
}

// TestBareHost calls an agent that knows nothing of this SDK.
func TestBareHost(t *testing.T) {
	t.Parallel()
	hs := httptest.NewServer(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(handWritten{}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))))
	t.Cleanup(hs.Close)
	for _, streams := range []bool{true, false} {
		a, err := remote.FromCard(&a2a.AgentCard{
			Name: "other", Capabilities: a2a.AgentCapabilities{Streaming: streams},
			SupportedInterfaces: []*a2a.AgentInterface{{URL: hs.URL, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}},
		}, remote.HTTPClient(newClient(t)))
		if err != nil {
			t.Fatal(err)
		}
		front := serve(t, agent.New("front", agent.Stream(a.Handle)))
		for text, want := range map[string]string{"chunks": ": ab", "message": ": just a message"} {
			if diff := cmp.Diff([]string{want}, contents(front.talk(t).say(text))); diff != "" {
				t.Errorf("streams %t, %s (-want +got):\n%s", streams, text, diff)
			}
		}
		for text, want := range map[string]string{"fail": "it broke", "error": ""} {
			e := failureOf(t, front.talk(t).say(text))
			if e.Source() != "http:"+host(hs.URL)+"/other" || want != "" && (e.Message() != want || e.Reason() != "remote_task_failed") {
				t.Errorf("streams %t, %s: got %v, source %q", streams, text, e, e.Source())
			}
		}
		k := front.talk(t)
		if task := k.say("ask"); task.Status.State != a2a.TaskStateInputRequired || task.Status.Message.Parts[0].Text() != "Your name?" {
			t.Errorf("streams %t, ask: got %s", streams, task.Status.State)
		}
		if got := contents(k.say("Ann")); !cmp.Equal(got, []string{": hello Ann"}) {
			t.Errorf("streams %t, answer: got %q", streams, got)
		}
		k = front.talk(t)
		if task := k.say("auth"); task.Status.State != a2a.TaskStateAuthRequired {
			t.Errorf("streams %t, auth: got %s", streams, task.Status.State)
		}
		k.cancel() // and the other's task, which the bare host would keep at work for ever
	}
}

// slowStore shows a question to others before whoever stored it knows.
type slowStore struct {
	taskstore.Store
	goOn chan struct{}
}

func (s slowStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	v, err := s.Store.Update(ctx, req)
	if req.Task.Status.State == a2a.TaskStateInputRequired {
		<-s.goOn
	}
	return v, err
}

// TestAnswerBeforeTheQuestionIsOver: the bare host shows a question while it still
// refuses an answer, which failed the call.
func TestAnswerBeforeTheQuestionIsOver(t *testing.T) {
	t.Parallel()
	store := slowStore{taskstore.NewInMemory(nil), make(chan struct{})}
	host := a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(handWritten{}, a2asrv.WithTaskStore(store), a2asrv.WithLogger(slog.New(slog.DiscardHandler))))
	var sent atomic.Int32
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		isAnswer := bytes.Contains(body, []byte(`Message"`)) && sent.Add(1) == 2
		host.ServeHTTP(w, r)
		if isAnswer { // it was refused
			close(store.goOn)
		}
	}))
	t.Cleanup(hs.Close)
	a, err := remote.FromCard(&a2a.AgentCard{Name: "other", SupportedInterfaces: []*a2a.AgentInterface{
		{URL: hs.URL, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
	}}, remote.HTTPClient(newClient(t)), remote.Retry(retry.InitialDelay(5*time.Millisecond), retry.MaxAttempts(100)))
	if err != nil {
		t.Fatal(err)
	}
	k := serve(t, agent.New("front", agent.Stream(a.Handle))).talk(t)
	k.say("ask")
	if got := contents(k.say("Ann")); !cmp.Equal(got, []string{": hello Ann"}) || sent.Load() < 3 {
		t.Errorf("got %q after %d messages: %+v", got, sent.Load(), k.task.Status)
	}
}
