package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// model is a function as a model.
type model func(ctx context.Context, req tool.ModelRequest) (tool.ModelResponse, error)

func (m model) Generate(ctx context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
	return m(ctx, req)
}

// script is a model that says one thing after the other, by how much was said.
func script(turns ...tool.ModelResponse) model {
	return func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		said := 0
		for _, m := range req.Messages {
			if m.Role == tool.Assistant {
				said++
			}
		}
		return turns[min(said, len(turns)-1)], nil
	}
}

func calls(names ...string) tool.ModelResponse {
	var res tool.ModelResponse
	for _, n := range names {
		name, args, _ := strings.Cut(n, " ")
		res.Calls = append(res.Calls, tool.Call{Name: name, Args: json.RawMessage(args)})
	}
	return res
}

func says(text string) tool.ModelResponse { return tool.ModelResponse{Text: text} }

func loop(t *testing.T, m tool.Model, tools []tool.Tool, opts ...tool.LoopOption) *tool.Loop {
	t.Helper()
	l, err := tool.NewLoop(m, tools, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func named(name string, f func(ctx context.Context) (string, error)) tool.Tool {
	return tool.Func(name, "", func(ctx context.Context, _ empty) (string, error) { return f(ctx) })
}

// TestConversation: what the model is shown from round to round.
func TestConversation(t *testing.T) {
	t.Parallel()
	balance := tool.Func("balance", "the balance", func(_ context.Context, in account) (string, error) {
		return "12 on " + in.ID, nil
	})
	first := calls(`balance {"account_id":"a"}`, `balance {}`, `blance {"account_id":"a"}`)
	first.Text, first.Raw, first.Usage = "Let me see.", "thoughts", tool.Usage{InputTokens: 3, OutputTokens: 4}
	l := loop(t, script(first, says("You have 12.")), []tool.Tool{balance}, tool.System("Be brief."))
	got, err := l.Run(t.Context(), tool.UserText("how much?"))
	if err != nil {
		t.Fatal(err)
	}
	asked := slices.Clone(first.Calls)
	for i := range asked {
		asked[i].ID = fmt.Sprintf("call-1-%d", i+1)
	}
	want := &tool.Answer{
		Text: "You have 12.", Iterations: 2, Usage: tool.Usage{InputTokens: 3, OutputTokens: 4},
		Messages: []tool.Message{
			tool.UserText("how much?"),
			{Role: tool.Assistant, Text: "Let me see.", Calls: asked, Raw: "thoughts"},
			{Role: tool.ToolResults, Results: []tool.CallResult{
				{CallID: "call-1-1", Name: "balance", Output: tool.Output{Text: "12 on a"}},
				{CallID: "call-1-2", Name: "balance", Output: tool.Output{Text: "Missing required argument: account_id", IsError: true}},
				{CallID: "call-1-3", Name: "blance", Output: tool.Output{Text: "There is no tool 'blance'. The tools are: balance", IsError: true}},
			}},
			{Role: tool.Assistant, Text: "You have 12."},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParallelCalls: as many at once as allowed, and results in the order of the calls.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tools []tool.Tool
		var names []string
		for i := range 6 {
			name := fmt.Sprintf("t%d", i)
			names = append(names, name)
			tools = append(tools, named(name, func(context.Context) (string, error) {
				time.Sleep(time.Duration(6-i) * time.Second)
				return name, nil
			}))
		}
		begin := time.Now()
		a, err := loop(t, script(calls(names...), says("done")), tools, tool.Parallel(3)).Run(t.Context(), tool.UserText("x"))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range a.Messages[2].Results {
			if r.Text != names[i] {
				t.Errorf("result %d: got %s", i, r.Text)
			}
		}
		if d := time.Since(begin); d != 7*time.Second { // 6, 5+2, 4+3+1
			t.Errorf("took %v, want 7s", d)
		}
	})
}

// TestOneCallFails: it cancels the others, and is what is returned, whatever
// order they end in.
func TestOneCallFails(t *testing.T) {
	t.Parallel()
	waits := named("waits", func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	asks := named("asks", func(context.Context) (string, error) { return "", hitl.InputRequired("Which?") })
	fails := named("fails", func(context.Context) (string, error) { return "", errcode.New(errcode.NotFound, "nobody") })
	fine := named("fine", func(context.Context) (string, error) { return "", nil })
	l := func(names ...string) error {
		_, err := loop(t, script(calls(names...), says("")), []tool.Tool{waits, asks, fails, fine}).Run(t.Context(), tool.UserText("x"))
		return err
	}
	expectEscape(t, l("waits", "fails"), errcode.NotFound, "nobody", "internal:fails", 0)
	expectEscape(t, l("asks", "fails"), errcode.NotFound, "nobody", "internal:fails", 0)
	if i := hitl.Find(l("fine", "asks", "fine")); i == nil || i.Prompt() != "Which?" {
		t.Errorf("got %v, want the question", i)
	}
}

// TestIterationLimit: a model that never stops is stopped.
func TestIterationLimit(t *testing.T) {
	t.Parallel()
	ran := 0
	l := loop(t, script(calls("more")), []tool.Tool{named("more", func(context.Context) (string, error) { ran++; return "", nil })}, tool.MaxIterations(3))
	a := agent.New("looper", agent.Stream(l.Stream))
	executortest.Run(t, a, "go").AssertFailed(t, errcode.UpstreamUnavailable,
		executortest.Reason("max_tool_iterations_exceeded"), executortest.Retriable(true))
	if ran != 2 {
		t.Errorf("the tool ran %d times, want 2: nobody reads the last results", ran)
	}
}

// TestTextIsStreamed: a streaming model's pieces, and a whole text of one that
// does not stream, both in order and none twice.
func TestTextIsStreamed(t *testing.T) {
	t.Parallel()
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		if len(req.Messages) > 1 {
			return says("12."), nil
		}
		for _, piece := range []string{"Let ", "", "me see."} {
			if err := req.Stream(piece); err != nil {
				return tool.ModelResponse{}, err
			}
		}
		res := calls("fine")
		res.Text = "Let me see."
		return res, nil
	})
	tools := []tool.Tool{named("fine", func(context.Context) (string, error) { return "", nil })}
	for _, opts := range [][]executortest.Option{nil, {executortest.Blocking()}} {
		got := executortest.Run(t, agent.New("a", agent.Stream(loop(t, m, tools).Stream)), "x", opts...)
		got.AssertCompleted(t)
		got.AssertText(t, "Let me see.\n\n12.")
	}
	quiet := loop(t, script(calls("fine"), says("12.")), tools, tool.Silent())
	executortest.Run(t, agent.New("a", agent.Stream(quiet.Stream)), "x").AssertText(t, "12.")
}

// TestNobodyReads: a run whose output nobody takes ends with the writer's error.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	w, _ := stream.New(failingSink{gone})
	asked := 0
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		asked++
		_ = req.Stream("a") // and does not care
		return says("a"), nil
	})
	if _, err := loop(t, m, nil).Run(stream.NewContext(t.Context(), w), tool.UserText("x")); !errors.Is(err, gone) || asked != 1 {
		t.Errorf("got %v after %d calls, want %v after 1", err, asked, gone)
	}
}

