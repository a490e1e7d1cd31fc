package executor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/finished"
	"github.com/a2aexec/a2aexec/internal/runscope"
	"github.com/a2aexec/a2aexec/stream"
)

// run is one execution of the agent's code for one message.
//
// Two goroutines work on it. The handler goroutine calls the user's code, and
// collapses what that came to into the outcome, which calls more of the user's
// code: texts of errors, rules of the table, the redactor, the logger. The
// host's goroutine (drive) forwards what the user writes and, when there is an
// outcome or none need be waited for any longer, ends the task. It calls
// nothing of the user's, so whatever that does (panics, exits its goroutine,
// never returns) the ending still goes out.
type run struct {
	*config
	task    *a2a.Task // the first event
	req     *agent.Request
	started time.Time
	ids     artifactIDs
	span    trace.Span

	published chan struct{}                // closed when the first event is stored
	publish   func()                       // closes published, once
	events    chan a2a.Event               // from the user's writes to drive
	done      chan *Outcome                // what the user's code came to; buffered
	kept      chan struct{}                // told each time that an event of the run was stored
	stopped   chan struct{}                // closed when drive takes no more events
	over      chan struct{}                // closed when the ending has been handed over, or is stored
	finish    func()                       // closes over, once
	gone      chan struct{}                // closed when the ending is stored
	left      func()                       // closes gone, once
	unpin     func()                       // lets the store forget the task
	keep      string                       // of the request, with the task; see RequestToKeep
	giveUp    func(context.Context, error) // stops it without an ending, see agentExecutor.lose
	moveOn    func()                       // tells the code's calls that the task goes on without it
	returned  func()                       // tells that the user's code has returned
	slot      bool                         // it counts as a run; guarded by the registry's lock
	output    atomic.Int64                 // bytes written so far
	active    atomic.Int64                 // when something was written last, as time since started
	work      *finished.Work               // what the agent's flows have finished
	lost      losses                       // what the user wrote and cannot be sent
	cancel    context.CancelCauseFunc      // stops the user's code, with the reason
	deaf      bool                         // its code did not return in time; known when drive has returned

	mu      sync.Mutex     // held while a writer is closed, which waits for what it has in hand to be stored
	control stream.Control // of the writer in use
	sealed  bool           // no further writer may be opened
	retried atomic.Int64   // how often Invoke ran in the place of Stream

	known      sync.Mutex    // guards what is known of the store, and is never held for long
	state      a2a.TaskState // as last stored
	question   string        // the id of the status message, likewise
	foreign    bool          // the task is another process's
	writing    int           // how many writes of the task to the store are under way
	writes     int           // how many have begun
	hostFailed *Outcome      // where the host has failed the task

	recovered bool // it goes on with the run of a process that died
}

func newRun(c *config, task *a2a.Task, req *agent.Request) *run {
	r := &run{
		config: c, task: task, req: req, started: time.Now(), ids: artifactIDs{}, work: &finished.Work{},
		published: make(chan struct{}),
		gone:      make(chan struct{}),
		events:    make(chan a2a.Event),
		done:      make(chan *Outcome, 1),
		kept:      make(chan struct{}, 1),
		stopped:   make(chan struct{}),
		over:      make(chan struct{}),
	}
	r.left = sync.OnceFunc(func() { close(r.gone) })
	r.finish = sync.OnceFunc(func() { close(r.over) })
	r.publish = sync.OnceFunc(func() { close(r.published) })
	return r
}

// awaitPublished waits until clients can find the task. It reports false when
// the host could not store it; no user code runs for such a task. The ctx is
// the host's, which ends then.
func (r *run) awaitPublished(ctx context.Context) bool {
	select {
	case <-r.published:
		return true
	case <-ctx.Done():
		r.finish()
		return false
	}
}

// wasStored is told that the host has stored the run's first event, or another.
func (r *run) wasStored() {
	select {
	case <-r.published:
		select {
		case r.kept <- struct{}{}:
		default:
		}
	default:
		r.publish()
	}
}

