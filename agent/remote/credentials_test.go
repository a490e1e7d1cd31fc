package remote_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
)

// TestRequestsKnowTheirRun: an HTTP client finds, in the context of each request
// of a call, the run that makes it, to send its user's credentials along.
func TestRequestsKnowTheirRun(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
		switch method {
		case "SendStreamingMessage":
			sse(w, atWork)
		case "SubscribeToTask":
			sse(w, status("TASK_STATE_DANCING", ""))
		default:
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`)
		}
	})
	var mu sync.Mutex
	tasks := map[string]int{}
	hc := newClient(t)
	next := hc.Transport
	hc.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		task := "no run"
		if req, ok := agent.FromContext(r.Context()); ok {
			task = req.TaskID()
		}
		mu.Lock()
		tasks[task]++
		mu.Unlock()
		return next.RoundTrip(r)
	})
	front := serve(t, invoking("front", func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		answer, err := to(t, s.url, remote.HTTPClient(hc), atOnce).Call(ctx, remote.Text("x"))
		return answer.Result(), err
	}))
	task := front.talk(t).say("go")
	called := s.methods()
	for _, m := range []string{"SendStreamingMessage", "GetTask", "SubscribeToTask", "CancelTask"} {
		if !slices.Contains(called, m) {
			t.Errorf("no %s in %v", m, called)
		}
	}
	if diff := cmp.Diff(map[string]int{string(task.ID): len(called) + 1}, tasks); diff != "" { // and the card
		t.Errorf("(-want +got):\n%s", diff)
	}
}