type failingSink struct{ err error }

func (f failingSink) Chunk(stream.Chunk) error { return f.err }
func (f failingSink) Progress(string) error    { return f.err }

// TestModelFails: calls are repeated while that may help and nobody has read a
// part of the answer.
func TestModelFails(t *testing.T) {
	t.Parallel()
	down := errcode.New(errcode.UpstreamUnavailable, "overloaded", errcode.Source("llm:m"))
	for name, c := range map[string]struct {
		fails  error
		speaks bool
		opts   []tool.LoopOption
		calls  int
		code   errcode.Code
		reason string
	}{
		"twice, then well": {fails: down, calls: 3},
		"not to be tried":  {fails: &errcode.MissingAPIKeyError{}, calls: 1, code: errcode.AuthRequired, reason: "missing_api_key_error"},
		"after a part":     {fails: down, speaks: true, calls: 1, code: errcode.UpstreamUnavailable, reason: "overloaded"},
		"no retries": {
			fails: down, opts: []tool.LoopOption{tool.ModelRetry(retry.MaxAttempts(1))},
			calls: 1, code: errcode.UpstreamUnavailable, reason: "overloaded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
					if asked++; asked > 2 {
						return says("well"), nil
					}
					if c.speaks {
						_ = req.Stream("half")
					}
					return tool.ModelResponse{}, c.fails
				})
				w, _ := stream.New(keep{})
				_, err := loop(t, m, nil, c.opts...).Run(stream.NewContext(t.Context(), w), tool.UserText("x"))
				var e *errcode.Error
				if errors.As(err, &e) != (c.code != "") || c.code != "" && (e.Code() != c.code || e.Reason() != c.reason) || asked != c.calls {
					t.Errorf("got %v after %d calls, want %s %s after %d", err, asked, c.code, c.reason, c.calls)
				}
			})
		})
	}
}

