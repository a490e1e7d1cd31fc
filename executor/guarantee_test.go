package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func streaming(f agent.StreamFunc) *agent.Agent { return agent.New("worst", agent.Stream(f)) }

func invoking(f agent.InvokeFunc) *agent.Agent { return agent.New("worst", agent.Invoke(f)) }

// both runs the agent once with a blocking and once with a streaming message.
func both(t *testing.T, a *agent.Agent, check func(t *testing.T, got *executortest.Got)) {
	t.Helper()
	t.Run("blocking", func(t *testing.T) {
		t.Parallel()
		check(t, executortest.Run(t, a, "go", executortest.Blocking()))
	})
	t.Run("streaming", func(t *testing.T) {
		t.Parallel()
		check(t, executortest.Run(t, a, "go"))
	})
}

type badError struct{}

func (badError) Error() string { panic("Error panics") }

type loopError struct{}

func (e *loopError) Error() string { return "a loop" }
func (e *loopError) Unwrap() error { return e }

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

func TestWorstHandlers(t *testing.T) {
	t.Parallel()
	var typedNil *nilError
	var nilApp *errcode.Error
	var nilAsk *hitl.Interrupt
	cases := []struct {
		name   string
		code   errcode.Code // "": completed
		reason string
		run    agent.StreamFunc
	}{
		{"returns nothing", "", "", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) { return nil, nil }},
		{"panics", errcode.Internal, "panic", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			panic("with password=hunter2")
		}},
		{"panics with nil", errcode.Internal, "panic", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			panic(nil)
		}},
		{"panics with an error whose text panics", errcode.Internal, "panic", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			panic(badError{})
		}},
		{"dereferences nil", errcode.Internal, "panic", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			var r *agent.Result
			return agent.Text(r.Note), nil
		}},
		{"exits its goroutine", errcode.Internal, "handler_exited", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			runtime.Goexit()
			return nil, nil
		}},
		{"returns a typed nil", errcode.Internal, "nil_error", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, typedNil
		}},
		{"returns a nil application error", errcode.Internal, "", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, nilApp
		}},
		{"returns a nil question", errcode.Internal, "interrupt", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, nilAsk
		}},
		{"returns an error whose text panics", errcode.Internal, "bad_error", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, badError{}
		}},
		{"returns an error that wraps itself", errcode.Internal, "loop_error", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, &loopError{}
		}},
		{"returns a 10 MB text that is not UTF-8", errcode.Internal, "internal_error", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, errors.New(strings.Repeat("\xff\x00é", 10<<20/4))
		}},
		{"returns a cancellation nobody asked for", errcode.Internal, "context_canceled", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, fmt.Errorf("step: %w", context.Canceled)
		}},
		{"returns a protocol sentinel", errcode.NotFound, "task_not_found", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return nil, a2a.ErrTaskNotFound
		}},
		{"writes what JSON cannot say", "", "", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			loop := map[string]any{}
			loop["loop"] = loop
			return nil, w.Data(map[string]any{"ok": 1, "chan": make(chan int), "nan": math.NaN(), "loop": loop, "f": func() {}})
		}},
		{"writes nothing at length", "", "", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, errors.Join(w.Text(""), w.Artifact("x").Text(""), w.Artifact("x").Close(), w.Progress(""))
		}},
		{"returns artifacts without parts", "", "", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return agent.Artifacts(agent.Artifact{Name: "empty"}, agent.Artifact{Metadata: map[string]any{"c": make(chan int)}}), nil
		}},
		{"writes a closed artifact on", "", "", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			a := w.Artifact("a")
			if err := errors.Join(a.Text("1"), a.Close(), a.Close()); err != nil {
				return nil, err
			}
			if err := a.Text("2"); !errors.Is(err, stream.ErrClosed) {
				return nil, fmt.Errorf("a write to a closed artifact: %w", err)
			}
			return nil, nil
		}},
		{"changes its request", "", "", func(_ context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
			req.Message().Parts[0].Content = a2a.Data{Value: make(chan int)}
			req.Message().ID = ""
			req.Metadata()["x"] = 1
			return nil, nil
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, streaming(c.run), func(t *testing.T, got *executortest.Got) {
				t.Helper()
				if c.code == "" {
					got.AssertCompleted(t)
					return
				}
				e := got.AssertFailed(t, c.code)
				if c.reason != "" && e.ErrorReason != c.reason {
					t.Errorf("reason: got %q, want %q", e.ErrorReason, c.reason)
				}
				if strings.Contains(got.Note(), "hunter2") || len(got.Note()) > 16<<10 {
					t.Errorf("text part: %.200q (%d bytes)", got.Note(), len(got.Note()))
				}
			})
		})
	}
}