// drive runs the user's code and yields its events up to and with the ending.
// yield returning false means that the host takes no more. The host's context
// ends once the host has stored the ending, or cannot. It returns the outcome
// for the hooks.
func (r *run) drive(host, ctx context.Context, yield func(a2a.Event) bool) Outcome {
	ctx = r.work.NewContext(runscope.New(errcode.WithTable(ctx, r.table)))
	returned := make(chan struct{})
	go r.handle(ctx, returned)

	o, wrote, listening := r.forward(ctx, yield)
	close(r.stopped)
	closing := r.seal()
	switch {
	case !listening:
	case r.isLost():
		// No ending. The store refuses this, which is how the host learns that the run is over.
		yield(progressEvent(r.task.TaskInfo(), ""))
	default:
		o = r.conclude(ctx, ending{
			outcome: o, task: r.task, blocking: !r.req.Streaming(),
			wrote: wrote, closing: closing, ids: r.ids,
			work: r.work.Report(), fits: r.takes,
		}, yield)
	}
	r.finish()
	r.cancel(nil)
	r.deaf = !r.await(returned)
	<-host.Done()
	return r.asStored(o)
}

// forward passes the user's writes on until there is an outcome, the run is
// stopped, or its time is over. It reports whether it passed any, and whether
// the host still listens. It takes an event when the host has stored the one
// before: a burst waits where it is written, and not in front of the ending.
func (r *run) forward(ctx context.Context, yield func(a2a.Event) bool) (o Outcome, wrote, listening bool) {
	whole, idle := newAlarm(r.runTimeout), newAlarm(r.inactivity)
	defer whole.stop()
	defer idle.stop()
	events := r.events
	for {
		select {
		case <-r.kept:
			events = r.events
			r.beat()
		case ev := <-events:
			wrote, events = true, nil
			if !yield(ev) {
				r.cancel(errHostStopped)
				return r.stoppedBy(r.stopCause(ctx)), wrote, false
			}
		case o := <-r.done:
			switch {
			case ctx.Err() != nil:
				return r.stoppedBy(r.stopCause(ctx)), wrote, true
			case o == nil:
				return r.stoppedBy(errHandlerExited), wrote, true
			}
			return *o, wrote, true
		case <-ctx.Done():
			return r.stoppedBy(r.stopCause(ctx)), wrote, true
		case <-whole.c:
			return r.ranOut("run_timeout", r.runTimeout), wrote, true
		case <-idle.c:
			if left := r.untilIdle(events == nil); left > 0 {
				idle.timer.Reset(left)
				continue
			}
			return r.ranOut("inactivity_timeout", r.inactivity), wrote, true
		}
	}
}

// handle calls the user's code and sends the outcome, or nil when that code
// exited the goroutine: the deferred send happens even then.
func (r *run) handle(ctx context.Context, returned chan<- struct{}) {
	var o *Outcome
	defer func() {
		r.returned()
		r.done <- o
		close(returned)
	}()
	res, err := protect(ctx, r.req, r.code())
	if ctx.Err() != nil {
		r.logUnheard(ctx, err)
		return // somebody else has the last word
	}
	if r.interrupted(err) {
		r.giveUp(ctx, err)
		return
	}
	res, err = r.fit(r.plainly(res), err)
	settled := r.settle(ctx, res, err)
	o = &settled
}

// code is what runs for the request: the agent's, within the middleware.
func (r *run) code() RunFunc {
	if r.recovered && r.agent.RecoverFunc() == nil {
		return func(context.Context, *agent.Request) (*agent.Result, error) { return nil, agent.ErrProcessRestarted }
	}
	return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		code := RunFunc(r.attempt)
		for _, mw := range slices.Backward(r.middleware) {
			code = mw(code)
		}
		return code(ctx, req)
	}
}

// protect calls code and turns a panic into an error.
func protect(ctx context.Context, req *agent.Request, code RunFunc) (res *agent.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, errcode.NewPanicError(v, debug.Stack())
		}
	}()
	return code(ctx, req)
}