// collected is the text that a run wrote.
type collected struct {
	keep
	strings.Builder
}

func (c *collected) Chunk(chunk stream.Chunk) error {
	for _, p := range chunk.Parts {
		c.WriteString(p.Text())
	}
	return nil
}

type keep struct{}

func (keep) Chunk(stream.Chunk) error { return nil }
func (keep) Progress(string) error    { return nil }

// TestModelTimeout: each call has its time, and the context's cause is not the
// model's fault.
func TestModelTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := model(func(ctx context.Context, _ tool.ModelRequest) (tool.ModelResponse, error) {
			<-ctx.Done()
			return tool.ModelResponse{}, errors.New("broken pipe, or so")
		})
		_, err := loop(t, slow, nil, tool.ModelTimeout(time.Second)).Run(t.Context(), tool.UserText("x"))
		expectEscape(t, err, errcode.UpstreamTimeout, "deadline_exceeded", "", 2)
		why := errors.New("cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		if _, err := loop(t, slow, nil).Run(ctx, tool.UserText("x")); !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
		if _, err := loop(t, slow, nil).Run(ctx, tool.UserText("x")); !errors.Is(err, why) {
			t.Errorf("from the start: got %v, want %v", err, why)
		}
	})
}

// TestCancelDuringCalls: the tools are told, and the cause is returned.
func TestCancelDuringCalls(t *testing.T) {
	t.Parallel()
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	told := make(chan struct{})
	wait := named("wait", func(ctx context.Context) (string, error) {
		cancel(why)
		<-ctx.Done()
		close(told)
		return "", ctx.Err()
	})
	_, err := loop(t, script(calls("wait")), []tool.Tool{wait}).Run(ctx, tool.UserText("x"))
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	<-told
}

// TestAskAndAuthInsideATool park the task; the answer completes it.
func TestAskAndAuthInsideATool(t *testing.T) {
	t.Parallel()
	book := named("book", func(ctx context.Context) (string, error) {
		token, err := hitl.Ask[string](ctx, "token", "Please sign in.", hitl.Auth("oauth2", "write"))
		if err != nil {
			return "", err
		}
		seat, err := hitl.Ask[string](ctx, "seat", "Which seat?")
		if err != nil {
			return "", fmt.Errorf("choose seat: %w", err)
		}
		return seat + " with " + token, nil
	})
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == tool.ToolResults {
			return says(last.Results[0].Text), nil
		}
		return calls("book"), nil
	})
	a := agent.New("a", agent.Stream(loop(t, m, []tool.Tool{book}).Stream))
	parked := executortest.Run(t, a, "book a seat")
	parked.AssertAuthRequired(t, "Please sign in.")
	asked := parked.Reply(t, "t0ken")
	asked.AssertInputRequired(t, "Which seat?")
	asked.Reply(t, "12A").AssertText(t, "12A with t0ken")
}

