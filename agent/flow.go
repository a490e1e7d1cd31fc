package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/stream"
)

// Flow makes an agent of a flow. For a task's first message begin makes the
// flow's state of the request; when the flow has ended well, finish makes the
// result of its state. Both may fail like any agent's code.
//
//   - When a node fails, the outputs of the completed nodes become the task's
//     artifacts before it fails, and the failure names the node and them
//     (data.node, data.flow.completedNodes). A node in a loop has an artifact for
//     each visit. So has what completed within a nested flow that failed, with
//     its node's path as the name. A guardrail discards them.
//   - A node streams through the writer in its context, and asks with hitl.Ask:
//     the task is parked, and the next message resumes the same run with the
//     answer, without running completed nodes again. The answer is the message's
//     first data part, its text without one; where several nodes ask, a data
//     part of the form {"answers": {ID: value}} answers them at once, by the ids
//     in the questions' data parts, and otherwise one is asked after the other.
//   - It is one run whichever way it is called: there is no fallback, and
//     [Invoke] and [Stream] beside it are faults.
//
// The run's id is the task's id and the flow's name. A run is forgotten when
// its task has ended; see [FlowParked] for one that nobody answers.
func Flow[S any](
	c *flow.Compiled[S],
	begin func(ctx context.Context, req *Request) (S, error),
	finish func(ctx context.Context, state S) (*Result, error),
	opts ...FlowOption,
) Option {
	return Option{func(a *Agent) {
		r, err := NewFlowRunner(c, begin, finish, opts...)
		if err != nil {
			a.fault(err.Error())
			return
		}
		Stream(r.Stream).apply(a)
		if r.recovers {
			Recover(r.Recover).apply(a)
		}
		OnRelease(r.Release).apply(a)
		a.flow = true
	}}
}

// FlowRunner runs a flow for an agent that does more than that: its Stream is
// called by the agent's own Stream function, for a task's first message and for
// the answers to the flow's questions, and its Release is given to [OnRelease].
// One task may run several flows of different names. It is safe for concurrent
// use. See [Flow].
type FlowRunner[S any] struct {
	flowConfig
	flow   *flow.Compiled[S]
	begin  func(context.Context, *Request) (S, error)
	finish func(context.Context, S) (*Result, error)
}

