package executortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Got is what a client saw of one message to an agent.
type Got struct {
	// Events are the events of the stream in order, as decoded from the JSON
	// that crosses the wire; of a blocking call, its one answer.
	Events []a2a.Event
	// Task is the task as GetTask gives it afterwards.
	Task *a2a.Task
	// Outcome is what the executor made of the run, with the private cause of a
	// failure, which no client sees. Failing assertions print it.
	Outcome executor.Outcome

	handler *executor.Handler
	over    <-chan executor.Outcome // receives once for each run
	cfg     config
}

type config struct {
	blocking bool
	timeout  time.Duration
	message  *a2a.Message
	request  []func(*a2a.SendMessageRequest)
	executor []executor.Option
}

// Option changes how [Run] calls the agent.
type Option struct{ apply func(*config) }

// Blocking sends a blocking message. Default: a streaming one.
func Blocking() Option { return Option{func(c *config) { c.blocking = true }} }

// Timeout is how long the task may take. Default: 30 s.
func Timeout(d time.Duration) Option { return Option{func(c *config) { c.timeout = d }} }

// Message sends this message in place of the text. It is changed: what it
// lacks of id and role is filled in.
func Message(m *a2a.Message) Option { return Option{func(c *config) { c.message = m }} }

// Accepting sets the output modes that the client accepts. Default: none named.
func Accepting(modes ...string) Option {
	return Option{func(c *config) {
		c.request = append(c.request, func(r *a2a.SendMessageRequest) {
			r.Config = &a2a.SendMessageConfig{AcceptedOutputModes: modes}
		})
	}}
}

// With runs the agent with these options of the executor. Default: none but a
// logger that discards.
func With(opts ...executor.Option) Option {
	return Option{func(c *config) { c.executor = append(c.executor, opts...) }}
}

// Run sends text to the agent and follows the task until it has ended or is
// parked, and the run's [executor.OnOutcome] hooks have returned. An agent or option that the executor refuses, a refused message and
// a task that does not end are fatal; an illegal order of events and a stored
// task that differs from them are errors.
func Run(t TB, a *agent.Agent, text string, opts ...Option) *Got {
	t.Helper()
	got, err := send(a, text, opts)
	if err != nil {
		t.Fatalf("executortest: %v", err)
		return &Got{}
	}
	got.check(t)
	return got
}

// Refused sends text to an agent that is expected to refuse it on the protocol
// layer, and returns the error as a client would receive it. A message that is
// accepted is fatal, and so is whatever else keeps the agent from refusing it.
func Refused(t TB, a *agent.Agent, text string, opts ...Option) error {
	t.Helper()
	got, err := send(a, text, opts)
	var refused *refusedError
	switch {
	case err == nil:
		t.Fatalf("executortest: expected the message to be refused; it became a task in state %s%s", got.State(), got.hint())
	case errors.As(err, &refused):
		return refused.err
	default:
		t.Fatalf("executortest: %v", err)
	}
	return nil
}

// refusedError is an error that came in place of any event.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return "the message was refused: " + e.err.Error() }

// Reply sends a further message on the same task and follows it, as [Run] does.
func (g *Got) Reply(t TB, text string) *Got {
	t.Helper()
	if g.Task == nil {
		t.Fatalf("executortest: reply: there is no task to reply to")
		return &Got{}
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, g.Task, a2a.NewTextPart(text))
	cfg := g.cfg
	cfg.message = nil
	got, err := follow(g.handler, g.over, cfg, m)
	if err != nil {
		t.Fatalf("executortest: reply: %v", err)
		return &Got{}
	}
	got.check(t)
	return got
}

func (g *Got) check(t TB) {
	t.Helper()
	if err := CheckOrder(g.Events); err != nil {
		t.Errorf("executortest: illegal order of events: %v", err)
	}
	if err := CheckStored(g.Events, g.Task); err != nil {
		t.Errorf("executortest: the stored task is not what the events told: %v", err)
	}
}

func send(a *agent.Agent, text string, opts []Option) (*Got, error) {
	cfg := config{timeout: 30 * time.Second}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(&cfg)
		}
	}
	over := make(chan executor.Outcome, 1)
	ours := []executor.Option{executor.Logger(slog.New(slog.DiscardHandler))}
	ours = append(ours, cfg.executor...)
	ours = append(ours, executor.OnOutcome(func(_ context.Context, o executor.Outcome) {
		select {
		case over <- o:
		default: // nobody waits any longer
		}
	}))
	h, err := executor.NewHandler(a, ours...)
	if err != nil {
		return nil, err
	}
	m := cfg.message
	if m == nil {
		m = a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	}
	if m.ID == "" {
		m.ID = a2a.NewMessageID()
	}
	if m.Role == a2a.MessageRoleUnspecified {
		m.Role = a2a.MessageRoleUser
	}
	return follow(h, over, cfg, m)
}

func follow(h *executor.Handler, over <-chan executor.Outcome, cfg config, m *a2a.Message) (*Got, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cfg.timeout)
	defer cancel()
	ctx, _ = a2asrv.NewCallContext(ctx, nil)
	sent, err := onWire(m)
	if err != nil {
		return nil, fmt.Errorf("the message %w", err)
	}
	req := &a2a.SendMessageRequest{Message: sent}
	for _, f := range cfg.request {
		f(req)
	}
	got := &Got{handler: h, over: over, cfg: cfg}
	if err := got.collect(ctx, req); err != nil {
		if ctx.Err() != nil {
			_ = h.Shutdown(ctx) // ends what still runs
			return nil, fmt.Errorf("the task did not end in %v", cfg.timeout)
		}
		return nil, err
	}
	select {
	case got.Outcome = <-over:
	case <-ctx.Done():
		return nil, fmt.Errorf("the task ended, but the OnOutcome hooks did not return in %v", cfg.timeout)
	}
	id := got.Events[0].TaskInfo().TaskID
	task, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
	if err != nil {
		return nil, fmt.Errorf("get the task: %w", err)
	}
	if got.Task, err = onWire(task); err != nil {
		return nil, fmt.Errorf("the task %w", err)
	}
	return got, nil
}

func (g *Got) collect(ctx context.Context, req *a2a.SendMessageRequest) error {
	if g.cfg.blocking {
		res, err := g.handler.SendMessage(ctx, req)
		if err != nil {
			return &refusedError{err}
		}
		return g.add(res)
	}
	for ev, err := range g.handler.SendStreamingMessage(ctx, req) {
		switch {
		case err != nil && len(g.Events) == 0:
			return &refusedError{err}
		case err != nil:
			return fmt.Errorf("an error ended the stream after %d events: %w", len(g.Events), err)
		}
		if err := g.add(ev); err != nil {
			return err
		}
	}
	if len(g.Events) == 0 {
		return errors.New("no event at all")
	}
	return nil
}

func (g *Got) add(ev a2a.Event) error {
	sr, err := onWire(&a2a.StreamResponse{Event: ev})
	if err != nil {
		return fmt.Errorf("event %d %w", len(g.Events), err)
	}
	g.Events = append(g.Events, sr.Event)
	return nil
}

// onWire gives v as it arrives at the other end.
func onWire[T any](v *T) (*T, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot be sent: %w", err)
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("cannot be read back: %w", err)
	}
	return out, nil
}