// TestRunsOnOneServerCountForThemselves: through the real executor, many tasks at
// once on one loop.
func TestRunsOnOneServerCountForThemselves(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	failed := map[string]int{}
	flaky := tool.Func("flaky", "", func(_ context.Context, in account) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if failed[in.ID]++; failed[in.ID] <= 2 {
			return "", syscall.ECONNREFUSED
		}
		return "fine", nil
	})
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		if len(req.Messages) > 6 {
			return says(req.Messages[6].Results[0].Text), nil
		}
		return calls(fmt.Sprintf(`flaky {"account_id":%q}`, req.Messages[0].Text)), nil
	})
	a := agent.New("a", agent.Stream(loop(t, m, []tool.Tool{flaky}).Stream))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { executortest.Run(t, a, fmt.Sprint("task ", i)).AssertText(t, "fine") })
	}
	all.Wait()
}

// TestFallbackCallsNoMore: Invoke after Stream is the same request, in which a tool
// that has had its strikes is not called again.
func TestFallbackCallsNoMore(t *testing.T) {
	t.Parallel()
	called := 0
	l := loop(t, script(calls("down")), []tool.Tool{named("down", func(context.Context) (string, error) { called++; return "", syscall.ECONNREFUSED })})
	a := agent.New("a", agent.Stream(l.Stream), agent.Invoke(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		_, err := l.Run(ctx, tool.UserText(req.Text()))
		return nil, err
	}))
	executortest.Run(t, a, "x").AssertFailed(t, errcode.UpstreamUnavailable,
		executortest.Reason("connection_refused"), executortest.Source("internal:down"), executortest.Retried(3)) // the tool twice, the run once
	if called != 3 {
		t.Errorf("called %d times, want 3", called)
	}
}

func TestNewLoopRefuses(t *testing.T) {
	t.Parallel()
	fine := named("fine", nil)
	_, err := tool.NewLoop(nil, []tool.Tool{fine, returning(nil), returning(nil)},
		tool.MaxIterations(0), tool.Parallel(0), tool.ModelTimeout(-1), tool.Guarded(tool.Strikes(0)), tool.LoopOption{})
	for _, want := range []string{
		"model: expected one", "max iterations", "parallel", "model timeout", "strikes", `tool "t": there are two of that name`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// TestAnswerIsNotTheRequest: after a tool's question the model reads what the user
// asked for, not the answer, which is for the tool.
func TestAnswerIsNotTheRequest(t *testing.T) {
	t.Parallel()
	book := tool.Func("book", "", func(ctx context.Context, in account) (string, error) {
		seat, err := hitl.Ask[string](ctx, "seat", "Which seat?")
		return in.ID + " in " + seat, err
	})
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == tool.ToolResults {
			return says(req.Messages[0].Text + ": " + last.Results[0].Text), nil
		}
		args, err := json.Marshal(account{ID: req.Messages[0].Text})
		return calls("book " + string(args)), err
	})
	asked := executortest.Run(t, agent.New("a", agent.Stream(loop(t, m, []tool.Tool{book}).Stream)), "train 7")
	asked.AssertInputRequired(t, "Which seat?")
	asked.Reply(t, "12A").AssertText(t, "train 7: train 7 in 12A")
}

