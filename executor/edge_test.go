package executor_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/executor"
)

// internals are pieces of text that only a program's inside would say.
var internals = []string{
	"failed to", "json:", "Go struct", "Go value", "invalid character", "unmarshal", "goroutine", "panic", ".go:", "runtime error",
	"executor.", "a2asrv", "nil pointer", "proto:", "strconv", "<a href",
}

// edgeAnswer reads what came back and says what is wrong with it: no JSON, the
// wrong content type, an error without its parts, text of internals, a 500.
func edgeAnswer(status int, contentType string, body []byte) (reason string, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("id: ")) || strings.HasPrefix(contentType, "text/event-stream") {
		return streamAnswer(status, body)
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return "", nil
	}
	if contentType != "application/json" {
		return "", fmt.Errorf("HTTP %d has content type %q: %q", status, contentType, body)
	}
	return jsonAnswer(status, body)
}

func streamAnswer(status int, body []byte) (string, error) {
	if status != http.StatusOK {
		return "", fmt.Errorf("a stream with HTTP %d", status)
	}
	last := ""
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			reason, err := jsonAnswer(status, []byte(data))
			if err != nil {
				return "", err
			}
			last = reason
		}
	}
	return last, nil
}

func jsonAnswer(status int, body []byte) (string, error) {
	var got struct {
		Error *struct {
			Code    int
			Message string
			Details json.RawMessage
			Data    json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return "", fmt.Errorf("HTTP %d: %q: %w", status, body, err)
	}
	if got.Error == nil {
		if status >= http.StatusBadRequest {
			return "", fmt.Errorf("HTTP %d without an error: %s", status, body)
		}
		return "", nil
	}
	if got.Error.Message == "" || got.Error.Code == 0 {
		return "", fmt.Errorf("an error without its parts: %s", body)
	}
	for _, s := range internals {
		if strings.Contains(got.Error.Message, s) {
			return "", fmt.Errorf("internal text %q in %s", s, body)
		}
	}
	details := append(got.Error.Details, got.Error.Data...)
	_, rest, _ := strings.Cut(string(details), `"reason":"`)
	reason, _, _ := strings.Cut(rest, `"`)
	if reason == "" {
		_, rest, _ = strings.Cut(string(details), `"errorReason":"`)
		reason, _, _ = strings.Cut(rest, `"`)
		reason = strings.ToUpper(reason)
	}
	if reason == "" {
		return "", fmt.Errorf("an error without a reason: %s", body)
	}
	if status == http.StatusInternalServerError || reason == "INTERNAL_ERROR" {
		return "", fmt.Errorf("HTTP %d: an internal error for what a client sent: %s", status, body)
	}
	return reason, nil
}

// nested is a value so many levels deep.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

const goodMessage = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}`

func rpcBody(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + params + `}`
}

func withData(data string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":` + data + `}]}}`
}

// asREST03 says a message of 1.0 in the words of HTTP+JSON 0.3.
func asREST03(p string) string {
	if strings.Contains(p, `[{"data":`) {
		p = strings.Replace(strings.Replace(p, `}]}}`, `}}]}}`, 1), `[{"data":`, `[{"data":{"data":`, 1)
	}
	return strings.ReplaceAll(p, `"parts"`, `"content"`)
}