// TestFailureAfterManyArtifacts is the host's worst trap: an error after
// artifacts used to lose them all.
func TestFailureAfterManyArtifacts(t *testing.T) {
	t.Parallel()
	const artifacts = 50
	runs := repeats(20, 40)
	atTheEnd := errors.New("at the very end")
	written := streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for i := range artifacts {
			if err := w.Artifact(fmt.Sprint(i)).Text("x"); err != nil {
				return nil, err
			}
		}
		return nil, atTheEnd
	})
	returned := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		res := &agent.Result{}
		for i := range artifacts {
			res.Artifacts = append(res.Artifacts, agent.Artifact{Name: fmt.Sprint(i), Parts: []stream.Part{stream.TextPart("x")}})
		}
		return res, atTheEnd
	})
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range runs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			opts := []executortest.Option{}
			if i%2 == 0 {
				opts = append(opts, executortest.Blocking())
			}
			a := returned
			if i%8 < 2 {
				a = written // twice the events
			}
			got := executortest.Run(t, a, "go", opts...)
			got.AssertFailed(t, errcode.Internal, executortest.Reason("internal_error"))
			if len(got.Task.Artifacts) != artifacts {
				t.Errorf("stored %d artifacts, want %d", len(got.Task.Artifacts), artifacts)
			}
		})
	}
	wg.Wait()
}

func TestWriteAfterReturn(t *testing.T) {
	t.Parallel()
	go1 := make(chan struct{})
	result := make(chan error, 3)
	a := streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		go func() {
			<-go1
			result <- w.Text("late")
			result <- w.Progress("late")
			result <- w.Artifact("late").Data(1)
		}()
		return nil, w.Text("in time")
	})
	got := executortest.Run(t, a, "go")
	got.AssertCompleted(t)
	close(go1)
	for range 3 {
		if err := <-result; !errors.Is(err, stream.ErrClosed) {
			t.Errorf("late write: got %v, want %v", err, stream.ErrClosed)
		}
	}
	got.AssertText(t, "in time")
}

// TestConcurrentWriters has goroutines write on while the handler returns.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	a := streaming(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for i := range 4 {
			wg.Go(func() {
				name := fmt.Sprint(i % 2)
				for w.Artifact(name).Text("x") == nil {
					_ = w.Progress("working")
				}
			})
		}
		return nil, w.Text("done")
	})
	got := executortest.Run(t, a, "go")
	got.AssertCompleted(t)
	wg.Wait()
}

func TestPartialFailureKeepsAndClosesArtifacts(t *testing.T) {
	t.Parallel()
	a := agent.New("partial",
		agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { return agent.Text("must not run"), nil }),
		agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			err := errors.Join(w.Text("one "), w.Artifact("side").Data(map[string]any{"n": 1}), w.Text("two"))
			return agent.Text("from the result"), errors.Join(err, &errcode.ComponentInvokeError{Component: "rag"})
		}))
	got := executortest.Run(t, a, "go")
	got.AssertFailed(t, errcode.UpstreamUnavailable, executortest.Reason("component_invoke_error"), executortest.Retried(0))
	got.AssertText(t, "one twofrom the result")
	closed := 0
	for _, ev := range got.Events {
		if u, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok && u.LastChunk {
			closed++
		}
	}
	if closed != 3 {
		t.Errorf("%d artifacts were closed, want 3", closed)
	}
}

func TestFallbackToInvoke(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		err  error
		code errcode.Code // "": Invoke ran
	}{
		{"an upstream failure", &errcode.ComponentInvokeError{}, ""},
		{"a plain error", errors.New("x"), ""},
		{"invalid input", errcode.New(errcode.InvalidInput, "x"), errcode.InvalidInput},
		{"missing rights", &errcode.MissingAPIKeyError{}, errcode.AuthRequired},
		{"a guardrail", &errcode.GuardrailBlockedError{Category: "x"}, errcode.GuardrailBlocked},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var late *stream.Writer
			a := agent.New("fallback",
				agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
					if err := late.Text("twice"); !errors.Is(err, stream.ErrClosed) {
						return nil, errors.New("the stream's writer still writes")
					}
					return agent.Text("from invoke"), nil
				}),
				agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
					late = w
					return nil, errors.Join(w.Progress("about to fail"), c.err)
				}))
			got := executortest.Run(t, a, "go")
			if c.code == "" {
				got.AssertCompleted(t)
				got.AssertText(t, "from invoke")
				return
			}
			got.AssertFailed(t, c.code, executortest.Retried(0))
		})
	}
	t.Run("a second failure is counted", func(t *testing.T) {
		t.Parallel()
		a := agent.New("fallback",
			agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, errors.New("x") }),
			agent.Stream(func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
				panic("first")
			}))
		executortest.Run(t, a, "go").AssertFailed(t, errcode.Internal, executortest.Retried(1))
	})
	t.Run("the fallback is one more than what Invoke retried", func(t *testing.T) {
		t.Parallel()
		tried := func(n int) error { return errcode.New(errcode.UpstreamUnavailable, "down", errcode.Retried(n)) }
		a := agent.New("fallback",
			agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, tried(3) }),
			agent.Stream(func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) { return nil, tried(2) }))
		executortest.Run(t, a, "go").AssertFailed(t, errcode.UpstreamUnavailable, executortest.Retried(4))
		executortest.Run(t, a, "go", executortest.Blocking()).AssertFailed(t, errcode.UpstreamUnavailable, executortest.Retried(3))
	})
}

