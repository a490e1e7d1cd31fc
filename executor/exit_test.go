package executor_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// exiting is an interceptor that ends its goroutine.
type exiting struct {
	a2asrv.PassthroughCallInterceptor
	after bool
}

func (e exiting) Before(ctx context.Context, _ *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	if !e.after {
		runtime.Goexit()
	}
	return ctx, nil, nil
}

func (e exiting) After(context.Context, *a2asrv.CallContext, *a2asrv.Response) error {
	if e.after {
		runtime.Goexit()
	}
	return nil
}

// TestHooksThatEndTheirGoroutine: a hook that called runtime.Goexit took the
// answer with it: over HTTP the connection was closed, over gRPC the client
// waited for ever.
func TestHooksThatEndTheirGoroutine(t *testing.T) {
	t.Parallel()
	good := executor.VerifierFunc(func(context.Context, string) (executor.Identity, error) {
		return executor.Identity{User: "alice"}, nil
	})
	bad := executor.VerifierFunc(func(context.Context, string) (executor.Identity, error) {
		runtime.Goexit()
		return executor.Identity{}, nil
	})
	all := []request{
		{op: "SendMessage", params: say("hi", nil)},
		{op: "SendStreamingMessage", params: say("hi", nil)},
		{op: "ListTasks", params: map[string]any{}},
		{op: "GetExtendedAgentCard", params: map[string]any{}},
	}
	card := func(_ context.Context, _ agent.User, public *a2a.AgentCard) (*a2a.AgentCard, error) {
		return public, nil
	}
	for name, c := range map[string]struct {
		opts     []executor.Option
		validate bool
		requests []request
	}{
		"BearerAuth": {[]executor.Option{executor.BearerAuth(bad), executor.ExtendedCard(card)}, false, all},
		"Authorize": {[]executor.Option{executor.BearerAuth(good), executor.ExtendedCard(card), executor.Authorize(func(context.Context, agent.User, string) error {
			runtime.Goexit()
			return nil
		})}, false, all},
		"Interceptors before": {[]executor.Option{executor.BearerAuth(good), executor.ExtendedCard(card), executor.Interceptors(exiting{})}, false, all},
		"Interceptors after":  {[]executor.Option{executor.BearerAuth(good), executor.ExtendedCard(card), executor.Interceptors(exiting{after: true})}, false, all},
		"Validate":            {[]executor.Option{executor.BearerAuth(good)}, true, all[:2]},
		"ExtendedCard": {[]executor.Option{executor.BearerAuth(good), executor.ExtendedCard(func(context.Context, agent.User, *a2a.AgentCard) (*a2a.AgentCard, error) {
			runtime.Goexit()
			return nil, nil
		})}, false, all[3:]},
	} {
		a := conforming(nil)
		if c.validate {
			a = agent.New("conforming", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
				return agent.Text("ok"), nil
			}), agent.Validate(func(context.Context, *agent.Request) error {
				runtime.Goexit()
				return nil
			}))
		}
		w := serve(t, a, c.opts...)
		for _, req := range c.requests {
			req.header = map[string]string{"Authorization": "Bearer x"}
			row{
				name: name + "/" + req.op, request: req, reason: "INTERNAL_ERROR", message: "Internal error.",
				check: func(t *testing.T, _ reply) {
					t.Helper()
					if !strings.Contains(w.log.String(), "runtime.Goexit") {
						t.Errorf("the log does not tell: %s", w.log)
					}
				},
			}.run(t, w)
		}
	}
}
