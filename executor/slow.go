package executor

import (
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A client that stops reading would hold its connection, and the goroutine
// that writes to it, for as long as it likes. The writers here give each write
// a time, after which the request is over; what it was told of goes on.

// errTooSlow ends a stream whose reader is too far behind.
var errTooSlow = newProtocolError(
	kind{a2a.ErrServerError, -32000, 500, codes.ResourceExhausted, "The client reads too slowly; subscribe to the task to follow it further."}, "")

// boundWrites gives each write of an HTTP answer a time; 0 is none.
func boundWrites(next http.Handler, limit time.Duration) http.Handler {
	if limit == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &boundWriter{ResponseWriter: w, conn: http.NewResponseController(w), limit: limit}
		// What is left to send when the handler has returned has its time too.
		defer b.begin()
		next.ServeHTTP(b, r)
	})
}

type boundWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	limit time.Duration
}

// begin gives the next write its time. A writer without deadlines (a recorder
// in a test) has none.
func (w *boundWriter) begin() { _ = w.conn.SetWriteDeadline(time.Now().Add(w.limit)) }

// done lets the time between writes pass.
func (w *boundWriter) done() { _ = w.conn.SetWriteDeadline(time.Time{}) }

func (w *boundWriter) Write(b []byte) (int, error) {
	w.begin()
	defer w.done()
	return w.ResponseWriter.Write(b)
}

// FlushError tells net/http's callers why a flush failed; those of http.Flusher
// learn it from the next write.
func (w *boundWriter) FlushError() error {
	w.begin()
	defer w.done()
	return w.conn.Flush()
}

// Flush implements http.Flusher, which the host's bindings ask for.
func (w *boundWriter) Flush() { _ = w.FlushError() }

// Unwrap is for http.ResponseController.
func (w *boundWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// boundStream does the same for a gRPC stream.
type boundStream struct {
	grpc.ServerStream
	limit time.Duration
	late  atomic.Bool // a send took longer
}

// SendMsg implements grpc.ServerStream. A send for which the client leaves no
// room ends with the stream, which the error ends.
func (s *boundStream) SendMsg(m any) error {
	if s.limit == 0 {
		return s.ServerStream.SendMsg(m)
	}
	sent := make(chan error, 1)
	go func() { sent <- s.ServerStream.SendMsg(m) }()
	t := time.NewTimer(s.limit)
	defer t.Stop()
	select {
	case err := <-sent:
		return err
	case <-t.C:
		s.late.Store(true)
		return errTooSlow
	}
}

// awaitBody gives the body of a request its time; 0 is none. net/http reads what
// is left of it before it sends an answer, so this is for refusals too.
func awaitBody(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if limit > 0 && r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // a recorder in a test has none
	}
}

// bodyRead lets the time after the body pass: net/http takes a deadline then
// for a client that has gone.
func bodyRead(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// refusedWait is how long the body of a request may take that is refused
// whatever it says.
const refusedWait = time.Second

// hurry is for such a request.
func (c *config) hurry(w http.ResponseWriter, r *http.Request) {
	limit := refusedWait
	if c.readTimeout > 0 {
		limit = min(limit, c.readTimeout)
	}
	awaitBody(w, r, limit)
}
