package executor_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/google/go-cmp/cmp"
)

// TestLastEventIsFinal: the last event of a 0.3 stream said "final": false over
// HTTP+JSON where the task waits for input, and over gRPC always.
func TestLastEventIsFinal(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for _, text := range []string{"done", "ask", "credentials"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for path, body := range map[string]string{
				"/v0.3":                   `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"` + text + `"}]}}}`,
				"/v0.3/v1/message:stream": `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"` + text + `"}]}}`,
			} {
				_, _, events := w.post(t, path, body)
				parts := strings.Split(strings.TrimSpace(events), "data: ")
				if last := parts[len(parts)-1]; !strings.Contains(last, `"final":true`) {
					t.Errorf("%s: the last event is %s", path, last)
				}
				if n := strings.Count(events, `"final":true`); n != 1 {
					t.Errorf("%s: %d final events", path, n)
				}
			}
			if got := oldGRPCFinals(t, w, text); !slices.Contains(got, true) || slices.Index(got, true) != len(got)-1 {
				t.Errorf("gRPC: final is %v", got)
			}
		})
	}
}

// oldGRPCFinals gives "final" of each status update of a stream.
func oldGRPCFinals(t *testing.T, w *wire, text string) []bool {
	t.Helper()
	stream, err := oldpb.NewA2AServiceClient(w.conn).SendStreamingMessage(t.Context(), &oldpb.SendMessageRequest{Request: &oldpb.Message{
		MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: text}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out []bool
	for {
		res, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if u := res.GetStatusUpdate(); u != nil {
			out = append(out, u.GetFinal())
		}
	}
}

// TestRESTErrorOf03: A2A 0.3 names no form for errors over HTTP+JSON; the body
// has what each SDK looks for.
func TestRESTErrorOf03(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	res, body := w.send(t, http.MethodGet, "/v0.3/v1/tasks/none", "", nil)
	type form struct {
		Code    int
		Type    string
		Message string
		Data    struct{ ErrorCode string }
		Error   struct {
			Code   int
			Status string
		}
	}
	var got, want form
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want.Code, want.Type, want.Message, want.Data.ErrorCode = -32001, "TaskNotFoundError", "Task not found.", "NOT_FOUND"
	want.Error.Code, want.Error.Status = 404, "NOT_FOUND"
	if diff := cmp.Diff(want, got); diff != "" || res.StatusCode != http.StatusNotFound || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s (-want +got):\n%s", res.Status, res.Header.Get("Content-Type"), diff)
	}
}
