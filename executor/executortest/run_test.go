package executortest_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executortest.Option{
		"streaming": nil,
		"blocking":  {executortest.Blocking()},
		"zero":      {{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := executortest.Run(t, echo(), "hello", opts...)
			got.AssertCompleted(t)
			got.AssertText(t, "hello")
			if got.Task == nil || len(got.Events) == 0 || got.Events[0].TaskInfo().TaskID != got.Task.ID {
				t.Errorf("got %d events of %v", len(got.Events), got.Task)
			}
		})
	}
}

func TestStreamingAndBlocking(t *testing.T) {
	t.Parallel()
	a := agent.New("both",
		agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
			if req.Streaming() {
				t.Error("Invoke was called for a stream")
			}
			return agent.Text("invoked"), nil
		}),
		agent.Stream(func(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if !req.Streaming() {
				t.Error("Stream was called for a blocking message")
			}
			return nil, errors.Join(w.Text("stre"), w.Text("amed"))
		}))
	streamed := executortest.Run(t, a, "x")
	streamed.AssertText(t, "streamed")
	blocking := executortest.Run(t, a, "x", executortest.Blocking())
	blocking.AssertText(t, "invoked")
	if len(blocking.Events) != 1 || len(streamed.Events) < 4 {
		t.Errorf("events: got %d of the blocking call, %d of the stream", len(blocking.Events), len(streamed.Events))
	}
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	seen := make(chan *agent.Request, 1)
	a := invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		seen <- req
		return nil, nil
	})
	m := &a2a.Message{Parts: a2a.ContentParts{a2a.NewDataPart(struct {
		N int `json:"n"`
	}{1})}, Metadata: map[string]any{"n": 1}}
	executortest.Run(t, a, "not sent", executortest.Message(m), executortest.Accepting("text/csv")).AssertCompleted(t)
	req := <-seen
	if req.Text() != "" || !cmp.Equal(req.AcceptedOutputModes(), []string{"text/csv"}) {
		t.Errorf("got text %q, modes %v", req.Text(), req.AcceptedOutputModes())
	}
	if m.ID == "" || m.Role != a2a.MessageRoleUser || req.Message().ID != m.ID {
		t.Errorf("the message lacks what was to be filled in: %+v", m)
	}
	// What an agent sees has crossed the wire.
	if diff := cmp.Diff([]any{map[string]any{"n": 1.0}}, req.Data()); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"n": 1.0}, req.Message().Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	outcomes := 0
	got := executortest.Run(t, failing(errors.New("boom")), "x", executortest.With(
		executor.Logger(slog.New(slog.NewTextHandler(&log, nil))),
		executor.Domain("my-domain"), executor.OnOutcome(func(context.Context, executor.Outcome) { outcomes++ }),
	))
	got.AssertFailed(t, errcode.Internal, executortest.Domain("my-domain"))
	if outcomes != 1 || !strings.Contains(log.String(), "boom") {
		t.Errorf("got %d outcomes and the log %q", outcomes, log.String())
	}
}

func TestRunOfAnAgentThatFails(t *testing.T) {
	t.Parallel()
	err := errcode.New(errcode.NotFound, "no_account", errcode.Message("No such account."), errcode.Domain("bank"),
		errcode.DomainCode("B-1"), errcode.Source("db:accounts"), errcode.Retried(3), errcode.RetryAfter(0))
	for _, opts := range [][]executortest.Option{nil, {executortest.Blocking()}} {
		got := executortest.Run(t, failing(err), "x", opts...)
		e := got.AssertFailed(t, errcode.NotFound, executortest.Reason("no_account"), executortest.Text("No such account."),
			executortest.Domain("bank"), executortest.DomainCode("B-1"), executortest.Source("db:accounts"),
			executortest.Retried(3), executortest.RetryAfter(0), executortest.Retriable(false))
		if !errcode.Is(e.Err(), errcode.NotFound) || got.Note() != "No such account." {
			t.Errorf("got %v, note %q", e, got.Note())
		}
	}
}

func TestRunOfWhatTheExecutorRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		a    *agent.Agent
		opts []executortest.Option
		says string
	}{
		{"no agent", nil, nil, "expected an agent"},
		{"a bad agent", agent.New(""), nil, "expected a non-empty name"},
		{"a bad option", echo(), []executortest.Option{executortest.With(executor.Domain("Not A Domain"))}, "Not A Domain"},
		{"a message that cannot be sent", echo(), []executortest.Option{executortest.Message(&a2a.Message{Metadata: map[string]any{"ch": make(chan int)}})}, "the message cannot be sent"},
		{"a part without content", echo(), []executortest.Option{executortest.Message(&a2a.Message{Parts: a2a.ContentParts{{}}})}, "the message cannot be read back"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			got := executortest.Run(&f, tc.a, "x", tc.opts...)
			f.wantFatal(t, "executortest: ", tc.says)
			if got == nil || got.Task != nil || len(got.Events) != 0 {
				t.Errorf("got %+v, want an empty one", got)
			}
			// A refused agent is not a refused message.
			f = fakeT{}
			if err := executortest.Refused(&f, tc.a, "x", tc.opts...); err != nil {
				t.Errorf("Refused: got %v", err)
			}
			f.wantFatal(t, "executortest: ", tc.says)
		})
	}
}

