package executor_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"

	"github.com/a2aexec/a2aexec/executor"
)

// TestBodyThatDoesNotArrive: it held its connection for ever, and whoever was
// not authenticated never learnt it.
func TestBodyThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.ReadTimeout(100*time.Millisecond), executor.BearerAuth(executor.VerifierFunc(verifyNames)))
	for _, path := range []string{"/", "/v1/message:send", "/v0.3", "/v0.3/v1/message:send", "/v1/nothing", "/nowhere"} {
		for token, status := range map[string]int{"ada": http.StatusRequestTimeout, "bad": http.StatusUnauthorized} {
			if strings.Contains(path, "no") {
				status = http.StatusNotFound
			}
			t.Run(path+" of "+token, func(t *testing.T) {
				t.Parallel()
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path, token); err != nil {
					t.Fatal(err)
				}
				in := bufio.NewReader(conn)
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != status {
					t.Errorf("got HTTP %d, want %d: %s (%v)", res.StatusCode, status, body, err)
				}
				if _, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), body); err != nil {
					t.Error(err)
				}
				if _, err := in.ReadByte(); err == nil {
					t.Error("the connection is still open")
				}
			})
		}
	}
}

// deadlines is a writer that keeps the deadlines for reading that it is given.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

// SetReadDeadline is for http.ResponseController.
func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestReadTimeoutEndsWithTheBody: net/http would take it for a client that has
// gone, later.
func TestReadTimeoutEndsWithTheBody(t *testing.T) {
	t.Parallel()
	srv := newServer(t, conforming(nil), executor.ReadTimeout(time.Hour))
	for path, body := range map[string]string{"/": rpcBody(`{"message":` + goodMessage + `}`), "/v1/message:stream": `{"message":` + goodMessage + `}`} {
		rec := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		srv.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
		if rec.Code != http.StatusOK || len(rec.set) != 2 || rec.set[0].IsZero() || !rec.set[1].IsZero() {
			t.Errorf("%s: HTTP %d, deadlines %v", path, rec.Code, rec.set)
		}
	}
}

// TestContentTypes: a web page of any origin can send text/plain without asking
// first, and so it could send messages.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	srv := newServer(t, conforming(nil))
	for given, c := range map[string]struct {
		status int
		origin string
	}{
		"application/json":                  {200, ""},
		"application/json; charset=utf-8":   {200, "https://app.example"},
		"Application/JSON":                  {200, ""},
		"application/a2a+json":              {200, ""},
		"application/a2a+json; profile=x":   {200, ""},
		"":                                  {200, ""},
		" ":                                 {415, "https://evil.example"},
		"text/plain":                        {415, ""},
		"text/plain; application/json":      {415, ""},
		"application/x-www-form-urlencoded": {415, ""},
		"multipart/form-data; boundary=x":   {415, ""},
		"application/json, text/plain":      {415, ""},
	} {
		for path, body := range map[string]string{
			"/": rpcBody(`{"message":` + goodMessage + `}`), "/v1/message:send": `{"message":` + goodMessage + `}`,
			"/v0.3/v1/message:send": `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}`,
			"/v0.3":                 `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}}`,
		} {
			header := map[string]string{}
			if g := strings.TrimSpace(given); g != "" {
				header["Content-Type"] = g
			}
			if c.origin != "" {
				header["Origin"] = c.origin
			}
			got := callServer(t, srv, http.MethodPost, path, body, header)
			reason, err := edgeAnswer(got.Code, got.Header().Get("Content-Type"), got.Body.Bytes())
			if got.Code != c.status || err != nil || (reason == "CONTENT_TYPE_NOT_SUPPORTED") != (c.status == 415) {
				t.Errorf("%q to %s: got %d %s (%v)", given, path, got.Code, got.Body, err)
			}
		}
	}
}

// TestUnspecifiedStateIsNoFilter: over HTTP+JSON no task had it.
func TestUnspecifiedStateIsNoFilter(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	w.ask(t, "JSON-RPC", request{op: "SendMessage", params: say("hi", nil)})
	for _, b := range bindingNames[:3] {
		got := w.ask(t, b, request{op: "ListTasks", params: map[string]any{"status": a2apb.TaskState_TASK_STATE_UNSPECIFIED.String()}})
		if tasks, _ := got.result["tasks"].([]any); len(tasks) != 1 {
			t.Errorf("%s: got %d tasks: %+v", b, len(tasks), got.result)
		}
	}
}

// TestViolationOfTheWholeIsNamed: one of params that are no object had no field.
func TestViolationOfTheWholeIsNamed(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for path, c := range map[string]struct{ body, field string }{
		"/":                {rpcBody(`["x"]`), `"field":"params"`},
		"/v0.3":            {strings.Replace(rpcBody(`["x"]`), "SendMessage", "message/send", 1), `"field":"/params"`},
		"/v1/message:send": {`["x"]`, `"field":"body"`},
	} {
		if _, body := w.send(t, http.MethodPost, path, c.body, nil); !strings.Contains(body, c.field) {
			t.Errorf("%s: got %s", path, body)
		}
	}
}

// TestAnyGoodCredentialAdmits: a bad token beside a good key refused the request,
// though the card offers either.
func TestAnyGoodCredentialAdmits(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.APIKeyAuth("X-API-Key", executor.VerifierFunc(verifyNames)))
	both := func(token, key string) request {
		return request{op: "SendMessage", params: say("hi", nil), header: map[string]string{"Authorization": "Bearer " + token, "X-API-Key": key}}
	}
	for _, r := range []row{
		{name: "a bad token, a good key", request: both("bad", "ada")},
		{name: "a good token, a bad key", request: both("ada", "bad")},
		{name: "a verifier that is down, a good key", request: both("down", "ada")},
		{name: "both of one user", request: both("ada", "ada")},
		{name: "two users", request: both("ada", "bob"), reason: "UNAUTHENTICATED", message: "The credentials are those of different users; send one of them."},
		{name: "none good", request: both("bad", "bad"), reason: "UNAUTHENTICATED", header: map[string]string{"Www-Authenticate": `error="invalid_token"`}},
	} {
		r.run(t, w)
	}
}
