package flow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// The tests of this file are named after faults seen in other engines.

func TestFaultHandledErrorIsRaisedAgainBesideSiblings(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	tries := 0
	a := l.node("a", nil)
	b := l.node("b", func(context.Context, trail) error {
		if tries++; tries < 3 {
			return errBoom
		}
		return nil
	}, flow.Retry(3), flow.Backoff(0, 0), flow.RetryIf(func(error) bool { return true }))
	c := l.node("c", fails)
	j := l.node("j", nil)
	l.Edge(flow.START, a, b, c)
	l.ContinueOnError(flow.START)
	l.Join(j, a, b, c)
	l.Edge(j, flow.END)
	res, err := l.compile(t).Run(t.Context(), "r", trail{})
	if err != nil {
		t.Fatalf("handled errors came up again: %v", err)
	}
	if diff := cmp.Diff([]string{"a", "b", "j"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
	if f := res.Failures(); len(f) != 1 || f[0].Node != "c" || !errors.Is(f[0], errBoom) {
		t.Errorf("failures: %v", f)
	}
	if res.Retries() != 2 {
		t.Errorf("retries: %d", res.Retries())
	}
}

func TestFaultRerunNodeSeesZeroInput(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	a := l.node("a", nil)
	b := l.node("b", func(context.Context, trail) error {
		if broken {
			return errBoom
		}
		return nil
	})
	l.chain(flow.START, a, b, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	if _, err := c.Run(t.Context(), "r", trail{Path: []string{"input"}}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	broken = false
	res, err := c.Resume(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"input", "a"}, {"input", "a"}}
	if diff := cmp.Diff(want, l.saw["b"]); diff != "" {
		t.Errorf("b saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"input", "a", "b"}, res.State.Path); diff != "" || l.ran("a") != 1 {
		t.Errorf("a ran %d times, %s", l.ran("a"), diff)
	}
}

func TestFaultJoinFiresOnItsFirstPredecessor(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	short, long1, long2, long3 := l.node("short", nil), l.node("l1", nil), l.node("l2", nil), l.node("l3", nil)
	j := l.node("join", nil)
	l.Edge(flow.START, short, long1)
	l.chain(long1, long2, long3)
	l.Join(j, short, long3)
	l.Edge(j, flow.END)
	res, err := l.compile(t).Run(t.Context(), "r", trail{})
	if err != nil || l.ran("join") != 1 {
		t.Fatalf("join ran %d times: %v", l.ran("join"), err)
	}
	if diff := cmp.Diff([]string{"short", "l1", "l2", "l3", "join"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
}

func TestFaultUnknownOrEmptyRouteEndsInSuccess(t *testing.T) {
	t.Parallel()
	other := newLab("other")
	foreign := other.node("foreign", nil)
	for name, pick := range map[string]func(undeclared flow.Ref) flow.Ref{
		"empty":      func(flow.Ref) flow.Ref { return flow.Ref{} },
		"undeclared": func(r flow.Ref) flow.Ref { return r },
		"foreign":    func(flow.Ref) flow.Ref { return foreign },
		"START":      func(flow.Ref) flow.Ref { return flow.START },
		"END":        func(flow.Ref) flow.Ref { return flow.END },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab("f")
			a, b, c := l.node("a", nil), l.node("b", nil), l.node("c", nil)
			l.Edge(flow.START, a)
			l.Route(a, func(trail) flow.Ref { return pick(a) }, b, c)
			l.Edge(b, flow.END)
			l.Edge(c, flow.END)
			for _, opts := range [][]flow.RunOption{nil, {flow.WithStore(flow.NewMemory())}} {
				_, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...)
				ne := nodeError(t, err)
				var routing *errcode.RoutingError
				if ne.Node != "a" || !errors.As(err, &routing) || errcode.CodeOf(err) != errcode.Internal {
					t.Errorf("got %v", err)
				}
				if diff := cmp.Diff([]string{"a"}, ne.Completed); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// badStore fails where it is told to.
type badStore struct {
	flow.Store
	load, save func() error
}

func (s badStore) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	if s.load != nil {
		if err := s.load(); err != nil {
			return flow.Checkpoint{}, err
		}
	}
	return s.Store.Load(ctx, run)
}

func (s badStore) Save(ctx context.Context, c flow.Checkpoint) error {
	if s.save != nil {
		if err := s.save(); err != nil {
			return err
		}
	}
	return s.Store.Save(ctx, c)
}

func TestFaultResumeWhoseStoreFailsStartsAfresh(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", fails)
	l.chain(flow.START, a, flow.END)
	down := errors.New("database down")
	store := flow.NewMemory()
	c := l.compile(t, flow.WithStore(store))
	if _, err := c.Run(t.Context(), "r", trail{}); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	cases := map[string]struct {
		run  string
		st   flow.Store
		want error
	}{
		"load fails":  {"r", badStore{Store: store, load: func() error { return down }}, down},
		"load panics": {"r", badStore{Store: store, load: func() error { panic("load") }}, nil},
		"save fails":  {"r", badStore{Store: store, save: func() error { return down }}, down},
		"unknown run": {"other", store, flow.ErrUnknownRun},
	}
	for name, tc := range cases {
		_, err := c.Resume(t.Context(), tc.run, flow.WithStore(tc.st))
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
	if l.ran("a") != 1 {
		t.Errorf("a ran %d times", l.ran("a"))
	}
}

func TestFaultConcurrentRunsShareChannels(t *testing.T) {
	t.Parallel()
	g := flow.New[counter]("f")
	add := func(_ context.Context, s counter) (int, error) { return s.N, nil }
	sum := func(s *counter, v int) { s.N += v }
	a, b := flow.Node(g, "a", "k", add, sum), flow.Node(g, "b", "k", add, sum)
	j := flow.Node(g, "j", "k", add, func(*counter, int) {})
	g.Edge(flow.START, a, b)
	g.Join(j, a, b)
	g.Edge(j, flow.END)
	c := compile(t, g, flow.WithStore(flow.NewMemory()))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			res, err := c.Run(t.Context(), fmt.Sprint("run", i), counter{N: i})
			if err != nil || res.State.N != 3*i {
				t.Errorf("run %d: %+v, %v", i, res.State, err)
			}
		})
	}
	wg.Wait()
}

func TestFaultValueReturnedWithAnErrorIsDropped(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]flow.RunOption{"plain": nil, "stored": {flow.WithStore(flow.NewMemory())}} {
		for kind, node := range map[string]func() (any, error){
			"half":    func() (any, error) { return "half of it", errBoom },
			"nothing": func() (any, error) { return nil, errBoom },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				g := flow.New[counter]("f")
				a := flow.Node(g, "a", "k", func(context.Context, counter) (any, error) { return node() }, func(*counter, any) {})
				g.Edge(flow.START, a)
				g.Edge(a, flow.END)
				_, err := compile(t, g).Run(t.Context(), name+kind, counter{}, opts...)
				want, _ := node()
				if ne := nodeError(t, err); ne.Value != want || !errors.Is(err, errBoom) {
					t.Errorf("got %v, %v", ne.Value, err)
				}
			})
		}
	}
}

func TestFaultExhaustedStepBudgetCountsAsSuccess(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node []flow.NodeOption
		run  []flow.RunOption
		what string
		want int
	}{
		"steps by default": {nil, nil, "steps", 1000},
		"steps":            {nil, []flow.RunOption{flow.MaxSteps(7)}, "steps", 7},
		"visits":           {[]flow.NodeOption{flow.MaxVisits(5)}, nil, "visits", 5},
	}
	for name, tc := range cases {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprint(name, stored), func(t *testing.T) {
				t.Parallel()
				l := newLab("f")
				a := l.node("a", nil, tc.node...)
				l.Edge(flow.START, a)
				l.Route(a, func(trail) flow.Ref { return a }, a, flow.END)
				opts := tc.run
				if stored {
					opts = append([]flow.RunOption{flow.WithStore(flow.NewMemory())}, opts...)
				}
				res, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...)
				ne := nodeError(t, err)
				var limit *flow.LimitError
				if !errors.As(err, &limit) || limit.What != tc.what || limit.Limit != tc.want {
					t.Fatalf("got %v", err)
				}
				class := errcode.Default().Classify(err)
				if class.Code != errcode.UpstreamUnavailable || class.Reason != "max_tool_iterations_exceeded" {
					t.Errorf("class: %+v", class)
				}
				if l.ran("a") != tc.want || len(res.State.Path) != tc.want {
					t.Errorf("a ran %d times, path %d", l.ran("a"), len(res.State.Path))
				}
				if len(ne.Outputs) != tc.want || !cmp.Equal(ne.Completed, []string{"a"}) {
					t.Errorf("%d outputs, completed %v", len(ne.Outputs), ne.Completed)
				}
				for i, out := range ne.Outputs {
					if diff := cmp.Diff(flow.Output{Node: "a", Kind: "kind-a", Visit: i + 1, Value: "a"}, out); diff != "" {
						t.Fatal(diff)
					}
				}
			})
		}
	}
}

