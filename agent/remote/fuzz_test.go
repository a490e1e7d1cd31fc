package remote_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/hitl"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswer: whatever a server answers, a call ends with an answer, a question
// or a failure that can be sent on.
func FuzzAnswer(f *testing.F) {
	const event = "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":"
	for _, seed := range []string{
		"", "data: {}\n\n", event + atWork + "}\n\n" + event + chunk("a", "x", false, true) + "}\n\n" + event + status("TASK_STATE_COMPLETED", "") + "}\n\n",
		event + status("TASK_STATE_INPUT_REQUIRED", "?") + "}\n\n", event + `{"message":{"parts":[{"data":null},{"raw":"AA=="},{"url":"x"}]}}` + "}\n\n",
		event + `{"kind":"task","id":"t","status":{"state":"failed","message":{"role":"agent","parts":[{"kind":"data","data":{"errorCode":"NOPE"}}]}}}` + "}\n\n",
		event + `{"artifactUpdate":{"artifact":{"parts":[null,{}]}}}` + "}\n\n", `{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"","data":[null,{"@type":"x"}]}}`,
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(3))
	}
	ways := []a2a.AgentInterface{
		{URL: "http://x/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
		{URL: "http://x/", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version},
		{URL: "http://x/", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
		{URL: "http://x/", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version},
	}
	f.Fuzz(func(t *testing.T, body string, how uint8) {
		way := ways[how%4]
		media := []string{"text/event-stream", "application/json"}[how/4%2]
		a, err := remote.FromCard(&a2a.AgentCard{
			Name: "x", Capabilities: a2a.AgentCapabilities{Streaming: true}, SupportedInterfaces: []*a2a.AgentInterface{&way},
		}, remote.Retry(retry.MaxAttempts(1)), remote.CancelTimeout(0), remote.Timeout(20*time.Millisecond), remote.HTTPClient(&http.Client{
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: 200 + int(how/8)*16, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
				}, nil
			}),
		}))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := a.Call(t.Context(), remote.Text("x"))
		if answer == nil {
			t.Fatal("no answer")
		}
		var e *errcode.Error
		switch {
		case err == nil || hitl.Find(err) != nil:
		case !errors.As(err, &e):
			t.Fatalf("got %T %v", err, err)
		case e.Reason() == "panic":
			t.Fatalf("got %v", errors.Unwrap(e))
		default:
			if d, buildErr := (errcode.Builder{}).Data(e); buildErr != nil && d.ErrorReason == "error_data_build_failed" {
				t.Fatalf("cannot be sent on: %v", buildErr)
			}
		}
	})
}
