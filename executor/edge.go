package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The host's JSON-RPC bindings answer what they cannot decode by themselves,
// with the text of Go's decoder. This file gives those answers the texts of
// the specification. An answer is the binding's own when no handler was
// reached, which markReached tells.

type reachedKey struct{}

func markReached(ctx context.Context) {
	if reached, ok := ctx.Value(reachedKey{}).(*atomic.Bool); ok {
		reached.Store(true)
	}
}

// tidyJSONRPC wraps a JSON-RPC binding.
func tidyJSONRPC(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached := new(atomic.Bool)
		ctx := context.WithValue(r.Context(), reachedKey{}, reached)
		next.ServeHTTP(&tidyWriter{ResponseWriter: w, reached: reached}, r.WithContext(ctx))
	})
}

type tidyWriter struct {
	http.ResponseWriter
	reached *atomic.Bool
}

// Write passes b on. The bindings write a JSON-RPC error, alone or as the data
// of a server-sent event, in one call.
func (w *tidyWriter) Write(b []byte) (int, error) {
	if h := w.Header(); h.Get("Content-Type") == "" {
		h.Set("Content-Type", mediaJSON)
	}
	if w.reached.Load() {
		return w.ResponseWriter.Write(b)
	}
	if _, err := w.ResponseWriter.Write(tidy(b)); err != nil {
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

func tidy(b []byte) []byte {
	body, isEvent := bytes.CutPrefix(b, eventPrefix)
	var msg struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &msg) != nil || msg.Error == nil {
		return b
	}
	msg.Error.Message = jsonRPCText(msg.Error.Code)
	out, err := json.Marshal(msg)
	if err != nil {
		return b
	}
	if isEvent {
		return append(append(bytes.Clone(eventPrefix), out...), '\n', '\n')
	}
	return append(out, '\n')
}

// jsonRPCText is the text of the errors by which a binding itself refuses.
func jsonRPCText(code int) string {
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
