package executor_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/executor"
)

// notification is what a web hook got.
type notification struct {
	Header http.Header
	Body   map[string]any
}

// hook is a web hook that keeps what it gets.
func hook(t *testing.T) (string, <-chan notification) {
	t.Helper()
	got := make(chan notification, 100)
	hs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		n := notification{Header: r.Header}
		if err != nil || json.Unmarshal(raw, &n.Body) != nil {
			t.Errorf("got %s, %v", raw, err)
		}
		for _, at := range statusTime.FindAllString(string(raw), -1) {
			if !inMillis.MatchString(at) {
				t.Errorf("%s in %s", at, raw)
			}
		}
		got <- n
	}))
	t.Cleanup(hs.Close)
	return hs.URL, got
}

// next waits for a notification.
func next(t *testing.T, from <-chan notification) notification {
	t.Helper()
	select {
	case n := <-from:
		return n
	case <-t.Context().Done():
		t.Fatal("no notification came")
		return notification{}
	}
}

// TestPushSpeaksTheClientsGeneration: who registered over A2A 0.3 was sent events
// of 1.0, under another name of the token's header, and 1.0 had the content type
// of 0.3.
func TestPushSpeaksTheClientsGeneration(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, unmerged(), executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	rpc03 := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"a b"}]},
		"configuration":{"blocking":true,"pushNotificationConfig":{"id":"c","url":"%url","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}}}}`
	rest03 := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a b"}]},
		"configuration":{"blocking":true,"pushNotification":{"id":"c","url":"%url","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}}}`
	for name, send := range map[string]func(t *testing.T, url string){
		"JSON-RPC 0.3": func(t *testing.T, url string) {
			t.Helper()
			w.send(t, "POST", "/v0.3", strings.Replace(rpc03, "%url", url, 1), nil)
		},
		"HTTP+JSON 0.3": func(t *testing.T, url string) {
			t.Helper()
			w.send(t, "POST", "/v0.3/v1/message:send", strings.Replace(rest03, "%url", url, 1), nil)
		},
		"gRPC 0.3": func(t *testing.T, url string) {
			t.Helper()
			_, err := oldpb.NewA2AServiceClient(w.conn).SendMessage(t.Context(), &oldpb.SendMessageRequest{
				Request: &oldpb.Message{MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: "a b"}}}},
				Configuration: &oldpb.SendMessageConfiguration{Blocking: true, PushNotification: &oldpb.PushNotificationConfig{
					Id: "c", Url: url, Token: "tok", Authentication: &oldpb.AuthenticationInfo{Schemes: []string{"Bearer"}, Credentials: "cred"},
				}},
			})
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, got := hook(t)
			send(t, url)
			var states []any
			var last notification
			for len(states) == 0 || states[len(states)-1] != "completed" {
				last = next(t, got)
				status, _ := last.Body["status"].(map[string]any)
				states = append(states, status["state"])
				h := last.Header
				if last.Body["kind"] != "task" || h.Get("Content-Type") != "application/json" || h.Get("X-A2A-Notification-Token") != "tok" ||
					h.Get("A2A-Notification-Token") != "" || h.Get("Authorization") != "Bearer cred" {
					t.Errorf("got %v", last)
				}
			}
			if diff := cmp.Diff([]any{"working", "completed"}, states); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if artifacts, _ := last.Body["artifacts"].([]any); len(artifacts) != 1 {
				t.Errorf("the task has not what it made: %v", last.Body)
			}
			id, _ := last.Body["id"].(string)
			if _, body := w.send(t, "GET", "/v1/tasks/"+id+"/pushNotificationConfigs", "", nil); !strings.Contains(body, url) || strings.Contains(body, "tenant") {
				t.Errorf("the config over 1.0: %s", body)
			}
			if _, body := w.send(t, "GET", "/v1/tasks/"+id+"/pushNotificationConfigs/c", "", nil); !strings.Contains(body, url) || strings.Contains(body, "tenant") {
				t.Errorf("the config over 1.0: %s", body)
			}
		})
	}
}

// TestPushSendsCredentials: those of any scheme but Bearer and Basic were taken
// and never sent.
func TestPushSendsCredentials(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, unmerged(), executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	for scheme, want := range map[string]string{"ApiKey": "ApiKey dTpw", "bearer": "Bearer dTpw", "BASIC": "Basic dTpw", "Digest": "Digest dTpw"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			url, got := hook(t)
			w.send(t, "POST", "/v1/message:send", `{"message":`+goodMessage+`,"configuration":{"taskPushNotificationConfig":{"url":"`+url+`","token":"tok","authentication":{"scheme":"`+scheme+`","credentials":"dTpw"}}}}`, nil)
			first := next(t, got)
			h := first.Header
			if h.Get("Authorization") != want || h.Get("Content-Type") != "application/a2a+json" || h.Get("A2A-Notification-Token") != "tok" || first.Body["task"] == nil {
				t.Errorf("got %v", first)
			}
		})
	}
	_, body := w.send(t, "POST", "/v1/message:send", `{"message":`+goodMessage+`,"configuration":{"taskPushNotificationConfig":{"url":"https://example.com/","token":"a\nb","authentication":{"scheme":"Api Key","credentials":"a\r\nX: y"}}}}`, nil)
	want := map[string]string{
		"configuration.taskPushNotificationConfig.authentication.scheme":      "expected the name of an HTTP authentication scheme",
		"configuration.taskPushNotificationConfig.authentication.credentials": "must have no control characters",
		"configuration.taskPushNotificationConfig.token":                      "must have no control characters",
	}
	if diff := cmp.Diff(want, fieldsOf(t, body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPushRedirects: a token is not for another host.
func TestPushRedirects(t *testing.T) {
	t.Parallel()
	w := serve(t, chunky, unmerged(), executor.PushNotifications(executor.Push{AllowPrivateNetworks: true}))
	url, got := hook(t)
	away := httptest.NewServer(http.RedirectHandler(url, http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	w.send(t, "POST", "/v1/message:send", `{"message":`+goodMessage+`,"configuration":{"taskPushNotificationConfig":{"url":"`+away.URL+`","token":"tok"}}}`, nil)
	if n := next(t, got); n.Header.Get("A2A-Notification-Token") != "" || n.Body["task"] == nil {
		t.Errorf("got %v", n)
	}
}
