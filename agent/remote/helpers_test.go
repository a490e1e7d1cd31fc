package remote_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = executor.Logger(slog.New(slog.DiscardHandler))

// served is an agent on loopback.
type served struct {
	url    string
	client *http.Client // closed with the test
	srv    *executor.Server
}

func serve(t *testing.T, a *agent.Agent, opts ...executor.Option) served {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := executor.NewServer(a, append([]executor.Option{quiet, executor.GRPCAddr(l.Addr().String())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	gs := grpc.NewServer()
	srv.RegisterGRPC(gs)
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	return served{hs.URL, newClient(t), srv}
}

// newClient is an HTTP client whose connections are closed with the test.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// to makes a remote agent of what is at the address.
func to(t *testing.T, address string, opts ...remote.Option) *remote.Agent {
	t.Helper()
	a, err := remote.New(address, append([]remote.Option{remote.HTTPClient(newClient(t))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func streaming(name string, f agent.StreamFunc) *agent.Agent {
	return agent.New(name, agent.Stream(f))
}

func invoking(name string, f agent.InvokeFunc) *agent.Agent {
	return agent.New(name, agent.Invoke(f))
}

// talk is a conversation of a real client with an agent.
type talk struct {
	t      *testing.T
	client *a2aclient.Client
	task   *a2a.Task
}

func (s served) talk(t *testing.T) *talk {
	t.Helper()
	c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{
		{URL: s.url + "/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
	}, a2aclient.WithJSONRPCTransport(s.client))
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t: t, client: c}
}

func (k *talk) message(parts ...*a2a.Part) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, parts...)
	if k.task != nil {
		m.TaskID, m.ContextID = k.task.ID, k.task.ContextID
	}
	return &a2a.SendMessageRequest{Message: m}
}

// say sends a text and waits for the end of the turn.
func (k *talk) say(text string) *a2a.Task { return k.send(a2a.NewTextPart(text)) }

func (k *talk) send(parts ...*a2a.Part) *a2a.Task {
	k.t.Helper()
	res, err := k.client.SendMessage(k.t.Context(), k.message(parts...))
	if err != nil {
		k.t.Fatal(err)
	}
	task, ok := res.(*a2a.Task)
	if !ok {
		k.t.Fatalf("got a %T, want a task", res)
	}
	k.task = task
	return task
}

// follow sends a text and follows the turn as a stream.
func (k *talk) follow(text string) {
	k.t.Helper()
	var id a2a.TaskID
	for ev, err := range k.client.SendStreamingMessage(k.t.Context(), k.message(a2a.NewTextPart(text))) {
		if err != nil {
			k.t.Fatal(err)
		}
		id = ev.TaskInfo().TaskID
	}
	task, err := k.client.GetTask(k.t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		k.t.Fatal(err)
	}
	k.task = task
}

func (k *talk) cancel() *a2a.Task {
	k.t.Helper()
	task, err := k.client.CancelTask(k.t.Context(), &a2a.CancelTaskRequest{ID: k.task.ID})
	if err != nil {
		k.t.Fatal(err)
	}
	return task
}

// state reads the task again.
func (s served) state(t *testing.T, id string) a2a.TaskState {
	t.Helper()
	k := s.talk(t)
	task, err := k.client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		t.Fatal(err)
	}
	return task.Status.State
}

// await waits until the task has ended and gives its state.
func (s served) await(t *testing.T, id string) a2a.TaskState {
	t.Helper()
	// A subscription of an ended task is refused, others tell of the end.
	for _, err := range s.talk(t).client.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}) {
		if err != nil {
			break
		}
	}
	return s.state(t, id)
}

// contents are the artifacts of a task: "name: parts", texts as they are.
func contents(task *a2a.Task) []string {
	var out []string
	for _, a := range task.Artifacts {
		line := a.Name + ": "
		for _, p := range a.Parts {
			switch v := p.Content.(type) {
			case a2a.Text:
				line += string(v)
			case a2a.Data:
				line += "{data}"
			case a2a.Raw:
				line += "<" + p.Filename + " " + string(v) + ">"
			case a2a.URL:
				line += "<" + p.Filename + " at " + string(v) + ">"
			}
		}
		out = append(out, line)
	}
	return out
}

func failureOf(t *testing.T, task *a2a.Task) *errcode.Error {
	t.Helper()
	e, ok := errcode.FromTask(task)
	if !ok {
		t.Fatalf("the task is %s: %+v", task.Status.State, task.Status.Message)
	}
	return e
}

func host(url string) string { return strings.TrimPrefix(url, "http://") }
