package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The host's HTTP bindings answer what they cannot decode by themselves, with
// the text of Go's decoder. This file gives those answers the texts of the
// specification. An answer is the binding's own when no handler was reached,
// which markReached tells.

type reachedKey struct{}

func markReached(ctx context.Context) {
	if reached, ok := ctx.Value(reachedKey{}).(*atomic.Bool); ok {
		reached.Store(true)
	}
}

// tidy wraps a binding.
func tidy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached := new(atomic.Bool)
		ctx := context.WithValue(r.Context(), reachedKey{}, reached)
		failure := new(atomic.Pointer[protocolError])
		ctx = context.WithValue(ctx, failureKey{}, failure)
		next.ServeHTTP(&tidyWriter{ResponseWriter: w, reached: reached, failure: failure}, r.WithContext(ctx))
	})
}

type tidyWriter struct {
	http.ResponseWriter
	reached *atomic.Bool
	failure *atomic.Pointer[protocolError]
}

// Write passes b on. The bindings write an error, alone or as the data of a
// server-sent event, in one call.
func (w *tidyWriter) Write(b []byte) (int, error) {
	if h := w.Header(); h.Get("Content-Type") == "" {
		h.Set("Content-Type", mediaJSON)
	}
	fixed := b
	switch e := w.failure.Load(); {
	case !w.reached.Load():
		fixed = tidyError(b)
	case e != nil && e.kind.sentinel == errUnavailable: //nolint:errorlint // our own table's value
		fixed = unavailableBody(b)
	}
	if _, err := w.ResponseWriter.Write(fixed); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush lets the bindings stream.
func (w *tidyWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (w *tidyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

var eventPrefix = []byte("data: ")

// tidyError gives an error of a binding the text of its kind. A JSON-RPC error
// has a negative code; one of HTTP+JSON has its kind's name in the details.
func tidyError(b []byte) []byte {
	body, isEvent := bytes.CutPrefix(b, eventPrefix)
	var answer map[string]json.RawMessage
	var fault struct {
		Code    int               `json:"code"`
		Status  string            `json:"status,omitempty"`
		Message string            `json:"message"`
		Data    json.RawMessage   `json:"data,omitempty"`
		Details []json.RawMessage `json:"details,omitempty"`
	}
	if json.Unmarshal(body, &answer) != nil || json.Unmarshal(answer["error"], &fault) != nil {
		return b
	}
	if fault.Code < 0 {
		fault.Message = textOfCode(fault.Code)
	} else {
		fault.Message = textOfReason(fault.Details)
	}
	raw, err := json.Marshal(fault)
	if err != nil {
		return b
	}
	answer["error"] = raw
	out, err := json.Marshal(answer)
	if err != nil {
		return b
	}
	if isEvent {
		return append(append(bytes.Clone(eventPrefix), out...), '\n', '\n')
	}
	return append(out, '\n')
}

// textOfCode is the text of the JSON-RPC errors by which a binding itself
// refuses.
func textOfCode(code int) string {
	sentinel := a2a.ErrInternalError
	switch code {
	case -32700:
		sentinel = a2a.ErrParseError
	case -32600:
		sentinel = a2a.ErrInvalidRequest
	case -32601:
		sentinel = a2a.ErrMethodNotFound
	case -32602:
		sentinel = a2a.ErrInvalidParams
	}
	k, _ := kindOf(sentinel)
	return k.text
}

// textOfReason finds the kind by the reason in google.rpc.ErrorInfo.
func textOfReason(details []json.RawMessage) string {
	for _, d := range details {
		var info struct {
			Reason string `json:"reason"`
		}
		if json.Unmarshal(d, &info) != nil {
			continue
		}
		for _, k := range kinds {
			if !k.ofContext() && a2a.ErrorReason(k.sentinel) == info.Reason {
				return k.text
			}
		}
	}
	return internalKind.text
}

// byMethod sends a JSON-RPC request that names no version to the generation
// that has its method: those of A2A 0.3 have a slash in their names.
func byMethod(current, old http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get(a2a.SvcParamVersion) != "" {
			current.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err}))
		var request struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(body, &request) == nil && strings.Contains(request.Method, "/") {
			old.ServeHTTP(w, r)
			return
		}
		current.ServeHTTP(w, r)
	})
}

// failingReader ends a body as the one it was read from ended.
type failingReader struct{ err error }

// Read implements io.Reader.
func (f failingReader) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
