package flow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

func TestErrorTellsTheTableWhereAndWhat(t *testing.T) {
	t.Parallel()
	l := newLab("loan")
	a := l.node("fetch_subject", nil)
	b := l.node("rag_search", func(context.Context, trail) error { return errDown })
	l.chain(flow.START, a, b, flow.END)
	_, err := l.compile(t).Run(t.Context(), "task/loan", trail{})
	e := errcode.Default().Convert(err)
	node, _ := e.Node()
	fl, _ := e.Flow()
	if e.Code() != errcode.UpstreamUnavailable || node != (errcode.Node{ID: "rag_search", Kind: "kind-rag_search"}) {
		t.Errorf("got %s at %+v", e.Code(), node)
	}
	if diff := cmp.Diff(errcode.Flow{ID: "loan", CompletedNodes: []string{"fetch_subject"}}, fl); diff != "" {
		t.Error(diff)
	}
	if ne := nodeError(t, err); ne.Run != "task/loan" || ne.Flow != "loan" {
		t.Errorf("got %+v", ne)
	}
}

func TestPanicsAreContained(t *testing.T) {
	t.Parallel()
	boom := func() { panic("secret") }
	cases := map[string]func(l *lab) []flow.RunOption{
		"node": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", func(context.Context, trail) error { boom(); return nil }), flow.END)
			return nil
		},
		"siblings": func(l *lab) []flow.RunOption {
			a := l.node("a", func(context.Context, trail) error { boom(); return nil })
			b := l.node("b", nil)
			l.Edge(flow.START, a, b)
			l.Edge(a, flow.END)
			l.Edge(b, flow.END)
			return nil
		},
		"apply": func(l *lab) []flow.RunOption {
			l.chain(flow.START, flow.Node(l.Graph, "a", "k", func(context.Context, trail) (int, error) { return 0, nil },
				func(*trail, int) { boom() }), flow.END)
			return nil
		},
		"route from START": func(l *lab) []flow.RunOption {
			a := l.node("a", nil)
			l.Route(flow.START, func(trail) flow.Ref { boom(); return a }, a)
			l.Edge(a, flow.END)
			return nil
		},
		"clone": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), flow.END)
			l.Clone(func(trail) trail { boom(); return trail{} })
			return nil
		},
		"hook": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), flow.END)
			return []flow.RunOption{flow.OnEvent(func(context.Context, flow.Event) { boom() })}
		},
		"hook at the end": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), flow.END)
			return []flow.RunOption{flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Kind == flow.NodeEnded {
					boom()
				}
			})}
		},
		"hook at the save": func(l *lab) []flow.RunOption {
			l.chain(flow.START, l.node("a", nil), flow.END)
			return []flow.RunOption{flow.OnEvent(func(_ context.Context, e flow.Event) {
				if e.Kind == flow.RunSaved && e.Seq == 2 {
					boom()
				}
			})}
		},
	}
	for name, build := range cases {
		for _, stored := range []bool{false, true} {
			if name == "hook at the save" && !stored {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLab("f")
				opts := build(l)
				if stored {
					opts = append(opts, flow.WithStore(flow.NewMemory()))
				}
				_, err := l.compile(t).Run(t.Context(), "r", trail{}, opts...)
				ne := nodeError(t, err)
				var p *errcode.PanicError
				if !errors.As(err, &p) || len(p.Stack()) == 0 || p.Value() != "secret" || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v", err)
				}
				if errcode.Default().Classify(err).Reason != "panic" || ne.Node == "" || ne.Kind == "" {
					t.Errorf("got %+v", ne)
				}
			})
		}
	}
}

func TestGoexitInASiblingIsAFailure(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", func(context.Context, trail) error { runtime.Goexit(); return nil })
	b := l.node("b", nil)
	l.Edge(flow.START, a, b)
	l.Edge(a, flow.END)
	l.Edge(b, flow.END)
	_, err := l.compile(t).Run(t.Context(), "r", trail{})
	if ne := nodeError(t, err); ne.Node != "a" {
		t.Errorf("got %v", err)
	}
}