func TestGuardrailDiscardsTheWork(t *testing.T) {
	t.Parallel()
	a := streaming(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			return agent.Text("from the first turn"), hitl.InputRequired("Go on?")
		}
		err := errors.Join(w.Text("secret of the bank"), w.Progress("reading the secret"), w.Data(1))
		return agent.Text("more"), errors.Join(err, &errcode.GuardrailBlockedError{Category: "secrets"})
	})
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		got.AssertInputRequired(t, "Go on?")
		if len(got.Task.Artifacts) != 1 {
			t.Fatalf("first turn: %d artifacts, want 1", len(got.Task.Artifacts))
		}
		got = got.Reply(t, "yes")
		e := got.AssertFailed(t, errcode.GuardrailBlocked, executortest.Source("guardrail:secrets"))
		if e.Guardrail["violationCategory"] != "secrets" {
			t.Errorf("guardrail: got %v", e.Guardrail)
		}
		if len(got.Task.Artifacts) != 0 {
			t.Errorf("%d artifacts kept, want none", len(got.Task.Artifacts))
		}
		for _, m := range got.Task.History {
			if strings.Contains(m.Parts[0].Text(), "secret") {
				t.Errorf("the history keeps %q", m.Parts[0].Text())
			}
		}
	})
}

func TestInputRequiredIsNoFailure(t *testing.T) {
	t.Parallel()
	a := streaming(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		q, asked := req.Question()
		if !asked {
			if err := w.Text("so far. "); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("step 1: %w", hitl.InputRequired("Your birthday?",
				hitl.Payload(map[string]any{"format": "date"})))
		}
		original := req.Original().Parts[0].Text()
		kept := len(req.Task().Artifacts)
		return agent.Text(fmt.Sprintf("%s %s %v %s %d", original, q.Prompt, q.Data["format"], req.Text(), kept)), nil
	})
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		data := got.AssertInputRequired(t, "Your birthday?")
		if data["question"] != "Your birthday?" || data["format"] != "date" {
			t.Errorf("data part: got %v", data)
		}
		got = got.Reply(t, "1815-12-10")
		got.AssertCompleted(t)
		got.AssertText(t, "so far. go Your birthday? date 1815-12-10 1")
		said := []string{}
		for _, m := range got.Task.History {
			said = append(said, m.Parts[0].Text())
		}
		if fmt.Sprint(said) != fmt.Sprint([]string{"go", "Your birthday?", "1815-12-10"}) {
			t.Errorf("history: got %q", said)
		}
	})
	t.Run("as the cause of an application error it is a failure", func(t *testing.T) {
		t.Parallel()
		a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, errcode.New(errcode.NotFound, "no_account", errcode.Cause(hitl.InputRequired("?")))
		})
		executortest.Run(t, a, "go").AssertFailed(t, errcode.NotFound, executortest.Reason("no_account"))
	})
	t.Run("joined with a failure it is one", func(t *testing.T) {
		t.Parallel()
		a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, errors.Join(hitl.InputRequired("?"), &errcode.ComponentInvokeError{})
		})
		executortest.Run(t, a, "go").AssertFailed(t, errcode.UpstreamUnavailable)
	})
}

