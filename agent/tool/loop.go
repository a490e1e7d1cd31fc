package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/runscope"
	"github.com/a2aexec/a2aexec/stream"
)

// Loop lets a model call tools until it has an answer. It is immutable and
// safe for concurrent use.
type Loop struct {
	loopSettings
	model Model
	tools map[string]*guarded
	specs []Spec
	names string // of the tools, for the model
}

// NewLoop makes a loop of a model and tools, which it guards (see [Guard])
// unless they are. The error tells all that is wrong with the arguments: no
// model, a bad option, a bad tool, two tools of one name.
func NewLoop(m Model, tools []Tool, opts ...LoopOption) (*Loop, error) {
	s, err := newLoopSettings(opts)
	gs, errGuard := newGuardSettings(s.guard)
	errs := []error{err, errGuard}
	if m == nil {
		errs = append(errs, errors.New("model: expected one, got nil"))
	}
	l := &Loop{loopSettings: s, model: m, tools: map[string]*guarded{}}
	for _, t := range tools {
		errs = append(errs, l.add(t, gs))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("make tool loop: %w", err)
	}
	l.names = line(strings.Join(l.nameList(), ", "))
	return l, nil
}

func (l *Loop) add(t Tool, s guardSettings) error {
	g, err := guard(t, s)
	if err != nil {
		return err
	}
	if _, taken := l.tools[g.spec.Name]; taken {
		return fmt.Errorf("tool %q: there are two of that name", g.spec.Name)
	}
	l.tools[g.spec.Name] = g
	l.specs = append(l.specs, g.spec)
	return nil
}

func (l *Loop) nameList() []string {
	names := make([]string, len(l.specs))
	for i, s := range l.specs {
		names[i] = s.Name
	}
	return names
}

// Answer is how a run of a [Loop] ended well.
type Answer struct {
	// Text is the model's last word.
	Text string
	// Messages is the whole conversation, with what Run was given.
	Messages []Message
	// Usage is the sum over all answers of the model.
	Usage Usage
	// Iterations is how often the model was asked.
	Iterations int
}

// Run asks the model, calls the tools it wants, several at once, and asks
// again with their results, in the order of the calls, until it wants none.
//
// The model's text goes to the writer in ctx (stream.FromContext) as it comes,
// texts of several rounds with an empty line between them, so a handler need not
// return it again; see [Silent].
//
// A name that no tool has, and arguments that fit nothing, are told to the model.
// The errors: an [*errcode.Error] of the guard or of the model, an
// errcode.MaxToolIterationsError, a question of a tool (package hitl), the error of
// the writer, and the cause of ctx. When one call fails, the others are cancelled;
// Run returns when all have ended, with the first failure in the order of the
// calls, or else the questions joined, of which the first is asked.
//
// After the answer to a question the handler runs again from its start, but a
// conversation that began with the same messages goes on where it was: what had
// finished does not run again. The executor keeps up to 8 MiB of conversations
// with a parked task, what [Model] gives as Raw as JSON; one that is larger, or
// has no JSON, begins anew. Each call has questions of its own.
func (l *Loop) Run(ctx context.Context, messages ...Message) (*Answer, error) {
	if !runscope.In(ctx) {
		ctx = WithRequest(ctx)
	}
	r := &run{Loop: l, answer: &Answer{Messages: slices.Clone(messages)}, place: l.placeOf(ctx, messages)}
	if !l.silent {
		r.writer, _ = stream.FromContext(ctx)
	}
	if r.restore(ctx) {
		return r.answer, nil
	}
	err := r.converse(ctx)
	if err == nil || hitl.Find(err) != nil {
		r.keep(ctx, err == nil)
	} else if r.place != nil {
		numbersOf(ctx).undo(r.place.what, r.place.number) // for whoever tries again
	}
	if err != nil {
		return nil, err
	}
	return r.answer, nil
}

// converse asks the model and calls the tools until there is an answer.
func (r *run) converse(ctx context.Context) error {
	for calls := r.waiting; ; calls = nil {
		if len(calls) == 0 {
			res, err := r.ask(ctx)
			if err != nil {
				return err
			}
			if calls = res.Calls; len(calls) == 0 {
				r.answer.Text = res.Text
				return nil
			}
		}
		if r.answer.Iterations >= r.iterations {
			break // nobody would read the results
		}
		results, err := r.callAll(ctx, calls)
		if err != nil {
			return err
		}
		r.say(Message{Role: ToolResults, Results: results})
	}
	return &errcode.MaxToolIterationsError{Limit: r.iterations}
}

// Stream is Run for the message that began the task, and an agent's Stream
// function. The model reads its text, its data as JSON, and of its files the names
// and addresses:
//
//	agent.New("bank", agent.Stream(loop.Stream))
//
// A message that answers a tool's question is for that tool: the conversation
// goes on where it was.
func (l *Loop) Stream(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	began := agent.NewRequest(agent.RequestInfo{Message: req.Original()})
	a, err := l.Run(stream.NewContext(ctx, w), UserText(inWords(began)))
	if err != nil {
		return nil, err
	}
	if l.silent {
		return agent.Text(a.Text), nil
	}
	return nil, nil //nolint:nilnil // everything was streamed
}
