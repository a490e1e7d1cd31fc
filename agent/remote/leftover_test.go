package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// TestCancelReachesTheParkedRemote: a parked task that is cancelled leaves no
// parked task at the remote, whichever way that was called, with no option given.
func TestCancelReachesTheParkedRemote(t *testing.T) {
	t.Parallel()
	for name, build := range fronts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bank{}
			back := serve(t, streaming("bank", b.run))
			front := serve(t, build(t, back.url))
			k := front.talk(t)
			k.say("go")
			if got := back.state(t, b.distinct()[0]); got != a2a.TaskStateInputRequired {
				t.Fatalf("the remote task is %s", got)
			}
			if got := k.cancel(); got.Status.State != a2a.TaskStateCanceled {
				t.Fatalf("got %s", got.Status.State)
			}
			if got := back.await(t, b.distinct()[0]); got != a2a.TaskStateCanceled {
				t.Errorf("the remote task is %s", got)
			}
		})
	}
}

// TestExpiryReachesTheParkedRemote: so does one that nobody answers in time.
func TestExpiryReachesTheParkedRemote(t *testing.T) {
	t.Parallel()
	b := &bank{}
	back := serve(t, streaming("bank", b.run))
	front := serve(t, agent.New("front", agent.Stream(to(t, back.url).Handle)), executor.ParkTimeout(50*time.Millisecond))
	front.talk(t).say("go")
	if got := back.await(t, b.distinct()[0]); got != a2a.TaskStateCanceled {
		t.Errorf("the remote task is %s", got)
	}
}

