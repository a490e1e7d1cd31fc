package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/internal/leftover"
	"github.com/a2aexec/a2aexec/stream"
)

// Call sends a message and waits for the end of the remote's work. Nothing is
// forwarded. The answer is never nil; beside an error it has what came before.
//
// A message that the remote may have received is not sent again, see [Retry] and
// [ErrOutcomeUnknown].
//
// The error is an errcode.Error of the remote's failure, or of what kept it
// from answering; a hitl.Interrupt where the remote asks, to be returned like
// that of hitl.Ask; or one of what ended ctx. Those of this package's own are
// UPSTREAM_UNAVAILABLE (remote_stream_ended, remote_answer_invalid,
// remote_answer_too_large, remote_card_invalid, remote_redirected,
// remote_task_canceled, circuit_open), UPSTREAM_TIMEOUT (remote_idle,
// remote_timeout) and INTERNAL_ERROR (remote_question_lost; remote_task_failed of
// a failed task that does not say why in data). A remote that declines the task
// answers: see [Answer].
func (a *Agent) Call(ctx context.Context, m Message, opts ...CallOption) (*Answer, error) {
	return a.newCall(ctx, m, opts).run(ctx, nil)
}

// Stream is [Agent.Call] that forwards what comes, as it comes, to the stream
// of the run that ctx belongs to: text, data and files, each remote artifact as
// one of its own, with their metadata, and progress. [Answer.Result] does not repeat it. Outside of a
// run it is Call.
func (a *Agent) Stream(ctx context.Context, m Message, opts ...CallOption) (*Answer, error) {
	w, _ := stream.FromContext(ctx)
	return a.newCall(ctx, m, opts).run(ctx, w)
}

// call is one call, with all its attempts.
type call struct {
	*Agent
	key, id   string // of its question; the id is the asker's
	otherKey  string // what key may have been in the run that began the task
	claims    *claims
	contextID string
	said      outgoing
	reply     []stream.Part // the caller's own words for an answer; nil for what the asker knows
	table     *errcode.Table
	span      trace.Span
	out       *output
	parked    *memo // the remote task that an earlier run left
	attempts  int

	way           *wire
	delivery      *delivery
	again         bool           // nothing was received, it may be repeated
	lost          *errcode.Error // the last attempt's failure, where there are more
	task, context string         // the remote's, once known
	begun         bool           // the remote has begun something
	mute          bool           // it cannot stream
	state         state
	note          string
}

func (a *Agent) newCall(ctx context.Context, m Message, opts []CallOption) *call {
	c := &call{Agent: a, table: errcode.TableFrom(ctx), claims: claimsOf(ctx), delivery: &delivery{}}
	req, inRun := agent.FromContext(ctx)
	if inRun {
		c.contextID = req.ContextID()
	}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(c)
		}
	}
	if c.key == "" {
		c.key = a.keyOf(m)
		if inRun {
			if first, ok := atFirst(req, m); ok {
				c.otherKey = a.keyOf(first)
			}
		}
	}
	c.said = outgoing{Message: m, id: newMessageID(), context: c.contextID}
	return c
}

// keyOf is the key of a call that was given none.
func (a *Agent) keyOf(m Message) string {
	return "remote/" + a.identity() + "/" + fingerprint(m)
}

func (c *call) run(ctx context.Context, w *stream.Writer) (answer *Answer, err error) {
	if c.whole > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.whole, errTimeout)
		defer cancel()
	}
	ctx = c.startSpan(ctx)
	defer func() { c.endSpan(err) }()
	if err := c.recall(ctx); err != nil {
		return &Answer{}, c.fail(err)
	}
	failed := error(errNoVerdict) // also where the caller's stream panics
	defer func() {
		c.settle(failed)
		c.noteLeft(ctx)
	}()
	c.out = newOutput(w, c.maxBytes, c.parked.forwarded())
	err = c.repeat(ctx)
	failed = err
	return c.answer(), err
}

func (c *call) answer() *Answer {
	return &Answer{
		Artifacts: c.out.artifacts(), Note: c.note, Rejected: c.state == rejected,
		TaskID: c.task, ContextID: c.context, forwarded: c.out.w != nil,
	}
}

// longestWait is how long a remote may have a call wait before a request is
// repeated.
const longestWait = 30 * time.Second

// policy is how what failed for now is repeated.
func (c config) policy() []retry.Option {
	return append([]retry.Option{retry.MaxWait(longestWait)}, c.retry...)
}

// repeat makes attempts as long as they fail before the remote has received
// anything, or with its refusal.
func (c *call) repeat(ctx context.Context) error {
	final, err := retry.Do(ctx, func(ctx context.Context) (final, again error) {
		c.again = false
		err := c.attempt(ctx)
		switch {
		case isOpen(err) && c.lost != nil:
			return c.lost, nil // says more
		case err == nil || !c.again || ctx.Err() != nil:
			return err, nil
		}
		errors.As(err, &c.lost)
		return nil, err
	}, c.policy()...)
	var failure *errcode.Error
	switch {
	case err != nil && ctx.Err() != nil:
		c.leave(ctx)
		return c.stopped(ctx)
	case err != nil:
		return err
	case c.attempts > 1 && errors.As(final, &failure):
		return failure.With(errcode.Retried(min(math.MaxInt32, failure.Retried()+c.attempts-1)))
	}
	return final
}

