package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	old "github.com/a2aproject/a2a-go/a2a"
	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/a2aexec/a2aexec/executor"
)

// hook is a webhook that keeps what it gets as it came.
type hook struct {
	*httptest.Server
	got chan delivery
}

type delivery struct {
	header http.Header
	body   string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{got: make(chan delivery, 100)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("body: %v", err)
		}
		h.got <- delivery{r.Header, string(body)}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) next(t *testing.T) delivery {
	t.Helper()
	select {
	case d := <-h.got:
		return d
	case <-t.Context().Done():
		t.Fatal("nothing came")
		return delivery{}
	}
}

func toPrivate() executor.Option {
	return executor.PushNotifications(executor.Push{AllowPrivateNetworks: true})
}

// tasks03 reads deliveries as a client of A2A 0.3 does, until the task has ended.
func (h *hook) tasks03(t *testing.T) []*old.Task {
	t.Helper()
	var out []*old.Task
	for {
		d := h.next(t)
		if got := d.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type: %q", got)
		}
		if got := d.header.Get("X-A2A-Notification-Token"); got != "tok" || d.header.Get("A2A-Notification-Token") != "" {
			t.Errorf("the token's header: %v", d.header)
		}
		var kind struct{ Kind string }
		task := &old.Task{}
		if err := errors.Join(json.Unmarshal([]byte(d.body), &kind), json.Unmarshal([]byte(d.body), task)); err != nil || kind.Kind != "task" {
			t.Fatalf("no task of 0.3: %s (%v)", d.body, err)
		}
		if out = append(out, task); task.Status.State.Terminal() {
			return out
		}
	}
}

func statesOf03(tasks []*old.Task) []string {
	var out []string
	for _, t := range tasks {
		out = append(out, string(t.Status.State))
	}
	return out
}

// TestWebhooksOf03GetTasksOf03: a receiver that a client of 0.3 registered got
// the payloads of 1.0, under another header for its token.
func TestWebhooksOf03GetTasksOf03(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, unmerged(), toPrivate())
	for name, send := range map[string]func(*testing.T, *hook){
		"JSON-RPC": func(t *testing.T, h *hook) {
			t.Helper()
			_, _, answer := w.post(t, "/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"a b"}]},
				"configuration":{"pushNotificationConfig":{"url":"`+h.URL+`","token":"tok"}}}}`)
			if !strings.Contains(answer, `"completed"`) {
				t.Error(answer)
			}
		},
		"at the root": func(t *testing.T, h *hook) {
			t.Helper()
			w.post(t, "/", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"a b"}]},
				"configuration":{"pushNotificationConfig":{"url":"`+h.URL+`","token":"tok"}}}}`)
		},
		"HTTP+JSON": func(t *testing.T, h *hook) {
			t.Helper()
			_, _, answer := w.post(t, "/v0.3/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a b"}]},"configuration":{"blocking":true,"pushNotification":{"url":"`+h.URL+`","token":"tok"}}}`)
			if !strings.Contains(answer, "COMPLETED") {
				t.Error(answer)
			}
		},
		"gRPC": func(t *testing.T, h *hook) {
			t.Helper()
			if _, err := oldpb.NewA2AServiceClient(w.conn).SendMessage(t.Context(), &oldpb.SendMessageRequest{
				Request:       &oldpb.Message{MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: "a b"}}}},
				Configuration: &oldpb.SendMessageConfiguration{Blocking: true, PushNotification: &oldpb.PushNotificationConfig{Url: h.URL, Token: "tok"}},
			}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t)
			send(t, h)
			got := h.tasks03(t)
			if diff := cmp.Diff([]string{"working", "completed"}, statesOf03(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			last := got[len(got)-1]
			if len(last.Artifacts) != 1 || len(last.History) != 1 || last.ContextID == "" {
				t.Errorf("not the whole task: %+v", last)
			}
		})
	}
}

// TestWebhooksOf03OfAUsersTask: the task of an authenticated user is read as
// theirs, also when it waits and when it is canceled.
func TestWebhooksOf03OfAUsersTask(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)), toPrivate())
	h := newHook(t)
	ada := map[string]string{"Authorization": "Bearer ada"}
	asked := w.ask(t, "JSON-RPC 0.3", request{op: "SendMessage", header: ada, params: with(say("credentials", nil), map[string]any{
		"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": h.URL, "token": "tok"}},
	})})
	if got := w.ask(t, "gRPC", request{op: "CancelTask", header: ada, params: map[string]any{"id": asked.result["id"]}}); got.failed {
		t.Fatal(got.raw)
	}
	got := h.tasks03(t)
	if diff := cmp.Diff([]string{"working", "auth-required", "canceled"}, statesOf03(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, task := range got {
		if len(task.History) == 0 {
			t.Errorf("%s without its history", task.Status.State)
		}
	}
}

// TestWebhooksOf03OfAForgottenTask: the last task may be gone when it is told.
func TestWebhooksOf03OfAForgottenTask(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, executor.KeepFinished(0, 1), toPrivate())
	h := newHook(t)
	const body = `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"a"}]},"configuration":{"pushNotificationConfig":{"url":"%s","token":"tok"}}}}`
	for range 2 {
		w.post(t, "/v0.3", fmt.Sprintf(body, h.URL))
		if got := statesOf03(h.tasks03(t)); got[len(got)-1] != "completed" {
			t.Errorf("got %v", got)
		}
	}
}

// TestWebhooksOfBothGenerations: each receiver of a task has its own form, as
// does one that a client of the other generation replaces.
func TestWebhooksOfBothGenerations(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), toPrivate())
	id := w.start(t, "ask", nil)
	current, before, taken := newHook(t), newHook(t), newHook(t)
	set03 := func(id, config, url string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"` + id + `","pushNotificationConfig":{"id":"` + config + `","url":"` + url + `","token":"tok"}}}`
	}
	w.post(t, "/v0.3", set03(id, "old", before.URL))
	w.post(t, "/v0.3", set03(id, "taken", taken.URL))
	for config, url := range map[string]string{"new": current.URL, "taken": taken.URL} {
		if got := w.ask(t, "gRPC", request{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": id, "id": config, "url": url, "token": "tok", "tenant": "acme"}}); got.failed {
			t.Fatal(got.raw)
		}
	}
	list := w.ask(t, "JSON-RPC", request{op: "ListTaskPushNotificationConfigs", params: map[string]any{"taskId": id}})
	one := w.ask(t, "HTTP+JSON", request{op: "GetTaskPushNotificationConfig", params: map[string]any{"taskId": id, "id": "old"}})
	if strings.Contains(list.raw+one.raw, "0.3") || one.failed || !strings.Contains(list.raw, "acme") {
		t.Errorf("how a config is stored shows: %s %s", list.raw, one.raw)
	}
	reserved := w.ask(t, "JSON-RPC", request{op: "CreateTaskPushNotificationConfig", params: map[string]any{"taskId": id, "url": current.URL, "tenant": "a2a:0.3"}})
	if reserved.reason != "INVALID_PARAMS" || reserved.fields["tenant"] == "" {
		t.Errorf("a tenant that would be mistaken: got %s", reserved.raw)
	}
	w.start(t, "answer", map[string]any{"message": say("answer", map[string]any{"taskId": id})["message"]})
	if got := statesOf03(before.tasks03(t)); got[len(got)-1] != "completed" {
		t.Errorf("0.3: got %v", got)
	}
	for name, h := range map[string]*hook{"1.0": current, "taken over by 1.0": taken} {
		checkCurrent(t, name, h.next(t))
	}
}

