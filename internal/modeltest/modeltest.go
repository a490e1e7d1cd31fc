// Package modeltest checks what every adapter of a vendor's model has to do,
// against a server that stands in for the vendor.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

// Vendor is a model whose vendor gives one answer after the other, the last again
// and again.
type Vendor struct {
	tool.Model
	mu   sync.Mutex
	asks []map[string]any
}

// Serve answers requests to a path for the length of a test. newModel makes the model
// that asks the server.
func Serve(t *testing.T, path string, newModel func(*httptest.Server) tool.Model, answers ...http.HandlerFunc) *Vendor {
	t.Helper()
	v := &Vendor{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask map[string]any
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.URL.Path != path {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		v.mu.Lock()
		v.asks = append(v.asks, ask)
		answer := answers[min(len(v.asks), len(answers))-1]
		v.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(web.Close)
	v.Model = newModel(web)
	return v
}

// Asks are the bodies of the requests so far.
func (v *Vendor) Asks() []map[string]any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asks)
}

// Answer is one of JSON, with the names and values of headers.
func Answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Abort breaks the connection, as the last event of a stream.
const Abort = "abort"

// Events is an answer as a stream of what form makes of each event.
func Events(form func(event string) string, events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			if ev == Abort {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler) //nolint:forbidigo // what a handler breaks off with
			}
			_, _ = io.WriteString(w, form(ev))
		}
	}
}

// Question is a request of a few words.
func Question() tool.ModelRequest {
	return tool.ModelRequest{Messages: []tool.Message{tool.UserText("x")}}
}

// Failure is what a model is to make of a vendor's answer.
type Failure struct {
	Answer http.HandlerFunc
	Stream bool
	Code   errcode.Code
	After  time.Duration // that the vendor asked for
}

// Check asks once and compares the failure, which tells clients nothing that the
// vendor's text calls private. A guardrail may have a source of its own.
func (f Failure) Check(t *testing.T, v *Vendor, source string) {
	t.Helper()
	req := Question()
	if f.Stream {
		req.Stream = func(string) error { return nil }
	}
	_, err := v.Generate(t.Context(), req)
	var e *errcode.Error
	if !errors.As(err, &e) || e.Code() != f.Code {
		t.Fatalf("got %v, want %s", err, f.Code)
	}
	after, _ := e.RetryAfter()
	if after != f.After || e.Source() != source && f.Code != errcode.GuardrailBlocked {
		t.Errorf("got delay %v from %q, want %v from %q", after, e.Source(), f.After, source)
	}
	if strings.Contains(e.Message(), "private") {
		t.Errorf("the vendor's text is public: %s", e.Message())
	}
	if n := len(v.Asks()); n != 1 {
		t.Errorf("asked %d times, want 1", n)
	}
}

// CheckSilence expects that a silent vendor is left, with the context's own word.
func CheckSilence(t *testing.T, serve func(*testing.T, ...http.HandlerFunc) *Vendor) {
	t.Helper()
	began := make(chan struct{}, 9)
	v := serve(t, func(_ http.ResponseWriter, r *http.Request) { began <- struct{}{}; <-r.Context().Done() })
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(why) }()
	if _, err := v.Generate(ctx, Question()); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := v.Generate(soon, Question()); !errcode.Is(err, errcode.UpstreamTimeout) {
		t.Errorf("got %v, want a timeout", err)
	}
}

// CheckAgent has a loop in an agent ask a vendor that refuses for a moment, then
// calls the tool "balance" and then says "You have 12." It expects that the
// refusal is waited out, the tool called and the text streamed.
func CheckAgent(t *testing.T, v *Vendor) {
	t.Helper()
	balance := tool.Func("balance", "", func(_ context.Context, in struct {
		ID string `json:"account_id"`
	},
	) (string, error) {
		return "12 on " + in.ID, nil
	})
	loop, err := tool.NewLoop(v, []tool.Tool{balance})
	if err != nil {
		t.Fatal(err)
	}
	executortest.Run(t, agent.New("teller", agent.Stream(loop.Stream)), "how much?").AssertText(t, "You have 12.")
	if n := len(v.Asks()); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}
