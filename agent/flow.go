package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2aexec/a2aexec/flow"
)

// Flow makes an agent of a flow. For a task's first message begin makes the
// flow's state of the request; when the flow has ended well, finish makes the
// result of its state. Both may fail like any agent's code, and ask with
// hitl.Ask: begin is called again with the message that answers it
// ([Request.Original] is still the first one), and finish with the state of the
// flow, of which no node runs again.
//
//   - When the task fails or is canceled, the outputs of the nodes that have
//     finished become its artifacts before, and a failure names the node and
//     them (data.node, data.flow.completedNodes): whether a node failed, finish
//     did or panicked, or the run was stopped, by a timeout or a shutdown, and
//     even if its code has not returned. A node in a loop has an artifact for
//     each visit. So has what finished within nested flows of nodes that have
//     not, with its node's path as the name. A guardrail discards them.
//   - A node streams through the writer in its context, and asks with hitl.Ask:
//     the task is parked, and the next message resumes the same run with the
//     answer, without running completed nodes again. The answer is the message's
//     first data part, its text without one; where several nodes ask, a data
//     part of the form {"answers": {ID: value}} answers them at once, by the ids
//     in the questions' data parts, and otherwise one is asked after the other.
//     Where that form names a question that is not open, nothing is answered:
//     the questions are asked again, with what is wrong under "violations". With
//     one open question whose id is not named, the data are its answer.
//   - It is one run whichever way it is called: there is no fallback, and
//     [Invoke] and [Stream] beside it are faults.
//
// The run's id is the task's id and the flow's name. A run is forgotten when
// its task has ended; see [FlowParked] for one that nobody answers. A run that
// has finished is kept until then, for finish to ask and for other flows of the
// task; [flow.DeleteOnSuccess] forgets it at once, and the flow begins again
// with the next message.
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
// One task may run several flows of different names, and ask questions of its own:
// a message that answers somebody else's question begins a flow which has not
// begun, leaves one that waits where it is, and gives the result of one that has
// finished. What the nodes of all of them have finished becomes artifacts of a
// task that fails or is canceled, so it is not in the result that comes with an
// error. It is safe for concurrent use. See [Flow].
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
// how many runs, and how long each. Finished runs of tasks that go on count,
// too. One that is forgotten fails with NOT_FOUND,
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