// TestMalformedBodies sends bytes, to every path that takes some, for a blocking
// and for a streaming call.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.MaxBodyBytes(1<<20))
	params := map[string]struct{ body, reason string }{
		"nothing":                         {``, "PARSE_ERROR"},
		"truncated":                       {`{"message":{"messageId":"m`, "PARSE_ERROR"},
		"no JSON":                         {`hello`, "PARSE_ERROR"},
		"two values":                      {`{"message":` + goodMessage + `}{}`, "PARSE_ERROR"},
		"a trailing comma":                {`{"message":` + goodMessage + `,}`, "PARSE_ERROR"},
		"a byte order mark":               {"\xef\xbb\xbf{\"message\":" + goodMessage + "}", "PARSE_ERROR"},
		"invalid UTF-8":                   {withData("\"\xff\xfe\""), "PARSE_ERROR"},
		"a NUL":                           {withData("\"\x00\""), "PARSE_ERROR"},
		"10,000 levels":                   {withData(nested(10_000)), "INVALID_REQUEST"},
		"100,000 levels":                  {withData(nested(100_000)), "INVALID_REQUEST"},
		"10,000 levels that do not close": {withData(strings.Repeat(`{"a":`, 10_000)), "INVALID_REQUEST"},
		"101 levels":                      {withData(nested(101)), "INVALID_REQUEST"},
		"a member twice":                  {`{"message":` + goodMessage + `,"message":` + goodMessage + `}`, "INVALID_PARAMS"},
		"a member of data twice":          {withData(`{"a":1,"a":2}`), "INVALID_PARAMS"},
		"a member in another case":        {`{"message":` + goodMessage + `,"Message":{"parts":[null]}}`, "INVALID_PARAMS"},
		"a huge number":                   {withData(`1e400`), "INVALID_PARAMS"},
		"a huge history":                  {`{"message":` + goodMessage + `,"configuration":{"historyLength":99999999999999999999}}`, "INVALID_PARAMS"},
		"a history of a half":             {`{"message":` + goodMessage + `,"configuration":{"historyLength":0.5}}`, "INVALID_PARAMS"},
		"a null message":                  {`{"message":null}`, "INVALID_PARAMS"},
		"a null":                          {`null`, "INVALID_PARAMS"},
		"an array":                        {`[]`, "INVALID_PARAMS"},
		"a string":                        {`"x"`, "INVALID_PARAMS"},
		"a number":                        {`7`, "INVALID_PARAMS"},
		"a boolean":                       {`true`, "INVALID_PARAMS"},
		"parts of an object":              {`{"message":{"messageId":"m","role":"ROLE_USER","parts":{}}}`, "INVALID_PARAMS"},
		"a part of a part":                {`{"message":{"messageId":"m","role":"ROLE_USER","parts":[[{}]]}}`, "INVALID_PARAMS"},
		"more than the server takes":      {withData(`"` + strings.Repeat("x", 1<<20) + `"`), "INVALID_REQUEST"},
	}
	for name, c := range params {
		for path, wrap := range map[string]func(string) string{
			"/": rpcBody,
			"/v0.3": func(p string) string {
				return strings.NewReplacer("SendMessage", "message/send", "ROLE_USER", "user", `{"text"`, `{"kind":"text","text"`, `{"data"`, `{"kind":"data","data"`).Replace(rpcBody(p))
			},
			"/v1/message:send":        func(p string) string { return p },
			"/v1/message:stream":      func(p string) string { return p },
			"/v0.3/v1/message:send":   asREST03,
			"/v0.3/v1/message:stream": asREST03,
		} {
			t.Run(name+" to "+path, func(t *testing.T) {
				t.Parallel()
				res, body := w.send(t, http.MethodPost, path, wrap(c.body), nil)
				got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(body))
				if err != nil || got != c.reason {
					t.Errorf("HTTP %d %s: got %s, want %s (%v)", res.StatusCode, body, got, c.reason, err)
				}
				if name == "more than the server takes" && res.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("got HTTP %d, want 413", res.StatusCode)
				}
			})
		}
	}
}