func TestAuthRequired(t *testing.T) {
	t.Parallel()
	a := streaming(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		if _, asked := req.Question(); !asked {
			if err := w.Text("so far. "); err != nil {
				return nil, err
			}
		}
		token, err := hitl.Ask[string](ctx, "token", "Please sign in.", hitl.Auth("oauth2", "accounts.read"),
			hitl.AuthURL("https://login.example"), hitl.AuthProvider("bank"))
		if err != nil {
			return nil, err
		}
		return agent.Text("signed in with " + token), nil
	})
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		data := got.AssertAuthRequired(t, "Please sign in.")
		want := map[string]any{
			"question": "Please sign in.", "id": "token", "scheme": "oauth2", "scopes": []any{"accounts.read"},
			"url": "https://login.example", "provider": "bank",
		}
		if diff := cmp.Diff(want, data); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if got.Outcome.State != executor.AuthRequired {
			t.Errorf("outcome: got %s", got.Outcome.State)
		}
		got = got.Reply(t, "t0ken")
		got.AssertCompleted(t)
		got.AssertText(t, "so far. signed in with t0ken")
	})
}

// TestAskFromDeepInside: plain code asks several typed questions, one after the
// other, and again where an answer does not fit.
func TestAskFromDeepInside(t *testing.T) {
	t.Parallel()
	a := invoking(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		name, err := hitl.Ask[string](ctx, "name", "Your name?")
		if err != nil {
			return nil, fmt.Errorf("step 1: %w", err)
		}
		age, err := hitl.Ask[int](ctx, "age", "Your age?")
		if err != nil {
			return nil, err
		}
		return agent.Text(fmt.Sprintf("%s: %s, %d", req.Original().Parts[0].Text(), name, age)), nil
	})
	both(t, a, func(t *testing.T, got *executortest.Got) {
		t.Helper()
		if data := got.AssertInputRequired(t, "Your name?"); data["id"] != "name" {
			t.Errorf("the question's data: got %v", data)
		}
		got = got.Reply(t, "Ada")
		got.AssertInputRequired(t, "Your age?")
		got = got.Reply(t, "young")
		if data := got.AssertInputRequired(t, "Your age?"); data["violations"] == nil {
			t.Errorf("asked again without saying why: %v", data)
		}
		got = got.Reply(t, "36")
		got.AssertCompleted(t)
		got.AssertText(t, "go: Ada, 36")
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	t.Run("rejected", func(t *testing.T) {
		t.Parallel()
		a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return agent.Rejected("Not my trade."), nil
		})
		both(t, a, func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertRejected(t)
			if got.Note() != "Not my trade." {
				t.Errorf("note: got %q", got.Note())
			}
		})
	})
	t.Run("values that are empty or nothing", func(t *testing.T) {
		t.Parallel()
		a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return agent.Artifacts(
				agent.Artifact{Parts: []stream.Part{stream.DataPart(nil), stream.DataPart(make(chan int))}},
				agent.Artifact{Parts: []stream.Part{
					stream.DataPart([]string{}),
					stream.DataPart(map[string]any{"hits": []any{}, "none": nil, "deep": []any{[]any{}, map[string]any{"x": []int{}}}}),
					stream.FilePart(stream.File{Name: "empty"}),
				}}), nil
		})
		both(t, a, func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertCompleted(t)
			raw, err := json.Marshal(got.Task.Artifacts)
			if err != nil {
				t.Fatal(err)
			}
			want := `"parts":[{"data":[],"mediaType":"application/json"},` +
				`{"data":{"deep":[[],{"x":[]}],"hits":[],"none":null},"mediaType":"application/json"},{"raw":"","filename":"empty"}]`
			if len(got.Task.Artifacts) != 1 || !strings.Contains(string(raw), want) {
				t.Errorf("got %s\nwant %s", raw, want)
			}
		})
	})
	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
			return &agent.Result{Note: "all there", Artifacts: []agent.Artifact{
				{Name: "mix", Description: "of parts", Metadata: map[string]any{"k": []string{"v"}}, Parts: []stream.Part{
					stream.TextPart("t"), stream.DataPart(struct{ N int }{7}),
					stream.FilePart(stream.File{Name: "f.bin", MediaType: "application/x", Bytes: []byte{1, 2}}),
					stream.FilePart(stream.File{URI: "http://example.com/f"}),
				}},
			}}, nil
		})
		both(t, a, func(t *testing.T, got *executortest.Got) {
			t.Helper()
			got.AssertCompleted(t)
			art := got.Task.Artifacts[0]
			if art.Name != "mix" || art.Description != "of parts" || fmt.Sprint(art.Metadata) != "map[k:[v]]" || len(art.Parts) != 4 {
				t.Errorf("artifact: got %+v", art)
			}
			if m, ok := art.Parts[1].Data().(map[string]any); !ok || m["N"] != float64(7) {
				t.Errorf("data part: got %v", art.Parts[1].Data())
			}
			if string(art.Parts[2].Raw()) != "\x01\x02" || art.Parts[2].Filename != "f.bin" || art.Parts[3].URL() != "http://example.com/f" {
				t.Errorf("files: got %+v %+v", art.Parts[2], art.Parts[3])
			}
		})
	})
}

