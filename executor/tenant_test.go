package executor_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"

	"github.com/a2aexec/a2aexec/agent"
)

// TestTenants: a client that names a tenant says so in the path over HTTP+JSON,
// where there was nothing, and in the request over the other bindings.
func TestTenants(t *testing.T) {
	t.Parallel()
	w := serve(t, agent.New("houses", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		return agent.Text("for " + req.Tenant()), nil
	})), pushesNothing)
	rpc := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: with(say("hi", nil), map[string]any{"tenant": "t1"})})
	if rpc.failed || !strings.Contains(rpc.raw, "for t1") {
		t.Errorf("JSON-RPC: got %s", rpc.raw)
	}
	pb, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Tenant: "t1", Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}},
	}})
	if err != nil || !strings.Contains(pb.String(), "for t1") {
		t.Errorf("gRPC: got %v, %v", pb, err)
	}
	id := w.start(t, "hi", nil)
	send := `{"message":` + goodMessage + `}`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/t1/message:send", send, 200, "for t1"},
		{"POST", "/v1/t1/message:stream", send, 200, "TASK_STATE_WORKING"},
		{"POST", "/v1/a%20b/message:send", send, 200, "for a b"},
		{"POST", "/v1/tasks/message:send", send, 200, "for tasks"},
		{"POST", "/v1/t1/message:send", `{"tenant":"t2","message":` + goodMessage + `}`, 200, "for t1"},
		{"POST", "/v1/message:send", `{"tenant":"t2","message":` + goodMessage + `}`, 200, "for t2"},
		{"GET", "/v1/t1/tasks/" + id, "", 200, id},
		{"GET", "/v1/t1/tasks", "", 200, id},
		{"POST", "/v1/t1/tasks/" + id + ":cancel", "", 400, "TASK_NOT_CANCELABLE"},
		{"GET", "/v1/t1/tasks/" + id + ":subscribe", "", 400, "UNSUPPORTED_OPERATION"},
		{"POST", "/v1/t1/tasks/" + id + "/pushNotificationConfigs", `{"id":"c","url":"https://example.com/"}`, 200, `"c"`},
		{"GET", "/v1/t1/tasks/" + id + "/pushNotificationConfigs/c", "", 200, `"c"`},
		{"DELETE", "/v1/t1/tasks/" + id + "/pushNotificationConfigs/c", "", 200, "{}"},
		{"POST", "/v1/t1/message:send", `{}`, 400, "message"},
		{"GET", "/v1/t1/message:send", "", 405, "METHOD_NOT_FOUND"},
		{"GET", "/v1/t1/nothing", "", 404, "METHOD_NOT_FOUND"},
		{"POST", "/v1/t1/t2/message:send", send, 404, "METHOD_NOT_FOUND"},
		{"POST", "/v1/a%2Fb/message:send", send, 404, "METHOD_NOT_FOUND"},
		{"POST", "/v1/%2e%2e/message:send", send, 404, "METHOD_NOT_FOUND"},
		{"POST", "/v1//message:send", send, 404, "METHOD_NOT_FOUND"},
		{"POST", "/v1/%E2%82/message:send", send, 404, "METHOD_NOT_FOUND"}, // no UTF-8, and JSON-RPC and gRPC refuse that
	} {
		res, body := w.send(t, c.method, c.path, c.body, nil)
		if res.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got HTTP %d %s", c.method, c.path, res.StatusCode, body)
		}
		if _, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(body)); err != nil {
			t.Error(err)
		}
	}
	base, err := url.Parse(w.url + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	transport := a2aclient.NewRESTTransport(base, http.DefaultClient)
	res, err := transport.SendMessage(t.Context(), nil, &a2a.SendMessageRequest{Tenant: "t1", Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))})
	if err != nil || firstText(res) != "for t1" {
		t.Errorf("the host's client: got %v, %v", res, err)
	}
}
