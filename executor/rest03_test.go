package executor_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent"
)

// TestRESTTakesProtoNames: a2a-sdk 1.3.0 (Python) sends a 0.3 message over
// HTTP+JSON in the field names of the protocol buffers, which the host refused.
func TestRESTTakesProtoNames(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("bank"))
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string // in the answer
	}{
		"proto names":     {`{"request":{"message_id":"m","role":"ROLE_USER","content":[{"text":"hi"}]},"configuration":{"blocking":true}}`, 200, `"bank: hi"`},
		"JSON names":      {`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]},"configuration":{"blocking":true}}`, 200, `"bank: hi"`},
		"parts":           {`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{"blocking":true}}`, 200, `"bank: hi"`},
		"an author's own": {`{"request":{"message_id":"m","role":"ROLE_USER","content":[{"text":"hi"},{"data":{"data":{"my_key":1}}}],"metadata":{"my_key":2}}}`, 200, `"my_key":2`},
		"neither":         {`{"request":{"no_such_field":1}}`, 400, `"INVALID_ARGUMENT"`},
		"not an object":   {`[1]`, 400, `"INVALID_ARGUMENT"`},
		"a broken number": {`{"request":1e999}`, 400, `"INVALID_ARGUMENT"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hs.URL+"/v0.3/v1/message:send", strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := hs.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			answer, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tc.status || !strings.Contains(string(answer), tc.want) || !json.Valid(answer) {
				t.Errorf("got %d %s", res.StatusCode, answer)
			}
		})
	}
}

// fieldsOf gives the violations that an answer over HTTP+JSON names.
func fieldsOf(t *testing.T, body string) map[string]string {
	t.Helper()
	var got struct {
		Error struct {
			Details []struct {
				FieldViolations []struct{ Field, Description string }
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	out := map[string]string{}
	for _, d := range got.Error.Details {
		for _, v := range d.FieldViolations {
			out[v.Field] = v.Description
		}
	}
	return out
}

// TestRESTOf03IsChecked: HTTP+JSON 0.3 was checked after it had been decoded, so
// that a wrong type was "invalid JSON", a member in another case or twice was
// taken, and a file that could not be read was an empty part.
func TestRESTOf03IsChecked(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), pushesNothing)
	id := w.start(t, "ok", nil)
	configs := "/v0.3/v1/tasks/" + id + "/pushNotificationConfigs"
	const send = "/v0.3/v1/message:send"
	for name, c := range map[string]struct {
		method, path, body string
		want               map[string]string
	}{
		"everything": {
			"POST", send, `{"message":{"messageId":7,"role":"user","content":[{"text":1},{},{"text":"a","data":{"data":{}}},{"file":{}},
			{"file":{"fileWithBytes":"*"}},{"file":{"fileWithBytes":""}},{"data":{}},{"data":7}],"metadata":[],"Extensions":[]},"configuration":{"blocking":"yes","historyLength":-1}}`,
			map[string]string{
				"message.messageId": "expected a string, got a number", "message.role": `unknown value "user"; expected one of ROLE_USER, ROLE_AGENT`,
				"message.content.0.text": "expected a string, got a number", "message.content.1": "expected one of text, file and data",
				"message.content.2": "expected one of text, file and data, got text and data", "message.content.3.file": "expected one of fileWithUri and fileWithBytes",
				"message.content.4.file.fileWithBytes": "expected base64 text", "message.content.5.file.fileWithBytes": "must not be empty",
				"message.content.6.data.data": "is required", "message.content.7.data": "expected an object, got a number",
				"message.metadata": "expected an object, got an array", "message.Extensions": `unknown field; did you mean "extensions"?`,
				"configuration.blocking": "expected true or false, got a string", "configuration.historyLength": "expected an integer of 0 or more, got -1",
			},
		},
		"in the names of protocol buffers": {"POST", send, `{"request":{"message_id":7,"task_id":"x","taskId":"y"},"configuration":{"history_length":0.5}}`, map[string]string{
			"request.message_id": "expected a string, got a number", "request.role": "is required", "request.content": "is required",
			"request.task_id": `is "taskId" once more`, "configuration.history_length": "expected an integer, got 0.5",
		}},
		"twice": {"POST", send, `{"message":{"messageId":"m","messageId":"n","role":"ROLE_USER","content":[{"text":"x","text":"y"}]}}`, map[string]string{
			"message.messageId": "appears more than once", "message.content.0.text": "appears more than once",
		}},
		"a list":             {"GET", "/v0.3/v1/tasks?status=DONE&historyLength=x&lastUpdatedAfter=now", "", map[string]string{"status": `unknown value "DONE"; expected one of ` + strings.Join(states03, ", "), "historyLength": "expected an integer, got a string", "lastUpdatedAfter": `expected a timestamp such as "2025-11-09T10:30:00Z", got "now"`}},
		"a task":             {"GET", "/v0.3/v1/tasks/" + id + "?historyLength=-1", "", map[string]string{"historyLength": "expected an integer of 0 or more, got -1"}},
		"a config":           {"POST", configs, `{"config":{"pushNotificationConfig":{"url":"x","authentication":{"schemes":"Bearer"}}}}`, map[string]string{"config.pushNotificationConfig.url": "expected an absolute http or https URL", "config.pushNotificationConfig.authentication.schemes": "expected an array, got a string"}},
		"a config by itself": {"POST", configs, `{"push_notification_config":{}}`, map[string]string{"push_notification_config.url": "is required"}},
		"no config":          {"POST", configs, `{}`, map[string]string{"config": "is required"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, body := w.send(t, c.method, c.path, c.body, nil)
			if diff := cmp.Diff(c.want, fieldsOf(t, body)); diff != "" || res.StatusCode != http.StatusBadRequest {
				t.Errorf("HTTP %d (-want +got):\n%s", res.StatusCode, diff)
			}
		})
	}
	for name, c := range map[string]struct{ body, want string }{
		"as a request":       {`{"parent":"tasks/x","config_id":"a","config":{"name":"n","push_notification_config":{"id":"a","url":"https://example.com/a"}}}`, `"id":"a"`},
		"a config by itself": {`{"name":"n","pushNotificationConfig":{"id":"b","url":"https://example.com/b"}}`, `"id":"b"`},
	} {
		if res, body := w.send(t, "POST", configs, c.body, nil); res.StatusCode != http.StatusOK || !strings.Contains(body, c.want) || !strings.Contains(body, "https://example.com/") {
			t.Errorf("%s: got HTTP %d %s", name, res.StatusCode, body)
		}
	}
	for _, query := range []string{"?historyLength=1", "?historyLength=1.0", "?historyLength=10e-1"} {
		res, body := w.send(t, "GET", "/v0.3/v1/tasks/"+id+query, "", nil)
		if res.StatusCode != http.StatusOK || strings.Count(body, `"messageId"`) != 1 {
			t.Errorf("%s: got HTTP %d %s", query, res.StatusCode, body)
		}
	}
	res, body := w.send(t, "GET", configs+"?pageSize=1", "", nil)
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `"id":"a"`) || !strings.Contains(body, `"id":"b"`) {
		t.Errorf("a list whose answer names no next page: got %s", body)
	}
}

var states03 = []string{
	"TASK_STATE_CANCELLED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
	"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED",
}

// TestOtherSpellingsOfValues: the JSON form of protocol buffers takes base64 of
// either alphabet, with and without padding, and integers as 7.0 and "7"; the
// host takes one of each, and A2A 0.3 took wrong base64 for the bytes
// themselves.
func TestOtherSpellingsOfValues(t *testing.T) {
	t.Parallel()
	w := serve(t, agent.New("files", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		return agent.Text(fmt.Sprintf("%q", req.Files()[0].Bytes)), nil
	})))
	content := "<<???>>>~" // whose base64 has characters of one alphabet only
	std, url := base64.StdEncoding.EncodeToString([]byte(content+"1")), base64.RawURLEncoding.EncodeToString([]byte(content+"1"))
	content = fmt.Sprintf("%q", content+"1")
	message := func(raw string) string {
		return `{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"` + raw + `"}]}`
	}
	old := func(raw string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"file","file":{"bytes":"` + raw + `"}}]},"configuration":{"historyLength":%s}}}`
	}
	rest03 := func(raw string) string {
		return `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithBytes":"` + raw + `"}}]},"configuration":{"blocking":true,"historyLength":%s}}`
	}
	configured := `,"configuration":{"historyLength":%s}}`
	bodies := map[string][]string{}
	for _, raw := range []string{std, url, strings.TrimRight(std, "="), base64.URLEncoding.EncodeToString([]byte("<<???>>>~1"))} {
		bodies["/"] = append(bodies["/"], rpcBody(`{"message":`+message(raw)+configured))
		bodies["/v1/message:send"] = append(bodies["/v1/message:send"], `{"message":`+message(raw)+configured)
		bodies["/v0.3"] = append(bodies["/v0.3"], old(raw))
		twice := base64.StdEncoding.EncodeToString([]byte(raw))
		bodies["/v0.3/v1/message:send"] = append(bodies["/v0.3/v1/message:send"], rest03(raw), rest03(twice), rest03(strings.TrimRight(twice, "=")))
	}
	for path, all := range bodies {
		for i, body := range all {
			for _, number := range []string{"1", "1.0", `"1"`, "10e-1", `"1.0"`, "1e0"} {
				t.Run(fmt.Sprintf("%s %d %s", path, i, number), func(t *testing.T) {
					t.Parallel()
					res, answer := w.send(t, "POST", path, fmt.Sprintf(body, number), nil)
					said, err := json.Marshal(content)
					if err != nil {
						t.Fatal(err)
					}
					if res.StatusCode != http.StatusOK || !strings.Contains(answer, string(said)) || strings.Count(answer, `"messageId"`) != 1 {
						t.Errorf("got HTTP %d %s", res.StatusCode, answer)
					}
				})
			}
			for number, want := range map[string]string{
				"1.5": "expected an integer, got 1.5", `"x"`: "expected an integer, got a string", `""`: "expected an integer, got a string",
				`" 1"`: "expected an integer, got a string", "1e99": "expected an integer of 0 or more, got 1e99", `"0x1"`: "expected an integer, got a string",
				"1e-1": "expected an integer, got 1e-1", "2147483648": "expected an integer of 0 or more, got 2147483648",
			} {
				if _, answer := w.send(t, "POST", path, fmt.Sprintf(body, number), nil); !strings.Contains(answer, want) {
					t.Errorf("%s: %s: got %s", path, number, answer)
				}
			}
		}
	}
}