// attempt is one try, from the remote's card to the end of what it says.
func (c *call) attempt(ctx context.Context) error {
	report, err := c.circuit.allow()
	if err != nil {
		return c.fail(err)
	}
	c.attempts++
	c.delivery = &delivery{}
	verdict := error(errNoVerdict)
	defer func() { report(verdict) }()
	defer c.leave(ctx) // also where the caller's stream panics
	l := newLifeline(ctx, c.idle, c.farewell)
	defer l.end()
	rctx, notes := withNotes(l.ctx)

	err = c.converse(rctx, l) //nolint:contextcheck // a lifeline outlives ctx for a moment
	var lost *lostError
	switch {
	case !errors.As(err, &lost):
		verdict = nil
		return err
	case ctx.Err() != nil:
		return c.stopped(ctx)
	}
	failure := lost.failure
	if failure == nil {
		failure = c.broken(lost.err, context.Cause(l.ctx), notes) //nolint:contextcheck // as above
	}
	verdict = verdictOf(failure)
	if lost.failure == nil {
		if ended, err := c.overhear(ctx); ended {
			return err
		}
	}
	return c.weigh(failure, lost.err, notes)
}

// lostError says that the remote did not say all it had to.
type lostError struct {
	err     error
	failure *errcode.Error // what that means, where it is known; nothing helps then
}

func (e *lostError) Error() string { return e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

// converse speaks with the remote until it has said how it ends. An error is
// what that came to, or a lostError.
func (c *call) converse(ctx context.Context, l *lifeline) error {
	way, err := c.reach(ctx)
	if err != nil {
		return &lostError{err: err}
	}
	c.way = way
	said, atWork := c.said, false
	if c.parked != nil {
		ended, err := c.resume(ctx, &said, &atWork)
		if ended || err != nil {
			return err
		}
	}
	var lost error
	if !atWork {
		ended, err := c.hear(l, c.say(ctx, said))
		if ended || !c.mayReadOn(ctx, err) {
			return err
		}
		lost = err
	}
	return c.readOn(ctx, l, lost)
}

// hear takes what the remote says. It gives a lostError where that ends before
// the remote's work does.
func (c *call) hear(l *lifeline, source iter.Seq2[event, error]) (ended bool, err error) {
	for ev, err := range source {
		if err != nil {
			return false, &lostError{err: err}
		}
		l.pause()
		if ended, err := c.take(ev, l.learn); ended || err != nil {
			return ended, err
		}
		l.beat()
	}
	return false, &lostError{err: errStreamEnded}
}

// take is told what the remote says. An error is that of the call.
func (c *call) take(ev event, learned func()) (ended bool, err error) {
	if err := c.check(ev); err != nil {
		return false, &lostError{err: err}
	}
	c.begun = true
	if ev.task != "" {
		c.task = ev.task
		learned()
	}
	if ev.context != "" {
		c.context = ev.context
	}
	if c.parked.isOld(ev) {
		ev.state = working
	}
	if err := c.out.charge(ev); err != nil {
		return false, &lostError{err: err}
	}
	if ev.failure.Code() != errcode.GuardrailBlocked {
		if err := c.out.add(ev.pieces); errors.Is(err, errTooLarge) {
			return false, &lostError{err: err}
		} else if err != nil {
			return false, fmt.Errorf("forward answer: %w", err)
		}
	}
	c.state = ev.state
	return ev.state.over(), c.conclude(ev)
}

// check tells what is of the call's task from what is of another.
func (c *call) check(ev event) error {
	if c.task != "" && ev.task != "" && ev.task != c.task {
		return &eventError{text: fmt.Sprintf("an answer of the task %.60q instead of %.60q", ev.task, c.task)}
	}
	if c.context != "" && ev.context != "" && ev.context != c.context {
		return &eventError{text: fmt.Sprintf("an answer in the conversation %.60q instead of %.60q", ev.context, c.context)}
	}
	return nil
}

// conclude makes of a state what it means to the caller.
func (c *call) conclude(ev event) error {
	switch ev.state {
	case working:
		if err := c.out.progress(ev.status); err != nil {
			return fmt.Errorf("forward progress: %w", err)
		}
		return nil
	case completed, rejected:
		c.note = ev.status.text
		return nil
	case canceled:
		return c.fail(errCanceled)
	case inputRequired, authRequired:
		return c.question(ev)
	default:
		if ev.failure == nil {
			return nil
		}
		c.out.dropIf(ev.failure)
		return c.fail(ev.failure)
	}
}

// overhear looks whether a task whose agent says nothing more, or nothing that
// can be taken, has ended all the same.
func (c *call) overhear(ctx context.Context) (ended bool, err error) {
	if !c.begun || c.task == "" || c.farewell == 0 {
		return false, nil
	}
	rctx, cancel := context.WithTimeout(ctx, c.farewell)
	defer cancel()
	ev, err := c.read(rctx)
	if err != nil || !ev.state.over() || c.check(ev) != nil {
		return false, nil
	}
	return c.take(ev, func() {})
}

// leave cancels a remote task that nobody waits for any longer. One that was
// parked before this call is left alone unless the caller is at an end, and is
// not where the caller's task goes on in another run, which finds it by the memo.
func (c *call) leave(ctx context.Context) {
	if c.way == nil || c.task == "" || c.state.over() || c.farewell == 0 || !c.begun && ctx.Err() == nil {
		return
	}
	if c.parked != nil && leftover.MovedOn(ctx) {
		return
	}
	c.state = canceled
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.farewell)
	defer cancel()
	if err := c.cancelTask(ctx, c.way, c.task); err != nil {
		c.noteCancel(err)
	}
}
