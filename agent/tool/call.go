package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

// outcome is what a call came to.
type outcome[T any] struct {
	out T
	err error
}

// patiently calls the tool, and again after it has said that too much is asked
// of it. What it has said to another call of the request is obeyed, too.
func (g *guarded) patiently(ctx context.Context, s *strikes, args json.RawMessage) (Output, error) {
	waited, err := s.pause(ctx, g.maxWait)
	if err != nil {
		return Output{}, err
	}
	o, limited := g.counted(ctx, s, args)
	if !limited || g.maxWait == 0 {
		return o.out, o.err
	}
	first := true
	_, err = retry.Do(ctx, func(ctx context.Context) (Output, error) {
		if !first {
			o, limited = g.counted(ctx, s, args)
		}
		first = false
		if limited {
			return Output{}, o.err
		}
		return o.out, nil // whatever else it is, it is not for here
	}, retry.MaxAttempts(maxAttempts), retry.Budget(max(1, g.maxWait-waited)), retry.InitialDelay(time.Second))
	if err != nil {
		return Output{}, err
	}
	return o.out, o.err
}

// counted calls the tool once, and notes its word that too much is asked of it.
func (g *guarded) counted(ctx context.Context, s *strikes, args json.RawMessage) (o outcome[Output], limited bool) {
	o = g.once(ctx, args)
	if o.err == nil {
		return o, false
	}
	class := errcode.TableFrom(ctx).Classify(o.err)
	if class.Code != errcode.RateLimited {
		return o, false
	}
	s.slow(o.err, class.RetryAfter)
	return o, true
}

// maxAttempts keeps a tool that asks for no delay at all from being called without end.
const maxAttempts = 30

// errExited is the error of a tool that ended its goroutine.
var errExited = errcode.New(errcode.Internal, "tool_exited", errcode.Message("A tool stopped without returning."))

// once calls the tool within its time.
func (g *guarded) once(ctx context.Context, args json.RawMessage) outcome[Output] {
	call, cancel := g.bounded(ctx)
	defer cancel()
	return g.timely(ctx, call, apart(call, errExited, func() (Output, error) { return g.tool.Call(call, args) }))
}

// apart calls f in a goroutine of its own, so that whatever it does (it panics,
// exits, never returns) it ends in time: what does not listen to ctx is left
// behind. The error exited is for what ended its goroutine.
func apart[T any](ctx context.Context, exited error, f func() (T, error)) outcome[T] {
	done := make(chan outcome[T], 1)
	go func() {
		o := outcome[T]{err: exited}
		defer func() {
			if v := recover(); v != nil {
				o = outcome[T]{err: errcode.NewPanicError(v, debug.Stack())}
			}
			done <- o
		}()
		makeRoom()
		out, err := f()
		o = outcome[T]{out, err}
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
		return late(ctx, done)
	}
}

// makeRoom grows the stack of a new goroutine while there is little on it to be
// moved. Growing it step by step below a JSON decoder costs more than the rest of
// the guard.
//
//go:noinline
func makeRoom() {
	var room [4 << 10]byte
	runtime.KeepAlive(&room)
}

func (g *guarded) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, g.timeout)
}

// grace is how long a call that was cancelled may take to return before it is
// left behind.
const grace = time.Second

// late waits a little for a call whose time is over.
func late[T any](call context.Context, done <-chan outcome[T]) outcome[T] {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case o := <-done:
		return o
	case <-t.C:
		return outcome[T]{err: context.Cause(call)}
	}
}

// timely makes whatever failed because the call's time was over a timeout.
func (g *guarded) timely(ctx, call context.Context, o outcome[Output]) outcome[Output] {
	if o.err == nil || call.Err() == nil || ctx.Err() != nil {
		return o
	}
	return outcome[Output]{err: fmt.Errorf("tool %s gave no answer within %v: %w",
		line(g.spec.Name), g.timeout, context.DeadlineExceeded)}
}
