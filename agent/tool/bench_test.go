package tool_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/agent/tool"
)

// BenchmarkGuard compares a call through the guard with one of the bare tool, and
// with the least that lets a call be left behind: a context with a timeout and a
// goroutine.
func BenchmarkGuard(b *testing.B) {
	free := tool.Func("free", "", func(context.Context, map[string]any) (string, error) { return "fine", nil })
	typed := tool.Func("typed", "", func(_ context.Context, in account) (string, error) { return in.ID, nil })
	for _, c := range []struct {
		name string
		tool tool.Tool
		args string
	}{{"none", nothing{}, ``}, {"free", free, `{}`}, {"typed", typed, `{"account_id":"4711","amount":12}`}} {
		guarded, err := tool.Guard(c.tool)
		if err != nil {
			b.Fatal(err)
		}
		for kind, called := range map[string]tool.Tool{"bare": c.tool, "floor": bounded{c.tool}, "guarded": guarded} {
			b.Run("tool="+c.name+"/"+kind, func(b *testing.B) {
				ctx := tool.WithRequest(b.Context())
				b.ReportAllocs()
				args := json.RawMessage(c.args)
				for b.Loop() {
					if out, err := called.Call(ctx, args); err != nil || out.IsError {
						b.Fatal(out, err)
					}
				}
			})
		}
	}
}

// bounded waits for a tool no longer than it wants to.
type bounded struct{ tool.Tool }

func (b bounded) Call(ctx context.Context, args json.RawMessage) (out tool.Output, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = b.Tool.Call(ctx, args)
	}()
	select {
	case <-done:
		return out, err
	case <-ctx.Done():
		return tool.Output{}, ctx.Err()
	}
}

// nothing is the least that a tool can do.
type nothing struct{}

func (nothing) Spec() tool.Spec { return tool.Spec{Name: "nothing"} }

func (nothing) Call(context.Context, json.RawMessage) (tool.Output, error) {
	return tool.Output{Text: "fine"}, nil
}