// TestMalformedEnvelopes: what is wrong with a JSON-RPC request itself.
func TestMalformedEnvelopes(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for name, c := range map[string]struct{ body, reason, id string }{
		"a batch":                 {`[` + rpcBody(`{}`) + `]`, "INVALID_REQUEST", "null"},
		"an empty batch":          {`[]`, "INVALID_REQUEST", "null"},
		"a string":                {`"x"`, "INVALID_REQUEST", "null"},
		"no version":              {`{"id":1,"method":"GetTask","params":{"id":"x"}}`, "INVALID_REQUEST", "1"},
		"another version":         {`{"jsonrpc":"1.0","id":1,"method":"GetTask","params":{"id":"x"}}`, "INVALID_REQUEST", "1"},
		"no method":               {`{"jsonrpc":"2.0","id":"a"}`, "INVALID_REQUEST", `"a"`},
		"a method that is none":   {`{"jsonrpc":"2.0","id":"a","method":7}`, "INVALID_REQUEST", `"a"`},
		"an unknown method":       {`{"jsonrpc":"2.0","id":"a","method":"Nonsense"}`, "METHOD_NOT_FOUND", `"a"`},
		"an unknown old method":   {`{"jsonrpc":"2.0","id":"a","method":"tasks/nonsense"}`, "METHOD_NOT_FOUND", `"a"`},
		"an id that is an object": {`{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{"id":"x"}}`, "INVALID_REQUEST", "null"},
		"an id that is a boolean": {`{"jsonrpc":"2.0","id":true,"method":"GetTask","params":{"id":"x"}}`, "INVALID_REQUEST", "null"},
		"a huge id":               {`{"jsonrpc":"2.0","id":1e400,"method":"GetTask","params":{"id":"x"}}`, "INVALID_REQUEST", "null"},
		"a long id":               {`{"jsonrpc":"2.0","id":12345678901234567890,"method":"GetTask","params":{"id":"x"}}`, "TASK_NOT_FOUND", "12345678901234567890"},
		"no id":                   {`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`, "TASK_NOT_FOUND", "null"},
		"a method in other case":  {`{"jsonrpc":"2.0","id":1,"method":"GetTask","Method":"x","params":{"id":"x"}}`, "INVALID_REQUEST", "1"},
		"a method twice":          {`{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"CancelTask","params":{"id":"x"}}`, "INVALID_REQUEST", "1"},
		"no params":               {`{"jsonrpc":"2.0","id":1,"method":"GetTask"}`, "INVALID_PARAMS", "1"},
		"no params, none needed":  {`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, "UNSUPPORTED_OPERATION", "1"},
		"params in an array":      {`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}`, "INVALID_PARAMS", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, body := w.send(t, http.MethodPost, "/", c.body, nil)
			got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(body))
			if err != nil || got != c.reason {
				t.Errorf("got %s of %s, want %s (%v)", got, body, c.reason, err)
			}
			var envelope struct{ ID json.RawMessage }
			if err := json.Unmarshal([]byte(body), &envelope); err != nil || string(envelope.ID) != c.id {
				t.Errorf("id: got %s, want %s", envelope.ID, c.id)
			}
		})
	}
	res, body := w.send(t, http.MethodPost, "/", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ListTasks","params":{}}`, nil)
	if !strings.Contains(body, `"id":9007199254740993,"result"`) || res.StatusCode != http.StatusOK {
		t.Errorf("the id of a result: got %s", body)
	}
}

// TestMethodsAndPaths: 404 and 405 with what is allowed, in JSON.
func TestMethodsAndPaths(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.URLPaths(executor.Paths{Health: "/up"}))
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 405, "POST"},
		{"PUT", "/v0.3", 405, "POST"},
		{"DELETE", "/v0.3/", 405, "POST"},
		{"GET", "/v1/message:send", 405, "POST"},
		{"PATCH", "/v1/message:stream", 405, "POST"},
		{"POST", "/v1/tasks", 405, "GET"},
		{"DELETE", "/v1/tasks/x", 405, "GET"},
		{"GET", "/v1/tasks/x:cancel", 405, "POST"},
		{"DELETE", "/v1/tasks/x:subscribe", 405, "POST, GET"},
		{"PUT", "/v1/tasks/x/pushNotificationConfigs", 405, "POST, GET"},
		{"POST", "/v1/tasks/x/pushNotificationConfigs/y", 405, "GET, DELETE"},
		{"POST", "/v1/extendedAgentCard", 405, "GET"},
		{"POST", "/.well-known/agent-card.json", 405, "GET, HEAD"},
		{"POST", "/up", 405, "GET, HEAD"},
		{"PUT", "/v0.3/v1/message:send", 405, "POST"},
		{"GET", "/nowhere", 404, ""},
		{"GET", "/healthz", 404, ""},
		{"GET", "/v1", 404, ""},
		{"GET", "/v1/", 404, ""},
		{"GET", "/v1/tasks/", 404, ""},
		{"GET", "/v1//tasks", 404, ""},
		{"GET", "/v1/tasks//x", 404, ""},
		{"GET", "/v1/tasks/../tasks", 404, ""},
		{"GET", "/v1/tasks/%2e%2e", 404, ""},
		{"GET", "/v1/tasks/a%2Fb", 404, ""},
		{"POST", "/v1/tasks/:cancel", 404, ""},
		{"GET", "/v0.3/v1/nothing", 404, ""},
		{"GET", "/V1/tasks", 404, ""},
		{"OPTIONS", "/", 405, "POST"},
		{"GET", "/v1/tasks/x", 404, ""}, // no such task
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			t.Parallel()
			req := httptest.NewRequestWithContext(t.Context(), c.method, "http://h"+c.path, nil)
			rec := httptest.NewRecorder()
			w.srv.ServeHTTP(rec, req)
			if rec.Code != c.status || rec.Header().Get("Allow") != c.allow {
				t.Errorf("got %d, Allow %q; want %d, %q", rec.Code, rec.Header().Get("Allow"), c.status, c.allow)
			}
			if _, err := edgeAnswer(rec.Code, rec.Header().Get("Content-Type"), rec.Body.Bytes()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, query := range []string{"pageSize=%zz", "contextId=%E2%82", "tenant=%FF&pageSize=1"} { // the latter are no UTF-8
		res, body := w.send(t, http.MethodGet, "/v1/tasks?"+query, "", nil)
		if got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(body)); err != nil || got != "INVALID_REQUEST" {
			t.Errorf("the malformed query %s: got %s (%v)", query, body, err)
		}
	}
}