func TestOutcomeAndLogHaveTheCause(t *testing.T) {
	t.Parallel()
	var logged syncBuffer
	outcomes := make(chan executor.Outcome, 1)
	a := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return nil, fmt.Errorf("lookup: %w", errcode.New(errcode.NotFound, "account_unknown",
			errcode.Message("No such account."), errcode.Cause(errors.New("row 17 of the ledger"))))
	})
	got := executortest.Run(t, a, "go", executortest.With(
		executor.Logger(slog.New(slog.NewJSONHandler(&logged, nil))),
		executor.OnOutcome(func(context.Context, executor.Outcome) { panic("a bad hook") }),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { outcomes <- o })))
	e := got.AssertFailed(t, errcode.NotFound, executortest.Reason("account_unknown"), executortest.Text("No such account."), executortest.Domain("worst"))
	o := <-outcomes
	if o.State != executor.Failed || o.Data.ErrorCode != errcode.NotFound || o.Err == nil || o.TaskID != string(got.Task.ID) || o.Agent != "worst" {
		t.Errorf("outcome: got %+v", o)
	}
	if e.CorrelationID == "" || o.Data.CorrelationID != e.CorrelationID {
		t.Errorf("correlation id: client %q, outcome %q", e.CorrelationID, o.Data.CorrelationID)
	}
	for _, want := range []string{e.CorrelationID, "row 17 of the ledger", "run failed"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %q: %s", want, logged.String())
		}
	}
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	wrap := func(name string) executor.Option {
		return executor.Middleware(func(next executor.RunFunc) executor.RunFunc {
			return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
				res, err := next(ctx, req)
				if err != nil {
					return res, fmt.Errorf("%s: %w", name, err)
				}
				return agent.Text(name + "(" + res.Artifacts[0].Parts[0].Text() + ")"), nil
			}
		})
	}
	a := invoking(agent.TextFunc(func(_ context.Context, s string) (string, error) { return s, nil }))
	executortest.Run(t, a, "x", executortest.With(wrap("a"), wrap("b"))).AssertText(t, "a(b(x))")

	for name, mw := range map[string]func(executor.RunFunc) executor.RunFunc{
		"that panics":    func(executor.RunFunc) executor.RunFunc { panic("x") },
		"that gives nil": func(executor.RunFunc) executor.RunFunc { return nil },
		"whose function fails": func(executor.RunFunc) executor.RunFunc {
			return func(context.Context, *agent.Request) (*agent.Result, error) { panic("x") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executortest.Run(t, a, "x", executortest.With(executor.Middleware(mw))).AssertFailed(t, errcode.Internal, executortest.Reason("panic"))
		})
	}
}

func TestTextOfInternalErrors(t *testing.T) {
	t.Parallel()
	a := invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == "own" {
			return nil, errcode.New(errcode.Internal, "odd", errcode.Message("for everybody"))
		}
		return nil, errors.New("what only we know")
	})
	hide := executortest.With(executor.HideInternalText())
	executortest.Run(t, a, "").AssertFailed(t, errcode.Internal, executortest.Text("what only we know"))
	executortest.Run(t, a, "", hide).AssertFailed(t, errcode.Internal, executortest.Text(errcode.Internal.Text()))
	executortest.Run(t, a, "own", hide).AssertFailed(t, errcode.Internal, executortest.Text("for everybody"))

	upper := executortest.With(executor.Redactor(strings.ToUpper))
	executortest.Run(t, a, "", upper).AssertFailed(t, errcode.Internal, executortest.Text("WHAT ONLY WE KNOW"))
	broken := executortest.With(executor.Redactor(func(string) string { panic("x") }))
	if note := executortest.Run(t, a, "", broken).Note(); strings.Contains(note, "know") {
		t.Errorf("a broken redactor lets %q through", note)
	}
}

func TestOwnTable(t *testing.T) {
	t.Parallel()
	errLedger := errors.New("ledger closed")
	table := errcode.NewTable(errcode.When("ledger", func(err error) bool { return errors.Is(err, errLedger) },
		errcode.UpstreamUnavailable, "ledger_closed", errcode.RetryAfter(time.Minute)))
	a := invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		if errcode.TableFrom(ctx) != table {
			return nil, errors.New("the context has another table")
		}
		return nil, fmt.Errorf("book: %w", errLedger)
	})
	executortest.Run(t, a, "", executortest.With(executor.Table(table))).AssertFailed(t, errcode.UpstreamUnavailable,
		executortest.Reason("ledger_closed"), executortest.RetryAfter(time.Minute), executortest.Retriable(true))
}