// attempt calls the agent's Stream or Invoke, and Invoke after a Stream that
// failed before its first chunk.
func (r *run) attempt(ctx context.Context, req *agent.Request) (*agent.Result, error) {
	invoke, streamed := r.agent.InvokeFunc(), r.agent.StreamFunc()
	if r.recovered {
		invoke, streamed = nil, r.agent.RecoverFunc()
	}
	if streamed != nil && (req.Streaming() || invoke == nil) {
		res, err := r.call(ctx, func(ctx context.Context, w *stream.Writer) (*agent.Result, error) {
			return streamed(ctx, req, w)
		})
		if err == nil || invoke == nil || !r.mayFallBack(ctx, err) {
			return res, err
		}
		r.log(ctx, "stream failed before its first chunk, falling back to invoke", err)
	}
	return r.call(ctx, func(ctx context.Context, _ *stream.Writer) (*agent.Result, error) {
		return invoke(ctx, req)
	})
}

// call runs one of the agent's functions with a writer of its own, unless an
// earlier one has sent anything: no part is ever sent twice.
func (r *run) call(ctx context.Context, f func(context.Context, *stream.Writer) (*agent.Result, error)) (*agent.Result, error) {
	w, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	ctx = hitl.WithAsker(stream.NewContext(agent.NewContext(ctx, r.req), w), r.req.Asker())
	return protect(ctx, r.req, func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		return f(ctx, w)
	})
}

// open closes the writer in use and gives a new one.
func (r *run) open(ctx context.Context) (*stream.Writer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closeWriter() {
		return nil, errOutputSent
	}
	if r.sealed {
		return nil, context.Cause(ctx)
	}
	w, control := stream.NewBuffered(sink{r}, r.buffer)
	r.control = control
	return w, nil
}

// closeWriter closes the writer in use and reports whether it had sent any
// chunk. The caller holds the lock.
func (r *run) closeWriter() bool {
	if r.control == (stream.Control{}) {
		return false
	}
	wrote, _ := r.control.Close()
	return wrote
}

// mayFallBack decides whether Invoke may run after Stream failed with err, and
// closes Stream's writer so that nothing can be sent twice.
func (r *run) mayFallBack(ctx context.Context, err error) bool {
	if ctx.Err() != nil || hitl.Find(err) != nil || inFlow(err) {
		return false
	}
	if r.table.Classify(err).Code.Never() {
		return false // running again cannot help
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closeWriter() {
		return false
	}
	r.retried.Add(1)
	return true
}

// inFlow reports whether a node of a flow failed: a flow is one run, whichever
// way it is called, and does not fall back to itself.
func inFlow(err error) (yes bool) {
	errtree.Walk(err, func(e error) bool {
		_, yes = e.(interface{ ErrorNode() (id, kind string) })
		return !yes
	})
	return yes
}

// seal closes the writer in use and lets no other be opened.
func (r *run) seal() (closing []stream.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	if r.control != (stream.Control{}) {
		_, closing = r.control.Close()
	}
	for _, c := range closing {
		r.lose(c)
	}
	return closing
}

// lose notes what is lost of a chunk.
func (r *run) lose(c stream.Chunk) {
	r.lost.add(c.Dropped)
	for _, p := range c.Parts {
		r.lost.add(p.Dropped())
	}
}

// await gives the user's code the grace period to return, and reports whether it
// has.
func (c *config) await(returned <-chan struct{}) bool { return c.awaitFor(returned, c.grace) }

func (c *config) awaitFor(returned <-chan struct{}, limit time.Duration) bool {
	select {
	case <-returned:
		return true
	default:
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-returned:
		return true
	case <-t.C:
		c.abandoned.Add(1)
		return false
	}
}

// sink turns the user's writes into events, one at a time.
type sink struct{ r *run }

// Chunk implements stream.Sink.
func (s sink) Chunk(c stream.Chunk) error {
	s.r.lose(c)
	return s.send(s.r.ids.event(s.r.task.TaskInfo(), c))
}

// Progress implements stream.Sink.
func (s sink) Progress(text string) error {
	return s.send(progressEvent(s.r.task.TaskInfo(), text))
}

func (s sink) send(ev a2a.Event) error {
	select {
	case s.r.events <- ev:
		return nil
	case <-s.r.stopped:
		return stream.ErrClosed
	}
}

func newCorrelationID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}