func TestApplyThatFails(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]flow.RunOption{nil, {flow.WithStore(flow.NewMemory())}} {
		g := flow.New[trail]("f")
		broken, runs := true, 0
		a := flow.Node(g, "a", "k", func(context.Context, trail) (string, error) { runs++; return "a", nil },
			func(s *trail, v string) error {
				follow(s, "half "+v)
				if broken {
					return errBoom
				}
				return nil
			})
		g.Edge(flow.START, a)
		g.Edge(a, flow.END)
		c := compile(t, g, opts...)
		res, err := c.Run(t.Context(), "r", trail{})
		ne := nodeError(t, err)
		var merge *errcode.MergeStrategyError
		if !errors.As(err, &merge) || !errors.Is(err, errBoom) || ne.Node != "a" || ne.Value != "a" {
			t.Errorf("got %v, value %v", err, ne.Value)
		}
		if len(res.State.Path) != 0 || len(ne.Completed) != 0 {
			t.Errorf("half an output is in the state: %v, completed %v", res.State.Path, ne.Completed)
		}
		if opts == nil {
			continue
		}
		broken = false
		if res, err = c.Resume(t.Context(), "r"); err != nil || runs != 2 || len(res.State.Path) != 1 {
			t.Errorf("after %d runs: %v, %v", runs, res.State, err)
		}
	}
}

func TestCancelKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]flow.RunOption{nil, {flow.WithStore(flow.NewMemory())}} {
		reason := errors.New("client gave up")
		ctx, cancel := context.WithCancelCause(t.Context())
		l := newLab("f")
		a := l.node("a", func(context.Context, trail) error { cancel(reason); return nil })
		b := l.node("b", nil)
		l.chain(flow.START, a, b, flow.END)
		c := l.compile(t, opts...)
		res, err := c.Run(ctx, "r", trail{})
		ne := nodeError(t, err)
		if ne.Node != "b" || ne.Attempt != 0 || !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
			t.Errorf("got %v", err)
		}
		if !cmp.Equal(res.State.Path, []string{"a"}) || !cmp.Equal(ne.Completed, []string{"a"}) {
			t.Errorf("state %v, completed %v", res.State.Path, ne.Completed)
		}
		if opts != nil {
			res = must(c.Resume(t.Context(), "r"))(t)
			if l.ran("a") != 1 || len(res.State.Path) != 2 {
				t.Errorf("a ran %d times", l.ran("a"))
			}
		}
	}
}

func TestAskBesideAFailureSurvives(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	broken := true
	asked := make(chan struct{})
	ask := l.node("ask", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "q", "Q?", hitl.Payload(map[string]any{"choices": []string{"x", "y"}}))
		if broken {
			close(asked)
		}
		return err
	})
	bad := l.node("bad", func(context.Context, trail) error {
		if broken {
			<-asked
			return errBoom
		}
		return nil
	})
	l.Edge(flow.START, ask, bad)
	l.Edge(ask, flow.END)
	l.Edge(bad, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	res, err := c.Run(t.Context(), "r", trail{})
	if nodeError(t, err).Node != "bad" || len(res.Asks()) != 1 {
		t.Fatalf("got %v, asks %v", err, res.Asks())
	}
	first := res.Asks()[0].Data()
	broken = false
	res, err = c.Resume(t.Context(), "r")
	if err != nil || !res.Paused() || l.ran("ask") != 1 || l.ran("bad") != 2 {
		t.Fatalf("ask ran %d times, bad %d: %v", l.ran("ask"), l.ran("bad"), err)
	}
	if diff := cmp.Diff(first, res.Asks()[0].Data()); diff != "" {
		t.Errorf("the question changed:\n%s", diff)
	}
	res = must(c.Resume(t.Context(), "r", flow.Answer("r/ask/1/q", "x")))(t)
	if !cmp.Equal(res.State.Path, []string{"ask", "bad"}) || l.ran("bad") != 2 {
		t.Errorf("got %v", res.State.Path)
	}
}