// TestAnotherProcessCancelsTheParkedRemote: the process that asked has no way to
// the remote any more, and the one that is asked to cancel has never called it.
func TestAnotherProcessCancelsTheParkedRemote(t *testing.T) {
	t.Parallel()
	b := &bank{}
	back := serve(t, streaming("bank", b.run))
	var gone atomic.Bool
	next := newClient(t).Transport
	dying := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if gone.Load() {
			return nil, errors.New("the process is gone")
		}
		return next.RoundTrip(r)
	})}
	tasks := taskStore()
	second := serve(t, agent.New("front", agent.Stream(to(t, back.url).Handle)), tasks)
	first := serve(t, agent.New("front", agent.Stream(to(t, back.url, remote.HTTPClient(dying)).Handle)), tasks)
	k := first.talk(t)
	k.say("go")
	gone.Store(true)
	other := second.talk(t)
	other.task = k.task
	other.cancel()
	if got := back.await(t, b.distinct()[0]); got != a2a.TaskStateCanceled {
		t.Errorf("the remote task is %s", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// cancels counts the cancel requests, and all others, that reach a server.
func cancels(t *testing.T, s served) (address string, count, others *atomic.Int64) {
	t.Helper()
	count, others = &atomic.Int64{}, &atomic.Int64{}
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"CancelTask"`)) {
			count.Add(1)
		} else {
			others.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.srv.ServeHTTP(w, r)
	}))
	t.Cleanup(hs.Close)
	return hs.URL, count, others
}

// TestWhatHasEndedIsNotCancelled: a question that was answered leaves nothing to
// be cancelled when the caller's task ends.
func TestWhatHasEndedIsNotCancelled(t *testing.T) {
	t.Parallel()
	for name, build := range fronts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bank{}
			address, count, others := cancels(t, serve(t, streaming("bank", b.run)))
			ended := make(chan executor.Outcome, 3)
			front := serve(t, build(t, address), executor.OnOutcome(func(_ context.Context, o executor.Outcome) { ended <- o }))
			k := front.talk(t)
			k.say("go")
			<-ended
			k.send(a2a.NewDataPart(map[string]any{"first": "Ann"}))
			<-ended
			if task := k.say("secret"); task.Status.State != a2a.TaskStateCompleted {
				t.Fatalf("got %s", task.Status.State)
			}
			<-ended                                                           // and what comes after the end
			if n, calls := count.Load(), others.Load(); n != 0 || calls < 4 { // the card and three messages
				t.Errorf("%d cancels were sent, and %d other requests", n, calls)
			}
		})
	}
}

// TestEndsWithAParkedRemote: whatever the caller's code does with a remote's
// question but to pass it on, the remote's task does not stay parked.
func TestEndsWithAParkedRemote(t *testing.T) {
	t.Parallel()
	call := func(a *remote.Agent, after agent.InvokeFunc) *agent.Agent {
		return agent.New("front", agent.Invoke(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
			if _, err := a.Call(ctx, remote.Text("go")); hitl.Find(err) == nil {
				return nil, fmt.Errorf("expected a question, got %w", err)
			}
			return after(ctx, req)
		}))
	}
	for name, build := range map[string]func(t *testing.T, a *remote.Agent) *agent.Agent{
		"it fails": func(_ *testing.T, a *remote.Agent) *agent.Agent {
			return call(a, func(context.Context, *agent.Request) (*agent.Result, error) { return nil, errors.New("down") })
		},
		"it completes": func(_ *testing.T, a *remote.Agent) *agent.Agent {
			return call(a, func(context.Context, *agent.Request) (*agent.Result, error) { return agent.Text("well"), nil })
		},
		"it panics": func(_ *testing.T, a *remote.Agent) *agent.Agent {
			return call(a, func(context.Context, *agent.Request) (*agent.Result, error) { panic("bug") })
		},
		"it asks something else": func(_ *testing.T, a *remote.Agent) *agent.Agent {
			return call(a, func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
				_, err := hitl.Ask[string](ctx, "own", "Who are you?")
				return nil, err
			})
		},
		"a sibling node fails": siblings,
		"the flow's retries":   retrying,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bank{}
			back := serve(t, streaming("bank", b.run))
			serve(t, build(t, to(t, back.url))).talk(t).say("go")
			all := b.distinct()
			for i, id := range all {
				if name == "the flow's retries" && i == len(all)-1 {
					break // that one is the task's question
				}
				if got := back.await(t, id); got != a2a.TaskStateCanceled {
					t.Errorf("the remote task is %s", got)
				}
			}
		})
	}
}

// siblings is a flow with a node that calls and one that fails when the other
// has asked.
func siblings(t *testing.T, a *remote.Agent) *agent.Agent {
	t.Helper()
	asked := make(chan struct{})
	g := flow.New[string]("siblings")
	calls := flow.Node(g, "calls", "remote", func(ctx context.Context, s string) (string, error) {
		defer close(asked)
		_, err := a.Call(ctx, remote.Text(s))
		return "", err
	}, func(*string, string) {})
	fails := flow.Node(g, "fails", "business", func(context.Context, string) (string, error) {
		<-asked
		return "", errors.New("down")
	}, func(*string, string) {})
	g.Edge(flow.START, calls, fails)
	g.Edge(calls, flow.END)
	g.Edge(fails, flow.END)
	return flowAgent(t, g)
}

// retrying is a flow whose node fails after its call has asked, and passes the
// question of its second try on.
func retrying(t *testing.T, a *remote.Agent) *agent.Agent {
	t.Helper()
	var once sync.Once
	g := flow.New[string]("retrying")
	n := flow.Node(g, "calls", "remote", func(ctx context.Context, s string) (string, error) {
		_, err := a.Call(ctx, remote.Text(s))
		once.Do(func() { err = errcode.New(errcode.UpstreamUnavailable, "down") })
		return "", err
	}, func(*string, string) {}, flow.Retry(2))
	g.Edge(flow.START, n)
	g.Edge(n, flow.END)
	return flowAgent(t, g)
}

func flowAgent(t *testing.T, g *flow.Graph[string]) *agent.Agent {
	t.Helper()
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return agent.New("front", agent.Flow(c,
		func(_ context.Context, req *agent.Request) (string, error) { return req.Text(), nil },
		func(_ context.Context, s string) (*agent.Result, error) { return agent.Text(s), nil }))
}

// TestFailureAfterAnAnswerReachesTheParkedRemote: two remotes ask, the answer to
// the first is followed by a failure elsewhere; nobody comes back to the second.
func TestFailureAfterAnAnswerReachesTheParkedRemote(t *testing.T) {
	t.Parallel()
	asking := func(tasks chan<- string) *agent.Agent {
		return streaming("bank", func(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
			name, err := hitl.Ask[string](ctx, "name", "Your name?")
			if err != nil {
				tasks <- req.TaskID()
			}
			return agent.Text(name), err
		})
	}
	one, two := make(chan string, 1), make(chan string, 1)
	first, second := serve(t, asking(one)), serve(t, asking(two))
	a, b := to(t, first.url), to(t, second.url)
	g := flow.New[string]("both")
	na := flow.Node(g, "a", "remote", func(ctx context.Context, s string) (string, error) {
		if _, err := a.Call(ctx, remote.Text(s)); err != nil {
			return "", err
		}
		return "", errors.New("down")
	}, func(*string, string) {})
	nb := flow.Node(g, "b", "remote", remote.Node(b, remote.Text), func(*string, string) {})
	g.Edge(flow.START, na, nb)
	g.Edge(na, flow.END)
	g.Edge(nb, flow.END)
	k := serve(t, flowAgent(t, g)).talk(t)
	if task := k.say("go"); task.Status.State != a2a.TaskStateInputRequired {
		t.Fatalf("got %s", task.Status.State)
	}
	idOne, idTwo := <-one, <-two
	if task := k.say("Ann"); task.Status.State != a2a.TaskStateFailed {
		t.Fatalf("got %s", task.Status.State)
	}
	got := []a2a.TaskState{first.await(t, idOne), second.await(t, idTwo)}
	if diff := cmp.Diff([]a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateCanceled}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
