package blueprint

import (
	"bufio"
	"net"
	"net/http"
)

// tracker notes whether an answer was begun.
type tracker struct {
	http.ResponseWriter
	begun bool
}

// Unwrap is for http.ResponseController.
func (t *tracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader passes the status on. An informational one does not begin the answer.
func (t *tracker) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		t.begun = true
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write passes the bytes on.
func (t *tracker) Write(b []byte) (int, error) {
	t.begun = true
	return t.ResponseWriter.Write(b)
}

// Flush is for code that asserts http.Flusher.
func (t *tracker) Flush() { _ = t.FlushError() }

// FlushError sends the header, if the server's writer can.
func (t *tracker) FlushError() error {
	err := http.NewResponseController(t.ResponseWriter).Flush()
	t.begun = t.begun || err == nil
	return err
}

// Hijack is for code that asserts http.Hijacker.
func (t *tracker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	t.begun = t.begun || err == nil
	return conn, rw, err
}

// begun reports whether w, or a writer it wraps, knows that the answer was begun.
func begun(w http.ResponseWriter) bool {
	const deepest = 100
	for range deepest {
		if t, ok := w.(*tracker); ok {
			return t.begun
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
	return false
}