func TestAnAnswerOfAnotherFormAsksAgain(t *testing.T) {
	t.Parallel()
	g := flow.New[counter]("f")
	a := flow.Node(g, "a", "k", func(ctx context.Context, _ counter) (int, error) {
		return hitl.Ask[int](ctx, "n", "How many?")
	}, keep)
	g.Edge(flow.START, a)
	g.Edge(a, flow.END)
	c := compile(t, g, flow.WithStore(flow.NewMemory()))
	must(c.Run(t.Context(), "r", counter{}))(t)
	res := must(c.Resume(t.Context(), "r", flow.Answer("r/a/1/n", "many")))(t)
	if !res.Paused() || res.Asks()[0].Data()["violations"] == nil {
		t.Fatalf("got %v", res.Asks())
	}
	res = must(c.Resume(t.Context(), "r", flow.Answer("r/a/1/n", 3)))(t)
	if res.State.N != 3 {
		t.Errorf("got %+v", res.State)
	}
}

func TestQuestionsThatCannotBeAnsweredFail(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(ctx context.Context) error{
		"without a key":   func(context.Context) error { return hitl.InputRequired("?") },
		"of another node": func(context.Context) error { return hitl.InputRequired("?", hitl.ID("r/b/1/k")) },
		"two with the same key": func(ctx context.Context) error {
			_, err1 := hitl.Ask[int](ctx, "k", "A?")
			_, err2 := hitl.Ask[int](ctx, "k", "B?")
			return errors.Join(err1, err2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab("f")
			l.chain(flow.START, l.node("a", func(ctx context.Context, _ trail) error { return ask(ctx) }), flow.END)
			res, err := l.compile(t).Run(t.Context(), "r", trail{})
			if ne := nodeError(t, err); ne.Node != "a" || res.Paused() || hitl.Find(err) != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestContinueOnError(t *testing.T) {
	t.Parallel()
	build := func(survives bool) *flow.Compiled[trail] {
		l := newLab("f")
		a := l.node("a", nil)
		deep := l.node("deep", fails)
		b := l.node("b", func(context.Context, trail) error {
			if survives {
				return nil
			}
			return errBoom
		})
		j, after := l.node("j", nil), l.node("after", fails)
		l.Edge(flow.START, a, b)
		l.ContinueOnError(flow.START)
		l.Edge(a, deep)
		l.Join(j, deep, b)
		if !survives {
			l.Edge(j, after)
			l.Edge(after, flow.END)
		} else {
			l.Edge(j, flow.END)
			l.Route(after, func(trail) flow.Ref { return flow.END }, flow.END)
			l.Edge(flow.START, after)
		}
		return l.compile(t)
	}
	for _, opts := range [][]flow.RunOption{nil, {flow.WithStore(flow.NewMemory())}} {
		res, err := build(true).Run(t.Context(), "ok", trail{}, opts...)
		if err != nil || !cmp.Equal(res.State.Path, []string{"a", "b", "j"}) || len(res.Failures()) != 2 {
			t.Errorf("got %v, %v, failures %v", res.State.Path, err, res.Failures())
		}
		res, err = build(false).Run(t.Context(), "lost", trail{}, opts...)
		ne := nodeError(t, err)
		if ne.Node != "deep" || !cmp.Equal(ne.Completed, []string{"a"}) || len(ne.Siblings) != 1 || ne.Siblings[0].Node != "b" {
			t.Errorf("got %v, completed %v, siblings %v", err, ne.Completed, ne.Siblings)
		}
	}
}

func TestCloneKeepsMapsApart(t *testing.T) {
	t.Parallel()
	type shared = map[string]int
	for _, opts := range [][]flow.RunOption{nil, {flow.WithStore(flow.NewMemory())}} {
		g := flow.New[shared]("f")
		g.Clone(maps.Clone)
		node := func(id string) flow.Ref {
			tries := 0
			return flow.Node(g, id, "k", func(_ context.Context, s shared) (int, error) {
				if len(s) != 1 {
					t.Errorf("%s sees %v", id, s)
				}
				s[id] = -1 // spoils only its own copy
				if tries++; tries == 1 {
					return 0, errDown
				}
				return 1, nil
			}, func(s *shared, v int) { (*s)[id] = v }, flow.Retry(2), flow.Backoff(0, 0))
		}
		a, b := node("a"), node("b")
		g.Edge(flow.START, a, b)
		g.Edge(a, flow.END)
		g.Edge(b, flow.END)
		in := shared{"in": 0}
		res, err := compile(t, g).Run(t.Context(), "r", in, opts...)
		if err != nil || !maps.Equal(res.State, shared{"in": 0, "a": 1, "b": 1}) || len(in) != 1 {
			t.Errorf("got %v, %v", res.State, err)
		}
	}
}

func TestNoArtifact(t *testing.T) {
	t.Parallel()
	store := flow.NewMemory()
	g := flow.New[counter]("f")
	broken := true
	secret := flow.Node(g, "secret", "k", func(context.Context, counter) (string, error) { return "hunter2", nil },
		func(s *counter, v string) { s.N = len(v) }, flow.NoArtifact())
	b := flow.Node(g, "b", "k", func(context.Context, counter) (int, error) {
		if broken {
			return 0, errBoom
		}
		return 1, nil
	}, func(*counter, int) {})
	g.Edge(flow.START, secret)
	g.Edge(secret, b)
	g.Edge(b, flow.END)
	c := compile(t, g, flow.WithStore(store))
	_, err := c.Run(t.Context(), "r", counter{})
	want := flow.Output{Node: "secret", Kind: "k", Visit: 1, NoArtifact: true} // with no value, as after a resume
	if diff := cmp.Diff(want, nodeError(t, err).Outputs[0]); diff != "" {
		t.Error(diff)
	}
	if cps := store.History("r"); strings.Contains(string(cps[len(cps)-1].Data), "hunter2") {
		t.Error("the secret is in the checkpoint")
	}
	broken = false
	res := must(c.Resume(t.Context(), "r"))(t)
	if diff := cmp.Diff(want, res.Outputs()[0]); diff != "" || res.State.N != 7 {
		t.Errorf("got %+v, %s", res.State, diff)
	}
	res = must(c.Run(t.Context(), "plain", counter{}, flow.WithStore(nil)))(t)
	if diff := cmp.Diff(want, res.Outputs()[0]); diff != "" || res.State.N != 7 {
		t.Errorf("without a store: got %+v, %s", res.State, diff)
	}
}

func TestJoinIsNotWaitedForWhereARouteLedElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a, b, b2, j := l.node("a", nil), l.node("b", nil), l.node("b2", nil), l.node("j", nil)
	l.Edge(flow.START, a, b)
	l.Route(b, func(trail) flow.Ref { return flow.END }, b2, flow.END)
	l.Join(j, a, b2)
	l.Edge(j, flow.END)
	res := must(l.compile(t).Run(t.Context(), "r", trail{}))(t)
	if diff := cmp.Diff([]string{"a", "b", "j"}, res.State.Path); diff != "" {
		t.Error(diff)
	}
}

func TestCompletedStandsOnceInALoop(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a, b := l.node("a", nil), l.node("b", nil)
	l.chain(flow.START, a, b)
	l.Route(b, func(s trail) flow.Ref {
		if len(s.Path) < 6 {
			return a
		}
		return flow.END
	}, a, flow.END)
	res := must(l.compile(t).Run(t.Context(), "r", trail{}))(t)
	if diff := cmp.Diff([]string{"a", "b"}, res.Completed()); diff != "" {
		t.Error(diff)
	}
	var visits []string
	for _, o := range res.Outputs() {
		visits = append(visits, fmt.Sprint(o.Node, o.Visit))
	}
	if diff := cmp.Diff([]string{"a1", "b1", "a2", "b2", "a3", "b3"}, visits); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

func TestZeroResult(t *testing.T) {
	t.Parallel()
	var res flow.Result[trail]
	if res.Completed() != nil || res.Outputs() != nil || res.Paused() || res.Asks() != nil || res.Failures() != nil || res.Retries() != 0 {
		t.Errorf("got %+v", res)
	}
	c := slices.Clone([]string{chain(t, 1).Name()})
	if c[0] != "chain" {
		t.Error(c)
	}
}
