package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

// refusing is an interceptor that refuses everything.
type refusing struct {
	a2asrv.PassthroughCallInterceptor
	err error
}

func (r refusing) Before(ctx context.Context, _ *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	return ctx, nil, r.err
}

// TestHooksLimitRates: a hook that said "later" was told as 403 or as 500, so that
// nothing but messages could be limited.
func TestHooksLimitRates(t *testing.T) {
	t.Parallel()
	requests := map[string]map[string]any{
		"SendMessage": say("hi", nil), "SendStreamingMessage": say("hi", nil), "GetTask": {"id": "x"}, "ListTasks": {}, "CancelTask": {"id": "x"},
		"SubscribeToTask": {"id": "x"}, "GetExtendedAgentCard": {}, "ListTaskPushNotificationConfigs": {"taskId": "x"},
	}
	for name, c := range map[string]struct {
		err    error
		reason string
		retry  string
	}{
		"rate":        {errcode.New(errcode.RateLimited, "too_many", errcode.RetryAfter(1500*time.Millisecond), errcode.Message("Slow down.")), "RESOURCE_EXHAUSTED", "1.5s"},
		"down":        {fmt.Errorf("ask the ledger: %w", errcode.New(errcode.UpstreamUnavailable, "ledger", errcode.RetryAfter(3*time.Second), errcode.Message("Slow down."))), "UNAVAILABLE", "3s"},
		"another":     {errors.New("secret"), "", ""},
		"an internal": {errcode.New(errcode.Internal, "x", errcode.Message("secret")), "", ""},
	} {
		for hook, opt := range map[string]executor.Option{
			"Authorize":    executor.Authorize(func(context.Context, agent.User, string) error { return c.err }),
			"Interceptors": executor.Interceptors(refusing{err: c.err}),
		} {
			w := serve(t, conforming(nil), opt, pushesNothing)
			for op, params := range requests {
				r := row{name: hook + "/" + name + "/" + op, request: request{op: op, params: params}, reason: c.reason, retry: c.retry, message: "Slow down."}
				if id, ok := params["id"].(string); ok {
					r.taskID = id
				} else if id, ok := params["taskId"].(string); ok {
					r.taskID = id
				}
				switch {
				case c.reason != "":
					r.header = map[string]string{"Retry-After": map[string]string{"1.5s": "2", "3s": "3"}[c.retry]}
				case hook == "Authorize":
					r.reason, r.message, r.taskID = "UNAUTHORIZED", "Permission denied.", ""
				default:
					r.reason, r.message = "INTERNAL_ERROR", "Internal error."
				}
				r.run(t, w)
			}
		}
	}
}