// A fake test goes on after a fatal error, so what Run gives then is usable.
func TestEmptyGot(t *testing.T) {
	t.Parallel()
	var f fakeT
	got := executortest.Run(&f, nil, "x")
	got.AssertCompleted(&f)
	got.AssertText(&f, "x")
	_ = got.AssertInputRequired(&f, "Q?")
	if e := got.AssertFailed(&f, errcode.Internal); e.ErrorCode != "" {
		t.Errorf("failure: got %v", e)
	}
	again := got.Reply(&f, "y")
	if again == nil || again.Task != nil {
		t.Errorf("reply: got %+v", again)
	}
	if len(f.fatals) != 2 || !strings.Contains(f.fatals[1], "no task to reply to") {
		t.Errorf("fatals: got %q", f.fatals)
	}
}

func validating(err error) *agent.Agent {
	return agent.New("choosy", agent.Invoke(echo().InvokeFunc()),
		agent.Validate(func(context.Context, *agent.Request) error { return err }))
}

func TestRefused(t *testing.T) {
	t.Parallel()
	refusing := validating(errcode.New(errcode.InvalidInput, "bad", errcode.Message("no"),
		errcode.Violations(errcode.Violation{Field: "/message/parts", Message: "too few"})))
	for name, opts := range map[string][]executortest.Option{"streaming": nil, "blocking": {executortest.Blocking()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := executortest.Refused(t, refusing, "x", opts...); !errors.Is(err, a2a.ErrInvalidParams) {
				t.Errorf("got %v, want invalid params", err)
			}
			var f fakeT
			got := executortest.Run(&f, refusing, "x", opts...)
			f.wantFatal(t, "executortest: the message was refused")
			if got.Task != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRefusedOfAMessageThatIsAccepted(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executortest.Option{"streaming": nil, "blocking": {executortest.Blocking()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			if err := executortest.Refused(&f, validating(nil), "x", opts...); err != nil {
				t.Errorf("got %v", err)
			}
			f.wantFatal(t, "expected the message to be refused", "TASK_STATE_COMPLETED")
			f = fakeT{}
			_ = executortest.Refused(&f, failing(errcode.New(errcode.NotFound, "no_account")), "x", opts...)
			f.wantFatal(t, "expected the message to be refused", "TASK_STATE_FAILED", "no_account")
		})
	}
}

func asking() *agent.Agent {
	return invoking(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		if q, ok := req.Question(); ok {
			return agent.Text(q.Prompt + " " + req.Text()), nil
		}
		return nil, hitl.InputRequired("Who?", hitl.Payload(map[string]any{"format": "name"}))
	})
}

func TestReply(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executortest.Option{"streaming": nil, "blocking": {executortest.Blocking()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := executortest.Run(t, asking(), "hello", opts...)
			if data := asked.AssertInputRequired(t, "Who?"); data["format"] != "name" {
				t.Errorf("data: got %v", data)
			}
			done := asked.Reply(t, "Ada")
			done.AssertCompleted(t)
			done.AssertText(t, "Who? Ada")
			if done.Task.ID != asked.Task.ID || asked.State() != a2a.TaskStateInputRequired {
				t.Errorf("got task %s in place of %s, which is now %s", done.Task.ID, asked.Task.ID, asked.State())
			}
			var f fakeT
			_ = done.Reply(&f, "more")
			f.wantFatal(t, "executortest: reply: the message was refused")
		})
	}
}

// An agent that never ends, whether it heeds its context or not, is fatal.
func TestRunOfAnAgentThatNeverEnds(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executortest.Option{"streaming": nil, "blocking": {executortest.Blocking()}} {
		for kind, heeds := range map[string]bool{"heeds its context": true, "ignores its context": false} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { neverEnds(t, heeds, opts) })
			})
		}
	}
}

func neverEnds(t *testing.T, heeds bool, opts []executortest.Option) {
	t.Helper()
	release, ended := make(chan struct{}), make(chan struct{})
	a := invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		defer close(ended)
		if heeds {
			<-ctx.Done()
		} else {
			<-release
		}
		return nil, ctx.Err()
	})
	var f fakeT
	got := executortest.Run(&f, a, "x", opts...)
	f.wantFatal(t, "executortest: the task did not end in 30s")
	if got.Task != nil {
		t.Errorf("got %+v", got)
	}
	if heeds {
		<-ended // by itself: nobody released it
	}
	close(release)
	<-ended
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		var f fakeT
		_ = executortest.Run(&f, a, "x", executortest.Timeout(1500e6))
		f.wantFatal(t, "the task did not end in 1.5s")
		f = fakeT{}
		if err := executortest.Refused(&f, a, "x", executortest.Timeout(1500e6)); err != nil {
			t.Errorf("Refused: got %v: an agent that hangs does not refuse", err)
		}
		f.wantFatal(t, "the task did not end in 1.5s")
	})
}

func TestAHookThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hook := executor.OnOutcome(func(context.Context, executor.Outcome) { <-release })
		var f fakeT
		_ = executortest.Run(&f, echo(), "x", executortest.With(hook))
		f.wantFatal(t, "OnOutcome hooks did not return in 30s")
		close(release)
	})
}

// lossyStore forgets every artifact.
type lossyStore struct{ taskstore.Store }

func (s lossyStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	stored, err := s.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	lossy := *stored
	task := *stored.Task
	task.Artifacts = nil
	lossy.Task = &task
	return &lossy, nil
}

func TestAStoreThatLosesWhatWasTold(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]executortest.Option{"streaming": nil, "blocking": {executortest.Blocking()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := lossyStore{taskstore.NewInMemory(nil)}
			var f fakeT
			got := executortest.Run(&f, echo(), "x", append(opts, executortest.With(executor.TaskStore(store)))...)
			f.wantErrors(t, 1, "executortest: the stored task is not what the events told", "artifacts: told")
			got.AssertCompleted(t)
		})
	}
}