// TestAllQuestionsOfARoundAreKept: one is asked, the memos of all survive.
func TestAllQuestionsOfARoundAreKept(t *testing.T) {
	t.Parallel()
	ask := func(id string) tool.Tool {
		return named(id, func(context.Context) (string, error) {
			return "", hitl.InputRequired(id+"?", hitl.ID(id), hitl.Memo(map[string]any{"of": id}))
		})
	}
	_, err := loop(t, script(calls("one", "two")), []tool.Tool{ask("one"), ask("two")}).Run(t.Context(), tool.UserText("x"))
	if i := hitl.Find(err); i == nil || i.ID() != "one" {
		t.Fatalf("got %v", err)
	}
	want := map[string]any{"one": map[string]any{"of": "one"}, "two": map[string]any{"of": "two"}}
	if diff := cmp.Diff(want, hitl.Memos(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeafModel: one that ignores its context is left behind in time, and what it
// says later is refused.
func TestDeafModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var texts collected
		late := make(chan error, 1)
		var asked atomic.Int32
		deaf := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
			if asked.Add(1) > 1 {
				return says("in time"), nil
			}
			time.Sleep(time.Hour)
			late <- req.Stream("late")
			return says("late"), nil
		})
		begin := time.Now()
		w, control := stream.New(&texts)
		ctx := stream.NewContext(t.Context(), w)
		a, err := loop(t, deaf, nil, tool.ModelTimeout(time.Second)).Run(ctx, tool.UserText("x"))
		if err != nil || a.Text != "in time" || time.Since(begin) > time.Minute {
			t.Errorf("got %v, %v after %v", a, err, time.Since(begin))
		}
		if err := <-late; err == nil {
			t.Error("a late text was taken")
		}
		control.Close()
		if texts.String() != "in time" {
			t.Errorf("streamed %q", texts.String())
		}
	})
}

// TestModelDoesItsWorst: a model that panics or exits fails the run, no more.
func TestModelDoesItsWorst(t *testing.T) {
	t.Parallel()
	for name, worst := range map[string]func(){"panics": func() { panic("m") }, "exits": runtime.Goexit} {
		m := model(func(context.Context, tool.ModelRequest) (tool.ModelResponse, error) { worst(); return says("?"), nil })
		_, err := loop(t, m, nil).Run(t.Context(), tool.UserText("x"))
		var e *errcode.Error
		if !errors.As(err, &e) || e.Code() != errcode.Internal {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestLateGoroutineOfAModel: one that streams on after the answer, from another
// goroutine, while the next round writes (-race).
func TestLateGoroutineOfAModel(t *testing.T) {
	t.Parallel()
	var texts collected
	var late sync.WaitGroup
	m := model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		late.Go(func() {
			for range 100 {
				_ = req.Stream("x")
			}
		})
		if len(req.Messages) > 1 {
			return says("done"), nil
		}
		return calls("nothing"), nil
	})
	w, _ := stream.New(&texts)
	ctx := stream.NewContext(t.Context(), w)
	if _, err := loop(t, m, nil).Run(ctx, tool.UserText("x")); err != nil {
		t.Error(err)
	}
	late.Wait()
}

// TestModelThatAsksForAnHour: the run does not sleep for it, and tells the delay.
func TestModelThatAsksForAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := loop(t, model(func(context.Context, tool.ModelRequest) (tool.ModelResponse, error) {
			return tool.ModelResponse{}, errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Hour))
		}), nil)
		_, err := l.Run(t.Context(), tool.UserText("x"))
		var e *errcode.Error
		if !errors.As(err, &e) || e.Code() != errcode.RateLimited || time.Since(began) > 0 {
			t.Fatalf("got %v after %v", err, time.Since(began))
		}
		if d, _ := e.RetryAfter(); d != time.Hour {
			t.Errorf("the delay is %v", d)
		}
	})
}

// TestModelReadsDataAndFiles: a task that began with them reached the model as an
// empty text.
func TestModelReadsDataAndFiles(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 1)
	l := loop(t, model(func(_ context.Context, req tool.ModelRequest) (tool.ModelResponse, error) {
		heard <- req.Messages[0].Text
		return says("ok"), nil
	}), nil)
	msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"order": 4711}), a2a.NewTextPart("Cancel this."),
		&a2a.Part{Content: a2a.URL("https://x.example/f"), Filename: "f.pdf", MediaType: "application/pdf"}, &a2a.Part{Content: a2a.Raw("abc")})
	req := agent.NewRequest(agent.RequestInfo{Message: msg})
	w, _ := stream.New(keep{})
	if _, err := l.Stream(t.Context(), req, w); err != nil {
		t.Fatal(err)
	}
	want := "Cancel this.\n{\"order\":4711}\n[file f.pdf, application/pdf, https://x.example/f]\n[file, 3 bytes]"
	if got := <-heard; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