// TestGRPCOf03IsChecked: a message over gRPC 0.3 was checked after it had been
// decoded, and told of in the names of A2A 1.0.
func TestGRPCOf03IsChecked(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	client := oldpb.NewA2AServiceClient(w.conn)
	_, err := client.SendMessage(t.Context(), &oldpb.SendMessageRequest{
		Request: &oldpb.Message{Parts: []*oldpb.Part{
			{},
			{Part: &oldpb.Part_File{File: &oldpb.FilePart{}}},
			{Part: &oldpb.Part_Data{Data: &oldpb.DataPart{}}},
			{Part: &oldpb.Part_File{File: &oldpb.FilePart{File: &oldpb.FilePart_FileWithBytes{FileWithBytes: []byte("x")}}}},
		}},
		Configuration: &oldpb.SendMessageConfiguration{HistoryLength: -1},
	})
	got := map[string]string{}
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range b.GetFieldViolations() {
				got[v.GetField()] = v.GetDescription()
			}
		}
	}
	want := map[string]string{
		"message.messageId": "is required", "message.role": "is required", "configuration.historyLength": "expected an integer of 0 or more, got -1",
		"message.parts.0": "expected one of text, file and data", "message.parts.1.file": "expected one of fileWithUri and fileWithBytes",
		"message.parts.2.data.data": "is required",
	}
	if diff := cmp.Diff(want, got); diff != "" || status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = client.SendMessage(t.Context(), &oldpb.SendMessageRequest{Request: &oldpb.Message{TaskId: "nowhere", MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: "x"}}}}})
	if status.Code(err) != codes.NotFound {
		t.Errorf("a good message to no task: got %v", err)
	}
}