// askBoth is a node that asks two questions at once.
func askBoth(ctx context.Context, _ counter) ([2]string, error) {
	a, errA := hitl.Ask[string](ctx, "a", "A?")
	b, errB := hitl.Ask[string](ctx, "b", "B?")
	return [2]string{a, b}, errors.Join(errA, errB)
}

func askingFlow(t *testing.T, runs *int) *flow.Compiled[counter] {
	t.Helper()
	g := flow.New[counter]("f")
	ask := flow.Node(g, "ask", "k", func(ctx context.Context, s counter) ([2]string, error) {
		*runs++
		return askBoth(ctx, s)
	}, func(*counter, [2]string) {})
	g.Edge(flow.START, ask)
	g.Edge(ask, flow.END)
	return compile(t, g, flow.WithStore(flow.NewMemory()))
}

func TestFaultTwoAsksInOneNodeShareAnIDAndSwapAnswers(t *testing.T) {
	t.Parallel()
	var runs int
	c := askingFlow(t, &runs)
	res, err := c.Run(t.Context(), "task/f", counter{})
	if err != nil || !res.Paused() || len(res.Asks()) != 2 {
		t.Fatalf("got %v, %v", res.Asks(), err)
	}
	if a, b := res.Asks()[0].ID(), res.Asks()[1].ID(); a != "task/f/ask/1/a" || b != "task/f/ask/1/b" {
		t.Errorf("ids %q %q", a, b)
	}
	res, err = c.Resume(t.Context(), "task/f", flow.Answer("task/f/ask/1/b", "to b"), flow.Answer("task/f/ask/1/a", "to a"))
	if err != nil || res.Paused() {
		t.Fatalf("got %v, %v", res.Asks(), err)
	}
	if diff := cmp.Diff([2]string{"to a", "to b"}, res.Outputs()[0].Value); diff != "" {
		t.Error(diff)
	}
}