// checkCurrent reads a delivery with the parser of protocol buffers.
func checkCurrent(t *testing.T, name string, d delivery) {
	t.Helper()
	m := &a2apb.StreamResponse{}
	if err := protojson.Unmarshal([]byte(d.body), m); err != nil || m.GetPayload() == nil {
		t.Errorf("%s: no StreamResponse: %s (%v)", name, d.body, err)
	}
	if d.header.Get("Content-Type") != "application/a2a+json" {
		t.Errorf("%s: Content-Type %q", name, d.header.Get("Content-Type"))
	}
	if d.header.Get("X-A2A-Notification-Token") != "tok" || d.header.Get("A2A-Notification-Token") != "tok" {
		t.Errorf("%s: the token is not in %v", name, d.header)
	}
}

// TestWebhookCredentials: those of other schemes than Bearer and Basic were
// taken and never sent.
func TestWebhookCredentials(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, toPrivate())
	for scheme, want := range map[string]string{
		"ApiKey": "ApiKey dTpw", "Bearer": "Bearer dTpw", "basic": "basic dTpw", "Digest": "Digest dTpw", "X-Own.1": "X-Own.1 dTpw",
	} {
		for _, b := range bindingNames {
			t.Run(b+" "+scheme, func(t *testing.T) {
				t.Parallel()
				h := newHook(t)
				auth := map[string]any{"scheme": scheme, "credentials": "dTpw"}
				if b == "JSON-RPC 0.3" {
					auth = map[string]any{"schemes": []any{scheme, "Other"}, "credentials": "dTpw"}
				}
				got := w.ask(t, b, request{op: "SendMessage", params: with(say("a", nil), map[string]any{
					"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": h.URL, "authentication": auth}},
				})})
				if got.failed {
					t.Fatal(got.raw)
				}
				if got := h.next(t).header.Get("Authorization"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
	for name, c := range map[string]struct {
		config map[string]any
		field  string
	}{
		"a scheme that is none":          {map[string]any{"authentication": map[string]any{"scheme": "My Key", "credentials": "x"}}, "authentication.scheme"},
		"credentials that fit no header": {map[string]any{"authentication": map[string]any{"scheme": "Bearer", "credentials": "x\ny"}}, "authentication.credentials"},
		"a token that fits no header":    {map[string]any{"token": "x\ny"}, "token"},
	} {
		c.config["url"] = "https://example.com/"
		for _, b := range bindingNames[:3] {
			got := w.ask(t, b, request{op: "SendMessage", params: with(say("a", nil), map[string]any{"configuration": map[string]any{"taskPushNotificationConfig": c.config}})})
			if got.reason != "INVALID_PARAMS" || got.fields["configuration.taskPushNotificationConfig."+c.field] == "" {
				t.Errorf("%s over %s: got %s %v", name, b, got.raw, got.fields)
			}
		}
	}
}

// TestWebhookAnswers: what the default sender makes of a receiver's answer. A
// redirect was followed as a GET without the event, and counted as delivered.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		header map[string]string
	}
	cases := map[string]struct {
		answers []answer
		asked   int
		log     string
	}{
		"accepted":            {answers: []answer{{status: 204}}, asked: 2},
		"moved":               {answers: []answer{{status: 301, header: map[string]string{"Location": "/elsewhere"}}}, asked: 2, log: "redirects"},
		"moved, with a POST":  {answers: []answer{{status: 307, header: map[string]string{"Location": "http://example.com/"}}}, asked: 2, log: "redirects"},
		"busy, for a while":   {answers: []answer{{status: 429, header: map[string]string{"Retry-After": "0"}}, {status: 200}}, asked: 3},
		"busy, for too long":  {answers: []answer{{status: 503, header: map[string]string{"Retry-After": "3600"}}}, asked: 2, log: "503 Service Unavailable"},
		"a receiver's secret": {answers: []answer{{status: 500, header: map[string]string{"Retry-After": "3600"}}}, asked: 2, log: "500 Internal Server Error"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths := make(chan string, 100)
			n := 0 // one event after the other
			hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paths <- r.Method + " " + r.URL.Path
				a := tc.answers[min(n, len(tc.answers)-1)]
				n++
				for k, v := range a.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(a.status)
			}))
			t.Cleanup(hs.Close)
			w := serve(t, chunky, toPrivate())
			got := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: with(say("", nil), map[string]any{
				"configuration": map[string]any{"taskPushNotificationConfig": map[string]any{"url": hs.URL + "/hook?key=hunter2"}},
			})})
			if got.failed {
				t.Fatal(got.raw)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := w.srv.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			close(paths)
			asked := 0
			for p := range paths {
				if asked++; p != "POST /hook" {
					t.Errorf("asked %s", p)
				}
			}
			if log := w.log.String(); asked != tc.asked || !strings.Contains(log, tc.log) || tc.log == "" && log != "" || strings.Contains(log, "hunter2") {
				t.Errorf("asked %d times, want %d; the log says:\n%s", asked, tc.asked, log)
			}
		})
	}
}