// NewFlowRunner makes a runner; the arguments are those of [Flow]. The error
// names every fault of them.
func NewFlowRunner[S any](
	c *flow.Compiled[S],
	begin func(ctx context.Context, req *Request) (S, error),
	finish func(ctx context.Context, state S) (*Result, error),
	opts ...FlowOption,
) (*FlowRunner[S], error) {
	if c == nil || begin == nil || finish == nil {
		return nil, errors.New("Flow: expected a compiled flow and two functions, got nil")
	}
	cfg := flowConfig{maxParked: 10_000, parkedFor: 24 * time.Hour}
	var faults []error
	for _, o := range opts {
		if o.apply != nil {
			faults = append(faults, o.apply(&cfg))
		}
	}
	if cfg.recovers && cfg.store == nil {
		faults = append(faults, errors.New("FlowRecover: needs FlowStore: what is in memory does not outlive the process"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if cfg.store == nil {
		cfg.store = flow.NewMemory()
		cfg.parked = newParkedRuns(cfg.store, cfg.maxParked, cfg.parkedFor)
	}
	return &FlowRunner[S]{flow: c, begin: begin, finish: finish, flowConfig: cfg}, nil
}

// FlowOption configures [Flow].
type FlowOption struct{ apply func(*flowConfig) error }

type flowConfig struct {
	store     flow.Store
	parked    *parkedRuns // nil with a store of the user's
	maxParked int
	parkedFor time.Duration
	recovers  bool
	run       []flow.RunOption
}

// FlowStore keeps the runs in a store, so that they outlive the process.
// Default: in memory.
func FlowStore(s flow.Store) FlowOption {
	return FlowOption{func(c *flowConfig) error {
		if s == nil {
			return errors.New("FlowStore: expected a store, got nil")
		}
		c.store = s
		return nil
	}}
}

// FlowParked bounds what is kept in memory for tasks that wait for an answer:
// how many runs, and how long each. One that is forgotten fails with NOT_FOUND,
// reason flow_run_expired, when the answer comes after all. Default: 10,000
// runs, 24 hours. It does not apply with [FlowStore].
func FlowParked(runs int, each time.Duration) FlowOption {
	return FlowOption{func(c *flowConfig) error {
		if runs <= 0 || each <= 0 {
			return fmt.Errorf("FlowParked: %d runs, %v: expected more than 0 of both", runs, each)
		}
		c.maxParked, c.parkedFor = runs, each
		return nil
	}}
}

// FlowRecover goes on with runs whose process died, where the task store outlives
// the process (executor.LeaseStore): completed nodes do not run again, a node that
// was at work runs again from its start, so its side effects need [flow.Once].
// It needs [FlowStore], and does not go with [flow.DeleteOnSuccess]. Default:
// the task fails with UPSTREAM_UNAVAILABLE, reason process_restarted.
func FlowRecover() FlowOption {
	return FlowOption{func(c *flowConfig) error {
		c.recovers = true
		return nil
	}}
}

// FlowRun adds options to each run and resume of the flow: a step limit, an
// event hook. The store is [FlowStore]'s.
func FlowRun(opts ...flow.RunOption) FlowOption {
	return FlowOption{func(c *flowConfig) error {
		c.run = append(c.run, opts...)
		return nil
	}}
}

func (f *FlowRunner[S]) runID(taskID string) string { return taskID + "/" + f.flow.Name() }

// Stream is a [StreamFunc]: it runs the flow for req, or resumes it with the
// answer that req is.
func (f *FlowRunner[S]) Stream(ctx context.Context, req *Request, _ *stream.Writer) (*Result, error) {
	return f.conduct(ctx, req, f.advance)
}

// Recover is a [StreamFunc] for the option of that name: it goes on with a run
// whose process died. See [FlowRecover].
func (f *FlowRunner[S]) Recover(ctx context.Context, req *Request, _ *stream.Writer) (*Result, error) {
	return f.conduct(ctx, req, f.reenter)
}

// conduct goes as far as the run goes, and makes the result of what it came to.
func (f *FlowRunner[S]) conduct(
	ctx context.Context, req *Request, advance func(context.Context, string, *Request) (flow.Result[S], error),
) (*Result, error) {
	id := f.runID(req.TaskID())
	parked := f.parked == nil // a store of the user's forgets when the ending is stored, see Release
	defer func() {            // not when user code panics or exits either
		if !parked {
			f.forget(ctx, id)
		}
	}()
	res, err := advance(ctx, id, req)
	if among(err, flow.ErrConflict) {
		parked = true // it is somebody else's
	}
	if res.Paused() && err == nil && len(res.Asks()) > 0 {
		parked = true
		f.park(id) //nolint:contextcheck // it outlives the request
		return nil, allOf(res.Asks())
	}
	if err != nil {
		return &Result{Artifacts: keptOf(res.Outputs(), err)}, failureOf(ctx, err, res.Retries())
	}
	return f.finish(ctx, res.State)
}

// advance runs the flow, or resumes it with the answers to its questions.
func (f *FlowRunner[S]) advance(ctx context.Context, id string, req *Request) (flow.Result[S], error) {
	opts := append(slices.Clip(f.run), flow.WithStore(f.store), flow.Isolated())
	question, asked := req.Question()
	if !asked {
		state, err := f.begin(ctx, req)
		if err != nil {
			return flow.Result[S]{}, err
		}
		return f.flow.Run(ctx, id, state, opts...)
	}
	if f.parked != nil {
		f.parked.remove(id)
	}
	for ask, value := range answersOf(question, req) {
		opts = append(opts, flow.Answer(ask, value))
	}
	res, err := f.flow.Resume(ctx, id, opts...)
	if among(err, flow.ErrUnknownRun) {
		err = errcode.New(errcode.NotFound, "flow_run_expired", errcode.Cause(err),
			errcode.Message("The question was asked too long ago; please start again."))
	}
	return res, err
}

// reenter goes on with a run whose process died. That was before its first
// checkpoint, in the midst of it, or after its last.
func (f *FlowRunner[S]) reenter(ctx context.Context, id string, req *Request) (flow.Result[S], error) {
	opts := append(slices.Clip(f.run), flow.WithStore(f.store), flow.Isolated())
	res, err := f.flow.Resume(ctx, id, opts...)
	switch {
	case among(err, flow.ErrUnknownRun):
		return f.advance(ctx, id, req)
	case among(err, flow.ErrFinished):
		return f.flow.Load(ctx, id, opts...)
	case err != nil || !res.Paused():
		return res, err
	}
	// The process may have died before it took in the answer.
	answered := false
	question, _ := req.Question()
	for ask, value := range answersOf(question, req) {
		if slices.ContainsFunc(res.Asks(), func(i *hitl.Interrupt) bool { return i.ID() == ask }) {
			opts, answered = append(opts, flow.Answer(ask, value)), true
		}
	}
	if !answered {
		return res, nil
	}
	return f.flow.Resume(ctx, id, opts...)
}

// answersOf reads the answers out of a message, by the ids of the questions.
func answersOf(q Question, req *Request) map[string]any {
	id, _ := q.Data["id"].(string)
	data := req.Data()
	if len(data) == 0 {
		return map[string]any{id: req.Text()}
	}
	if m, ok := data[0].(map[string]any); ok && len(m) == 1 {
		if answers, ok := m["answers"].(map[string]any); ok {
			return answers
		}
	}
	return map[string]any{id: data[0]}
}

// among is errors.Is for an error that may be anything a node returned.
func among(err, target error) (found bool) {
	errtree.Walk(err, func(e error) bool {
		found = found || e == target //nolint:errorlint // one node of a walk; the target is comparable, and so is what equals it
		return !found
	})
	return found
}

// allOf asks the first question, and keeps what the others want to find again.
func allOf(asks []*hitl.Interrupt) error {
	all := make([]error, len(asks))
	for i, ask := range asks {
		all[i] = ask
	}
	return errors.Join(all...)
}

func (f *FlowRunner[S]) park(id string) {
	if f.parked != nil {
		f.parked.add(id)
	}
}

// forget removes a run whose task has ended. An error leaves the run behind,
// which its store's own retention must take care of.
func (f *FlowRunner[S]) forget(ctx context.Context, id string) {
	_ = f.store.Delete(context.WithoutCancel(ctx), id)
}

// Release forgets the run of a task that ended while it was parked.
func (f *FlowRunner[S]) Release(ctx context.Context, taskID string) {
	if f.parked != nil {
		f.parked.remove(f.runID(taskID))
	}
	f.forget(ctx, f.runID(taskID))
}

// keptOf are the artifacts of a run that failed: its own, then those of the
// nested run in which it failed.
func keptOf(outputs []flow.Output, err error) []Artifact {
	kept := artifactsOf("", outputs)
	e, ok := errtree.As[*flow.NodeError](err)
	if !ok {
		return kept
	}
	for path := e.Node + "/"; e.Inner() != nil; path += e.Node + "/" {
		e = e.Inner()
		kept = append(kept, artifactsOf(path, e.Outputs)...)
	}
	return kept
}

// artifactsOf makes each output an artifact, named after its node.
func artifactsOf(path string, outputs []flow.Output) []Artifact {
	var out []Artifact
	for _, o := range outputs {
		if o.NoArtifact {
			continue
		}
		about := map[string]any{"node": path + o.Node, "kind": o.Kind}
		if o.Visit > 1 {
			about["visit"] = o.Visit
		}
		out = append(out, Artifact{Name: path + o.Node, Parts: []stream.Part{partOf(o.Value)}, Metadata: about})
	}
	return out
}

func partOf(v any) stream.Part {
	switch v := v.(type) {
	case string:
		return stream.TextPart(v)
	case []byte:
		return stream.FilePart(stream.File{Bytes: v})
	case stream.File:
		return stream.FilePart(v)
	case *stream.File:
		if v != nil {
			return stream.FilePart(*v)
		}
	}
	return stream.DataPart(v)
}

// failureOf classifies a flow's error with the server's table, to add how often
// its nodes were retried.
func failureOf(ctx context.Context, err error, retries int) error {
	if retries == 0 {
		return err
	}
	e := errcode.TableFrom(ctx).Convert(err)
	if retries <= e.Retried() {
		return err
	}
	return e.With(errcode.Retried(retries))
}