func TestFaultAnsweringOneOfTwoAsksRunsTheNodeAgain(t *testing.T) {
	t.Parallel()
	var runs int
	c := askingFlow(t, &runs)
	if _, err := c.Run(t.Context(), "r", counter{}); err != nil {
		t.Fatal(err)
	}
	res, err := c.Resume(t.Context(), "r", flow.Answer("r/ask/1/a", "to a"))
	if err != nil || len(res.Asks()) != 1 || res.Asks()[0].ID() != "r/ask/1/b" || runs != 1 {
		t.Fatalf("got %v, %v after %d runs", res.Asks(), err, runs)
	}
	if res, err = c.Resume(t.Context(), "r"); err != nil || !res.Paused() || runs != 1 {
		t.Fatalf("resumed without an answer: %v, %v after %d runs", res.Asks(), err, runs)
	}
	if _, err = c.Resume(t.Context(), "r", flow.Answer("r/ask/1/a", "again")); !errors.Is(err, flow.ErrUnknownAsk) {
		t.Fatalf("answered twice: %v", err)
	}
	res, err = c.Resume(t.Context(), "r", flow.Answer("r/ask/1/b", "to b"))
	if err != nil || res.Paused() || runs != 2 {
		t.Fatalf("got %v, %v after %d runs", res.Asks(), err, runs)
	}
}