// TestRawConnections sends what no client library would.
func TestRawConnections(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	flood := strings.Repeat("A2A-Extensions: "+strings.Repeat("https://example.com/x,", 40)+"\r\n", 200)
	many := strings.Builder{}
	for i := range 3000 {
		_, _ = fmt.Fprintf(&many, "X-H-%d: x\r\n", i)
	}
	body := rpcBody(`{"message":` + goodMessage + `}`)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for name, c := range map[string]struct {
		send   string
		status int
	}{
		"a flood of extensions":             {"POST / HTTP/1.1\r\nHost: h\r\n" + flood + length + "\r\n" + body, 200},
		"a flood of headers":                {"POST / HTTP/1.1\r\nHost: h\r\n" + many.String() + length + "\r\n" + body, 200},
		"a body that is shorter than said":  {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" + body, 200},
		"a length that is less than it is":  {"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 10\r\n\r\n" + body, 200},
		"chunks that are broken":            {"POST /v1/message:send HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"many versions":                     {"POST / HTTP/1.1\r\nHost: h\r\nA2A-Version: 1.0\r\nA2A-Version: 2.0\r\n" + length + "\r\n" + body, 200},
		"a version of bytes":                {"POST / HTTP/1.1\r\nHost: h\r\nA2A-Version: \xff\xfe\r\n" + length + "\r\n" + body, 200},
		"an absolute path of a proxy's":     {"GET http://other/v1/nothing HTTP/1.1\r\nHost: h\r\n\r\n", 404},
		"a version of HTTP without headers": {"POST / HTTP/1.0\r\n" + length + "\r\n" + body, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, c.send); err != nil {
				t.Fatal(err)
			}
			if tcp, ok := conn.(*net.TCPConn); ok && strings.Contains(name, "shorter") {
				_ = tcp.CloseWrite() // the rest never comes
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			got, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != c.status {
				t.Errorf("got HTTP %d, want %d: %s", res.StatusCode, c.status, got)
			}
			if _, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), got); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzHTTPEdge sends any method, path, header and body. Whatever it is, the
// answer is JSON or a stream of it, and no internal error.
func FuzzHTTPEdge(f *testing.F) {
	srv, err := executor.NewServer(conforming(nil), executor.Logger(slog.New(slog.DiscardHandler)), executor.MaxBodyBytes(64<<10), executor.KeepAlive(0))
	if err != nil {
		f.Fatal(err)
	}
	bodies := []string{
		``, `{}`, `null`, `[]`, rpcBody(`{"message":` + goodMessage + `}`), `{"message":` + goodMessage + `}`, withData(nested(200)), withData(`{"a":1e400}`),
		`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"ask"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`, `{"jsonrpc":"2.0","id":1e3,"method":"DeleteTaskPushNotificationConfig","params":{"taskId":"x","id":"y"}}`,
		`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}`, "\xff", `{"message":` + goodMessage,
	}
	for i, path := range []string{
		"/", "/v0.3", "/v1/message:send", "/v1/message:stream", "/v1/tasks", "/v1/tasks/x", "/v1/tasks/x:cancel", "/v1/tasks/x/pushNotificationConfigs",
		"/v0.3/v1/message:send", "/v0.3/v1/message:stream", "/v0.3/v1/tasks?pageSize=x", "/v0.3/v1/card", "/.well-known/agent-card.json", "/healthz", "/nowhere",
	} {
		f.Add([]string{"POST", "GET", "DELETE"}[i%3], path, []string{"", "1.0", "0.3", "9"}[i%4], []byte(bodies[i%len(bodies)]))
		f.Add("POST", path, "", []byte(bodies[(i+4)%len(bodies)]))
	}
	f.Fuzz(func(t *testing.T, method, target, version string, body []byte) {
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: h\r\n\r\n")))
		if err != nil || strings.Contains(target, "subscribe") || bytes.Contains(body, []byte("ubscribe")) { // which would wait for a parked task
			return
		}
		req = req.WithContext(t.Context())
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if version != "" {
			req.Header["A2a-Version"] = []string{version}
		}
		rec := httptest.NewRecorder()
		srv.ServeHTTP(rec, req)
		if method == http.MethodHead {
			return
		}
		if _, err := edgeAnswer(rec.Code, rec.Header().Get("Content-Type"), rec.Body.Bytes()); err != nil {
			t.Errorf("%s %s %q %q: %v", method, target, version, body, err)
		}
	})
}

// TestNoOtherSpellingReplacesWhatWasChecked: the host reads names of any case,
// so that PARAMS was taken for the params, after others had been checked, and ID
// for the id.
func TestNoOtherSpellingReplacesWhatWasChecked(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)))
	good := `{"message":` + goodMessage + `}`
	goodOld := `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`
	for name, c := range map[string]struct{ path, body, reason string }{
		"PARAMS":           {"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + good + `,"PARAMS":{"message":null}}`, "INVALID_REQUEST"},
		"PARAMS alone":     {"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","PARAMS":{}}`, "INVALID_REQUEST"},
		"params, long s":   {"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + good + `,"param\u017f":{}}`, "INVALID_REQUEST"},
		"PARAMS of 0.3":    {"/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":` + goodOld + `,"PARAMS":{"message":null}}`, "INVALID_REQUEST"},
		"ID":               {"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + good + `,"ID":"other"}`, "INVALID_REQUEST"},
		"ID of 0.3":        {"/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":` + goodOld + `,"ID":"other"}`, "INVALID_REQUEST"},
		"MESSAGE":          {"/", rpcBody(`{"message":` + goodMessage + `,"MESSAGE":null}`), "INVALID_PARAMS"},
		"Parts":            {"/", rpcBody(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"Parts":[null]}}`), "INVALID_PARAMS"},
		"MESSAGE to REST":  {"/v1/message:send", `{"message":` + goodMessage + `,"MESSAGE":null}`, "INVALID_PARAMS"},
		"Data to REST":     {"/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","Data":1}]}}`, "INVALID_PARAMS"},
		"Parts of 0.3":     {"/v0.3", strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":`+goodOld+`}`, `"parts"`, `"Parts":[null],"parts"`, 1), "INVALID_PARAMS"},
		"MESSAGE to REST3": {"/v0.3/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"MESSAGE":null}`, "INVALID_PARAMS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, body := w.send(t, http.MethodPost, c.path, c.body, map[string]string{"Authorization": "Bearer ada"})
			got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(body))
			if err != nil || got != c.reason {
				t.Errorf("got %s of %s, want %s (%v)", got, body, c.reason, err)
			}
			if !strings.HasPrefix(c.path, "/v") && !strings.Contains(body, `"id":1`) || strings.Contains(body, `"id":"other"`) {
				t.Errorf("the id of %s", body)
			}
		})
	}
	_, body := w.send(t, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"},"ID":"other"}`, nil)
	if !strings.Contains(body, `"id":1`) {
		t.Errorf("the id of a request of nobody: %s", body)
	}
}

// TestRepeatedKeysAreBounded: 360 KB of a request made 6.2 MB of an answer.
func TestRepeatedKeysAreBounded(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	long := strings.Repeat("k", 50_000)
	for name, data := range map[string]string{
		"many":      `{` + strings.Repeat(`"a":1,`, 60_000) + `"a":1}`,
		"long":      `{"` + long + `":{` + strings.Repeat(`"a":1,`, 500) + `"a":1}}`,
		"deep":      strings.Repeat(`{"`+long[:1000]+`":`, 60) + `{` + strings.Repeat(`"a":1,`, 500) + `"a":1}` + strings.Repeat(`}`, 60),
		"of a name": `{"` + long + `":[` + strings.Repeat(`1e400,`, 500) + `1e400]}`,
	} {
		for path, body := range map[string]string{"/": rpcBody(withData(data)), "/v1/message:send": withData(data)} {
			res, answer := w.send(t, http.MethodPost, path, body, nil)
			got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(answer))
			if err != nil || got != "INVALID_PARAMS" || len(answer) > 256<<10 {
				t.Errorf("%s to %s: %s in %d bytes (%v)", name, path, got, len(answer), err)
			}
		}
	}
}
