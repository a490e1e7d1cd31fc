package executor_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// repeats is how often a test of something random is repeated: a little, more
// in CI (A2AEXEC_LONG), or as often as A2AEXEC_REPEATS says.
func repeats(little, ci int) int {
	if n, err := strconv.Atoi(os.Getenv("A2AEXEC_REPEATS")); err == nil && n > 0 {
		return n
	}
	if os.Getenv("A2AEXEC_LONG") != "" {
		return ci
	}
	return little
}

// call is a context as a transport makes one for each request: the host writes
// to it.
func call(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := a2asrv.NewCallContext(t.Context(), nil)
	return ctx
}

var quiet = executor.Logger(slog.New(slog.DiscardHandler))

// newHandler makes a handler that logs nothing, and is shut down with the test.
func newHandler(t *testing.T, a *agent.Agent, opts ...executor.Option) *executor.Handler {
	t.Helper()
	h, err := executor.NewHandler(a, append([]executor.Option{quiet}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// newServer makes a server that logs nothing.
func newServer(t *testing.T, a *agent.Agent, opts ...executor.Option) *executor.Server {
	t.Helper()
	srv, err := executor.NewServer(a, append([]executor.Option{quiet}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// user is the context of a request by that user.
func user(t *testing.T, name string) context.Context {
	t.Helper()
	ctx, c := a2asrv.NewCallContext(t.Context(), nil)
	c.User = &a2asrv.User{Name: name, Authenticated: true}
	return ctx
}

// sent sends a message and gives the task that became of it.
func sent(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	res, err := h.SendMessage(ctx, req)
	task, ok := res.(*a2a.Task)
	if err != nil || !ok {
		t.Fatalf("send: got a %T, %v", res, err)
	}
	return task
}

// started sends a message and comes back as soon as there is a task.
func started(ctx context.Context, t *testing.T, h a2asrv.RequestHandler, text string) *a2a.Task {
	t.Helper()
	req := userMessage(text)
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	return sent(ctx, t, h, req)
}

// replyTo is the next message to a task.
func replyTo(task *a2a.Task, parts ...*a2a.Part) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessageForTask(a2a.MessageRoleUser, task, parts...)}
}

func userMessage(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

// fetch sends a request over HTTP and reads the whole answer.
func fetch(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// lineWith is the line of a log that has that text, "" if none has.
func lineWith(b *syncBuffer, text string) string {
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
