package executor_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/executor"
)

// TestRESTTakesProtoNames: a2a-sdk 1.3.0 (Python) sends a 0.3 message over
// HTTP+JSON in the field names of the protocol buffers, which the host refused.
func TestRESTTakesProtoNames(t *testing.T) {
	t.Parallel()
	srv, err := executor.NewServer(echo("bank"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string // in the answer
	}{
		"proto names":     {`{"request":{"message_id":"m","role":"ROLE_USER","content":[{"text":"hi"}]},"configuration":{"blocking":true}}`, 200, `"bank: hi"`},
		"JSON names":      {`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]},"configuration":{"blocking":true}}`, 200, `"bank: hi"`},
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
