package tool

import (
	"context"
	"encoding/json"
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
func (g *guarded) patiently(ctx context.Context, s *strikes, t *ticket, args json.RawMessage) (Output, error) {
	waited, err := s.pause(ctx, g.maxWait)
	if err != nil {
		return Output{}, err
	}
	one := func(ctx context.Context, r *running) (o outcome[Output], limited bool) {
		r.Context, r.g, r.strikes, r.permit, r.args = ctx, g, s, &t.permit, args
		o = r.run() //nolint:contextcheck // r is one
		return o, o.err != nil && s.limited(ctx, o.err)
	}
	o, limited := one(ctx, &t.first)
	if !limited || g.maxWait == 0 {
		return o.out, o.err
	}
	first := true
	_, err = retry.Do(ctx, func(ctx context.Context) (Output, error) {
		if !first {
			o, limited = one(ctx, &running{})
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

// maxAttempts keeps a tool that asks for no delay at all from being called without end.
const maxAttempts = 30

// errExited is the error of a tool that ended its goroutine.
var errExited = errcode.New(errcode.Internal, "tool_exited", errcode.Message("A tool stopped without returning."))

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
