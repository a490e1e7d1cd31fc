package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/finished"
	"github.com/a2aexec/a2aexec/stream"
)

func (f *FlowRunner[S]) runID(taskID string) string { return taskID + "/" + f.flow.Name() }

// Stream is a [StreamFunc]: it runs the flow for req, or resumes it with the
// answer that req is.
func (f *FlowRunner[S]) Stream(ctx context.Context, req *Request, _ *stream.Writer) (*Result, error) {
	if _, asked := req.Question(); asked {
		return f.conduct(ctx, req, f.goOn)
	}
	return f.conduct(ctx, req, f.start)
}

// Recover is a [StreamFunc] for the option of that name: it goes on with a run
// whose process died. See [FlowRecover].
func (f *FlowRunner[S]) Recover(ctx context.Context, req *Request, _ *stream.Writer) (*Result, error) {
	return f.conduct(ctx, req, f.goOn)
}

// reached is how far a run has come.
type reached[S any] struct {
	flow.Result[S]
	err    error
	ask    error // what to ask instead of the run's own questions
	theirs bool  // somebody else goes on with the run
}

// conduct goes as far as the run goes, and makes the result of what it came to.
// What nodes have finished is for whoever ends the task, see package finished.
func (f *FlowRunner[S]) conduct(
	ctx context.Context, req *Request, advance func(context.Context, string, *Request) reached[S],
) (*Result, error) {
	id := f.runID(req.TaskID())
	kept := f.parked == nil // a store of the user's forgets when the ending is stored, see Release
	ctx = finished.Track(ctx, id)
	var got reached[S]
	defer func() { // not when user code panics or exits either
		stopped := ctx.Err() != nil && !f.recovers // nobody comes back to the task
		if (!kept || stopped) && !got.theirs {
			f.drop(ctx, id)
		}
	}()
	got = advance(ctx, id, req)
	if got.err != nil {
		return nil, failureOf(ctx, got.err, got.Retries())
	}
	kept = true
	finished.Keep(ctx)
	f.park(id) //nolint:contextcheck // it outlives the request
	switch {
	case got.ask != nil:
		return nil, got.ask
	case got.Paused():
		return nil, allOf(got.Asks())
	}
	res, err := f.finish(ctx, got.State)
	if err != nil && hitl.Find(err) == nil {
		return res, f.unfinished(ctx, got.Result, err)
	}
	return res, err
}

// options are those of a run.
func (f *FlowRunner[S]) options() []flow.RunOption {
	return append(slices.Clip(f.run), flow.WithStore(f.store), flow.Isolated())
}

// start runs the flow for a task's first message.
func (f *FlowRunner[S]) start(ctx context.Context, id string, req *Request) reached[S] {
	state, err := f.begin(ctx, req)
	if err == nil {
		err = context.Cause(ctx) // what begins now would outlive its task
	}
	if err != nil {
		return reached[S]{err: err}
	}
	return reach(f.flow.Run(ctx, id, state, f.options()...))
}

// reach notes what a run came to. Only the engine knows whether somebody else
// has saved the run: a node may return any error.
func reach[S any](res flow.Result[S], err error) reached[S] {
	got := reached[S]{Result: res, err: err}
	if e, failed := errtree.As[*flow.NodeError](err); failed && e != nil {
		got.theirs = e.Superseded()
	} else {
		got.theirs = among(err, flow.ErrConflict) || among(err, flow.ErrUnknownAsk)
	}
	return got
}

// goOn goes on with a run of the task: one that waits for what the message
// answers, or for something else, one that has finished, or one whose process
// died. One that has not begun begins.
func (f *FlowRunner[S]) goOn(ctx context.Context, id string, req *Request) reached[S] {
	if f.parked != nil {
		f.parked.remove(id)
	}
	res, err := f.load(ctx, id)
	q, _ := req.Question()
	switch {
	case among(err, flow.ErrUnknownRun) && (isOf(id, q) || wasKept(req.in.Task, id)):
		return reached[S]{err: errcode.New(errcode.NotFound, "flow_run_expired", errcode.Cause(err),
			errcode.Message("The question was asked too long ago; please start again."))}
	case among(err, flow.ErrUnknownRun):
		return f.start(ctx, id, req)
	case err != nil:
		return reach(res, err)
	}
	answers, wrong := answersOf(id, q, req, res.Asks())
	if len(wrong) > 0 {
		return reached[S]{Result: res, ask: askAgain(res.Asks(), wrong)}
	}
	opts := f.options()
	for ask, value := range answers {
		opts = append(opts, flow.Answer(ask, value))
	}
	got := reach(f.flow.Resume(ctx, id, opts...))
	if _, failed := errtree.As[*flow.NodeError](got.err); !failed && among(got.err, flow.ErrFinished) {
		return reached[S]{Result: res}
	}
	return got
}

// load reads a run. A store that fails is asked again: the run of a task that
// fails is lost.
func (f *FlowRunner[S]) load(ctx context.Context, id string) (res flow.Result[S], err error) {
	const most, first = 3, 50 * time.Millisecond
	for try := range most {
		res, err = f.flow.Load(ctx, id, f.options()...)
		store, ok := errtree.As[*flow.StoreError](err)
		if !ok || store.Op != "load" || among(err, flow.ErrUnknownRun) || try == most-1 {
			break
		}
		select {
		case <-time.After(first << try):
		case <-ctx.Done():
			return res, err
		}
	}
	return res, err
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

// drop forgets a run, parked or not.
func (f *FlowRunner[S]) drop(ctx context.Context, id string) {
	if f.parked != nil {
		f.parked.remove(id)
	}
	finished.Drop(ctx, id)
	f.forget(ctx, id)
}

// forget removes a run whose task has ended. An error leaves the run behind,
// which its store's own retention must take care of.
func (f *FlowRunner[S]) forget(ctx context.Context, id string) {
	_ = f.store.Delete(context.WithoutCancel(ctx), id)
}

// Release forgets the run of a task that has ended.
func (f *FlowRunner[S]) Release(ctx context.Context, taskID string) { f.drop(ctx, f.runID(taskID)) }
