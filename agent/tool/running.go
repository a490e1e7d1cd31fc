package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// running is one call of a tool in a goroutine of its own, so that whatever the
// tool does (it panics, exits, never returns) it ends in time. It is the context
// of the call, too: done when its parent is, when its time is over, and when it
// has ended. What that takes is made when somebody asks for it, for most tools
// have answered before anybody could.
type running struct {
	context.Context //nolint:containedctx // the parent: this is a context
	g               *guarded
	strikes         *strikes
	permit          *permit
	args            json.RawMessage
	prepared        func(context.Context) (Output, error) // nil where the tool decodes the arguments
	result          outcome[Output]                       // the tool's own until it has returned

	mu       sync.Mutex
	ended    bool            // the tool has returned
	done     chan struct{}   // closed then; nil until somebody waits
	deadline time.Time       // see until
	real     context.Context //nolint:containedctx // it is what this stands for; nil until it is asked for
	cancel   context.CancelFunc
	over     bool
}

// run calls the tool and waits for it, no longer than it may take.
func (r *running) run() outcome[Output] {
	if r.prepared == nil {
		if err := r.prepare(); err != nil {
			return outcome[Output]{err: err}
		}
	}
	defer r.end()
	go r.call()
	runtime.Gosched() // most tools are done then, and need neither timer nor channel
	if done, deadline := r.awaited(); done != nil {
		return r.timely(r.wait(done, deadline))
	}
	return r.timely(r.result)
}

// awaited is what is closed when the tool has returned, nil if it has, and when
// its time is over.
func (r *running) awaited() (done <-chan struct{}, deadline time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, deadline
	}
	r.done = make(chan struct{})
	return r.done, r.until()
}

// until is when the time of the call is over, zero for never. It runs from when
// somebody first asks, which is as soon as the tool is waited for. The caller holds mu.
func (r *running) until() time.Time {
	if r.deadline.IsZero() && r.g.timeout > 0 {
		r.deadline = time.Now().Add(r.g.timeout)
	}
	return r.deadline
}

// returned notes that the tool has returned.
func (r *running) returned() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.done != nil {
		close(r.done)
	}
}

// prepare decodes the arguments here, where there is room on the stack, unless
// that may call code of the user's.
func (r *running) prepare() (err error) {
	defer func() {
		if v := recover(); v != nil { // a validate tag that makes no sense
			err = errcode.NewPanicError(v, debug.Stack())
		}
	}()
	if t, ok := r.g.tool.(*funcTool); ok && t.prompt {
		r.prepared, err = t.prepare(r.args)
	}
	return err
}

// wait waits for the tool.
func (r *running) wait(done <-chan struct{}, deadline time.Time) outcome[Output] {
	var expired <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-done:
		return r.result
	case <-expired:
	case <-r.Context.Done():
	}
	return r.late(done)
}

// timely makes whatever failed because the call's time was over a timeout. What a
// tool says all the same counts, as its result does.
func (r *running) timely(o outcome[Output]) outcome[Output] {
	if o.err == nil || r.Err() == nil || r.Context.Err() != nil || isWord(o.err) {
		return o
	}
	return outcome[Output]{err: fmt.Errorf("tool %s gave no answer within %v: %w",
		line(r.g.spec.Name), r.g.timeout, context.DeadlineExceeded)}
}

// isWord reports whether an error is a question, an error result or a panic, which
// is never for want of time.
func isWord(err error) bool {
	_, told := errtree.As[*resultError](err)
	_, panicked := errtree.As[*errcode.PanicError](err)
	return told || panicked || hitl.Find(err) != nil
}

// call is the goroutine of the tool.
func (r *running) call() {
	r.result.err = errExited
	defer r.returned()
	defer func() {
		if v := recover(); v != nil {
			r.result = outcome[Output]{err: errcode.NewPanicError(v, debug.Stack())}
		}
	}()
	if r.g.deep {
		makeRoom()
	}
	var out Output
	var err error
	if r.prepared != nil {
		out, err = r.prepared(r)
	} else {
		out, err = r.g.tool.Call(r, r.args)
	}
	r.result = outcome[Output]{out, err}
}

// late waits a little for a call whose time is over.
func (r *running) late(done <-chan struct{}) outcome[Output] {
	over := r.whole()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return r.result
	case <-t.C:
		<-over.Done() // at the latest now: its timer is as old as ours
		return outcome[Output]{err: context.Cause(over)}
	}
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.real != nil {
		r.cancel()
	}
}

// whole makes the context that this stands for.
func (r *running) whole() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wholeLocked()
}

func (r *running) wholeLocked() context.Context {
	if r.real != nil {
		return r.real
	}
	if deadline := r.until(); deadline.IsZero() {
		r.real, r.cancel = context.WithCancel(r.Context)
	} else {
		r.real, r.cancel = context.WithDeadline(r.Context, deadline)
	}
	if r.over {
		r.cancel()
	}
	return r.real
}

// Deadline implements context.Context.
func (r *running) Deadline() (time.Time, bool) {
	r.mu.Lock()
	own := r.until()
	r.mu.Unlock()
	d, ok := r.Context.Deadline()
	if own.IsZero() || ok && d.Before(own) {
		return d, ok
	}
	return own, true
}

// Done implements context.Context.
func (r *running) Done() <-chan struct{} { return r.whole().Done() }

// Err implements context.Context.
func (r *running) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	deadline := r.until()
	late := !deadline.IsZero() && !time.Now().Before(deadline)
	if r.real == nil && !r.over && !late && r.Context.Err() == nil {
		return nil
	}
	return r.wholeLocked().Err()
}

// Value implements context.Context. Package context looks for the parent of a
// context by it.
func (r *running) Value(key any) any {
	if w, ok := key.(within); ok && w.of == r.strikes {
		return r.permit
	}
	r.mu.Lock()
	whole := r.real
	r.mu.Unlock()
	if whole != nil {
		return whole.Value(key)
	}
	return r.Context.Value(key)
}
