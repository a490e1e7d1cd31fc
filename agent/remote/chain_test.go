package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// chain is three agents on loopback: front, a handler, calls middle, a flow,
// which calls back.
type chain struct {
	front, middle, back served
	started             chan string // the ids of back's tasks that ask or wait to be cancelled
	stopped             chan struct{}
	spans               chan sdktrace.ReadOnlySpan
}

func newChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{started: make(chan string, 1), stopped: make(chan struct{}), spans: make(chan sdktrace.ReadOnlySpan, 100)}
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(onEnd(c.spans)))
	c.back = serve(t, streaming("back", c.work), executor.TracerProvider(p))
	c.middle = serve(t, middleAgent(t, to(t, c.back.url, remote.TracerProvider(p))), executor.TracerProvider(p))
	a := to(t, c.middle.url, remote.TracerProvider(p))
	c.front = serve(t, agent.New("front", agent.Stream(a.Handle)), executor.TracerProvider(p))
	return c
}

func (c *chain) work(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	_ = w.Text("work ")
	switch req.Original().Parts[0].Text() {
	case "fail":
		return nil, errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Minute), errcode.Message("Too many."),
			errcode.Source("llm:gpt/x"), errcode.Detail("limit", 3), errcode.AtNode("inner", "llm"))
	case "ask":
		select {
		case c.started <- req.TaskID():
		default:
		}
		name, err := hitl.Ask[string](ctx, "name", "Your name?")
		if err != nil {
			return nil, err
		}
		return nil, w.Text("for " + name)
	case "hang":
		c.started <- req.TaskID()
		<-ctx.Done()
		close(c.stopped)
		return nil, ctx.Err()
	}
	return nil, w.Text("done")
}

func middleAgent(t *testing.T, back *remote.Agent) *agent.Agent {
	t.Helper()
	g := flow.New[string]("middle")
	n := flow.Node(g, "call_back", "remote", func(ctx context.Context, s string) (string, error) {
		_, err := back.Stream(ctx, remote.Text(s))
		return "", err
	}, func(*string, string) {}, flow.NoArtifact())
	g.Edge(flow.START, n)
	g.Edge(n, flow.END)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return agent.New("middle", agent.Flow(compiled,
		func(_ context.Context, req *agent.Request) (string, error) { return req.Text(), nil },
		func(context.Context, string) (*agent.Result, error) { return nil, nil }))
}