func TestFaultFinishedSiblingRunsAgainAfterAnotherFailed(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	aDone := make(chan struct{})
	a := l.node("a", func(context.Context, trail) error { defer close(aDone); return nil })
	b := l.node("b", func(context.Context, trail) error {
		if broken {
			<-aDone
			return errBoom
		}
		return nil
	})
	j := l.node("j", nil)
	l.Edge(flow.START, a, b)
	l.Join(j, a, b)
	l.Edge(j, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	res, err := c.Run(t.Context(), "r", trail{})
	if ne := nodeError(t, err); ne.Node != "b" || !cmp.Equal(ne.Completed, []string{"a"}) {
		t.Fatalf("got %+v", ne)
	}
	if diff := cmp.Diff([]string{"a"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
	broken = false
	res, err = c.Resume(t.Context(), "r")
	if err != nil || l.ran("a") != 1 || l.ran("b") != 2 {
		t.Fatalf("a ran %d times, b %d: %v", l.ran("a"), l.ran("b"), err)
	}
	if diff := cmp.Diff([]string{"a", "b", "j"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{nil, nil}, l.saw["b"]); diff != "" {
		t.Errorf("b saw its sibling's output: %s", diff)
	}
}

func TestFaultRandomWhichErrorWins(t *testing.T) {
	t.Parallel()
	for range 50 {
		l := newLab("f")
		bFailed := make(chan struct{})
		var slow flow.Ref
		a := l.node("a", func(ctx context.Context, _ trail) error {
			<-ctx.Done() // only b can have caused that
			close(bFailed)
			return errors.New("a fails later")
		})
		b := l.node("b", fails)
		slow = l.node("slow", func(ctx context.Context, _ trail) error {
			<-bFailed
			return context.Cause(ctx)
		})
		good := l.node("good", func(ctx context.Context, _ trail) error { <-ctx.Done(); return nil })
		l.Edge(flow.START, a, b, slow, good)
		for _, n := range []flow.Ref{a, b, slow, good} {
			l.Edge(n, flow.END)
		}
		_, err := l.compile(t).Run(t.Context(), "r", trail{})
		ne := nodeError(t, err)
		if ne.Node != "b" || len(ne.Siblings) != 1 || ne.Siblings[0].Node != "a" {
			t.Fatalf("got %v, siblings %v", err, ne.Siblings)
		}
		if !cmp.Equal(ne.Cancelled, []string{"slow"}) || !cmp.Equal(ne.Completed, []string{"good"}) {
			t.Fatalf("cancelled %v, completed %v", ne.Cancelled, ne.Completed)
		}
	}
}

func TestFaultRoutersPanicEscapes(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		l := newLab("f")
		a := l.node("a", nil)
		l.Edge(flow.START, a)
		broken := true
		l.Route(a, func(trail) flow.Ref {
			if broken {
				panic("secret")
			}
			return flow.END
		}, a, flow.END)
		c := l.compile(t)
		if stored {
			c = l.compile(t, flow.WithStore(flow.NewMemory()))
		}
		_, err := c.Run(t.Context(), "r", trail{})
		ne := nodeError(t, err)
		if ne.Node != "a" || errcode.Default().Classify(err).Reason != "panic" {
			t.Fatalf("got %v", err)
		}
		if !stored {
			continue
		}
		broken = false
		if _, err := c.Resume(t.Context(), "r"); err != nil || l.ran("a") != 1 {
			t.Errorf("a ran %d times: %v", l.ran("a"), err)
		}
	}
}

func TestFaultCheckpointLeftAfterSuccessLetsTheIDReenter(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", nil)
	l.chain(flow.START, a, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	if _, err := c.Run(t.Context(), "r", trail{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), "r", trail{}); !errors.Is(err, flow.ErrRunExists) {
		t.Errorf("run again: %v", err)
	}
	if _, err := c.Resume(t.Context(), "r"); !errors.Is(err, flow.ErrFinished) {
		t.Errorf("resume: %v", err)
	}
	if l.ran("a") != 1 {
		t.Errorf("a ran %d times", l.ran("a"))
	}
}

func TestFaultFanInOrderFollowsMapOrder(t *testing.T) {
	t.Parallel()
	const width = 20
	var want []string
	for i := range width {
		want = append(want, fmt.Sprintf("n%02d", i))
	}
	for range 20 {
		l := newLab("f")
		done := make([]chan struct{}, width+1)
		for i := range done {
			done[i] = make(chan struct{})
		}
		close(done[width])
		for i, id := range want { // they finish in the opposite order
			n := l.node(id, func(context.Context, trail) error { <-done[i+1]; close(done[i]); return nil })
			l.Edge(flow.START, n)
			l.Edge(n, flow.END)
		}
		res, err := l.compile(t).Run(t.Context(), "r", trail{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, res.State.Path); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(want, res.Completed()); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestFaultWrappingAnErrorLosesDoNotRetry(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", func(context.Context, trail) error {
		permanent := errcode.New(errcode.UpstreamUnavailable, "closed_for_good", errcode.Retriable(false))
		return fmt.Errorf("outer: %w", &errcode.ComponentInvokeError{Component: "bank", Err: fmt.Errorf("inner: %w", permanent)})
	}, flow.Retry(5), flow.Backoff(0, 0))
	l.chain(flow.START, a, flow.END)
	_, err := l.compile(t).Run(t.Context(), "r", trail{})
	if ne := nodeError(t, err); ne.Attempt != 1 || l.ran("a") != 1 {
		t.Errorf("tried %d times: %v", l.ran("a"), err)
	}
}