// TestPushOfASenderOfOnesOwn: it gets what the default one does, and makes the
// same request.
func TestPushOfASenderOfOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	own := senderFunc(func(ctx context.Context, c *a2a.PushConfig, ev a2a.Event) error {
		req, err := executor.NewPushRequest(ctx, c, ev)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	w := serve(t, chunky, executor.PushNotifications(executor.Push{Sender: own}))
	w.post(t, "/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"a"}]},
		"configuration":{"pushNotificationConfig":{"url":"`+h.URL+`","token":"tok"}}}}`)
	if got := statesOf03(h.tasks03(t)); got[len(got)-1] != "completed" {
		t.Errorf("got %v", got)
	}
	for name, request := range map[string]func() (*http.Request, error){
		"no config": func() (*http.Request, error) { return executor.NewPushRequest(t.Context(), nil, &a2a.Task{}) },
		"no event":  func() (*http.Request, error) { return executor.NewPushRequest(t.Context(), &a2a.PushConfig{}, nil) },
		"bad URL": func() (*http.Request, error) {
			return executor.NewPushRequest(t.Context(), &a2a.PushConfig{URL: "http://hunter2 "}, &a2a.Task{})
		},
		"bad event": func() (*http.Request, error) {
			return executor.NewPushRequest(t.Context(), &a2a.PushConfig{URL: "http://x"}, &a2a.Task{Metadata: map[string]any{"a": func() {}}})
		},
	} {
		if req, err := request(); err == nil || req != nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type senderFunc func(context.Context, *a2a.PushConfig, a2a.Event) error

func (f senderFunc) SendPush(ctx context.Context, c *a2a.PushConfig, ev a2a.Event) error {
	return f(ctx, c, ev)
}

func TestPushRefusesTheHostsSender(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]executor.Push{
		"HTTPPushSender":          {Sender: push.NewHTTPPushSender(nil)},
		"AllowPrivateNetworks is": {Sender: sendsNothing{}, AllowPrivateNetworks: true},
	} {
		if _, err := executor.NewHandler(chunky, executor.PushNotifications(p)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