func TestChain(t *testing.T) {
	t.Parallel()
	t.Run("success", func(t *testing.T) {
		t.Parallel()
		k := newChain(t).front.talk(t)
		k.follow("go")
		if diff := cmp.Diff([]string{": work done"}, contents(k.task)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("failure", func(t *testing.T) {
		t.Parallel()
		c := newChain(t)
		task := c.front.talk(t).say("fail")
		e := failureOf(t, task)
		delay, _ := e.RetryAfter()
		if e.Code() != errcode.RateLimited || e.Reason() != "quota" || e.Message() != "Too many." || delay != time.Minute ||
			e.Domain() != "back" || e.Source() != "http:"+host(c.middle.url)+"/middle" {
			t.Errorf("got %v after %v, domain %q, source %q", e, delay, e.Domain(), e.Source())
		}
		if _, ok := e.Node(); ok {
			t.Error("a node of another agent's flow is told as the front's")
		}
		want := map[string]any{"limit": 3.0, "origin": map[string]any{"source": "llm:gpt/x", "node": map[string]any{"id": "inner", "kind": "llm"}}}
		if diff := cmp.Diff(want, e.Details()); diff != "" {
			t.Errorf("details (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{": work "}, contents(task)); diff != "" {
			t.Errorf("what came before (-want +got):\n%s", diff)
		}
	})
	t.Run("question and answer", func(t *testing.T) {
		t.Parallel()
		k := newChain(t).front.talk(t)
		if task := k.say("ask"); task.Status.State != a2a.TaskStateInputRequired || task.Status.Message.Parts[0].Text() != "Your name?" {
			t.Fatalf("got %s", task.Status.State)
		}
		if task := k.say("Ann"); task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 2 {
			t.Errorf("got %s %q", task.Status.State, contents(task))
		}
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		c := newChain(t)
		k := c.front.talk(t)
		res, err := k.client.SendMessage(t.Context(), &a2a.SendMessageRequest{
			Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hang")), Config: &a2a.SendMessageConfig{ReturnImmediately: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		k.task, _ = res.(*a2a.Task)
		id := <-c.started
		k.cancel()
		<-c.stopped
		if got := c.back.await(t, id); got != a2a.TaskStateCanceled {
			t.Errorf("back's task is %s", got)
		}
	})
	t.Run("cancel while parked", func(t *testing.T) {
		t.Parallel()
		c := newChain(t)
		k := c.front.talk(t)
		k.say("ask")
		id := <-c.started
		k.cancel()
		if got := c.back.await(t, id); got != a2a.TaskStateCanceled {
			t.Errorf("back's task is %s", got)
		}
	})
}

type onEnd chan sdktrace.ReadOnlySpan

func (onEnd) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e onEnd) OnEnd(s sdktrace.ReadOnlySpan)                 { e <- s }
func (onEnd) Shutdown(context.Context) error                  { return nil }
func (onEnd) ForceFlush(context.Context) error                { return nil }

// TestOneTree: a request through three agents is one trace: run below call below
// run below call below run.
func TestOneTree(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	failure := failureOf(t, c.front.talk(t).say("fail"))
	byID := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	var root, leaf sdktrace.ReadOnlySpan
	for range 5 {
		s := <-c.spans
		byID[s.SpanContext().SpanID()] = s
		if !s.Parent().IsValid() {
			root = s
		}
		if s.Name() == "run back" {
			leaf = s
		}
	}
	if root == nil || leaf == nil {
		t.Fatalf("got %v", byID)
	}
	var path []string
	for s := leaf; s != nil; s = byID[s.Parent().SpanID()] {
		path = append(path, fmt.Sprint(s.Name(), " ", s.SpanKind()))
		if s.SpanContext().TraceID() != root.SpanContext().TraceID() {
			t.Errorf("%s is in another trace", s.Name())
		}
		for _, kv := range s.Attributes() {
			if kv.Key == "correlation_id" && kv.Value.AsString() != failure.CorrelationID() {
				t.Errorf("%s: correlation id %s, the client has %s", s.Name(), kv.Value.AsString(), failure.CorrelationID())
			}
			if kv.Key == "error_reason" && kv.Value.AsString() != "quota" {
				t.Errorf("%s: reason %s", s.Name(), kv.Value.AsString())
			}
		}
	}
	want := []string{
		"run back server", "call " + host(c.back.url) + " client", "run middle server",
		"call " + host(c.middle.url) + " client", "run front server",
	}
	if diff := cmp.Diff(want, path); diff != "" {
		t.Errorf("from the leaf (-want +got):\n%s", diff)
	}
}

// TestSiblingFails: a node that calls an agent is cancelled with its siblings,
// and so is the agent's task.
func TestSiblingFails(t *testing.T) {
	t.Parallel()
	started, stopped := make(chan struct{}), make(chan struct{})
	back := to(t, serve(t, streaming("back", func(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		_ = w.Text("part")
		close(started)
		<-ctx.Done()
		close(stopped)
		return nil, ctx.Err()
	})).url)
	g := flow.New[string]("siblings")
	calls := flow.Node(g, "calls", "remote", remote.Node(back, remote.Text), func(*string, string) {})
	fails := flow.Node(g, "fails", "business", func(context.Context, string) (string, error) {
		<-started
		return "", errors.New("down")
	}, func(*string, string) {})
	g.Edge(flow.START, calls, fails)
	g.Edge(calls, flow.END)
	g.Edge(fails, flow.END)
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(t.Context(), "r", "go")
	<-stopped
	var e *flow.NodeError
	if !errors.As(err, &e) || e.Node != "fails" || !cmp.Equal(e.Cancelled, []string{"calls"}) {
		t.Errorf("got %v", err)
	}
}
