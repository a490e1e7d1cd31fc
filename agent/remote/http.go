package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"

	"google.golang.org/grpc"
)

// The A2A client keeps of an HTTP answer less than a good failure needs, and
// takes whatever comes. So its HTTP client is guarded: what is read is bounded,
// redirects are answers like any other, status and header are noted for the
// call, and a stream is one.

func guardClient(base *http.Client, maxBytes int64) *http.Client {
	c := *base
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.Transport = guarded{next, maxBytes}
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &c
}

type guarded struct {
	next     http.RoundTripper
	maxBytes int64
}

// CloseIdleConnections implements what http.Client.CloseIdleConnections calls.
func (g guarded) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	notesFrom(req.Context()).asked()
	res, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	notesFrom(req.Context()).answered(res)
	res.Body = &bounded{ReadCloser: res.Body, left: g.maxBytes + 1, most: g.maxBytes}
	if res.StatusCode == http.StatusOK && req.Header.Get("Accept") == mediaEvents {
		if err := asEvents(res); err != nil {
			_ = res.Body.Close()
			return nil, err
		}
	}
	return res, nil
}

const (
	mediaEvents = "text/event-stream"
	mediaJSON   = "application/json"
)

// asEvents makes a stream of an answer in JSON: servers refuse a request for a
// stream in that form, or answer it at once. Anything else is no answer.
func asEvents(res *http.Response) error {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == mediaEvents {
		return nil
	}
	if err != nil || media != mediaJSON {
		return &eventError{text: fmt.Sprintf("a stream of media type %.60q", media)}
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	event := bytes.NewBufferString("data: ")
	if err := json.Compact(event, raw); err != nil {
		return &eventError{text: "no JSON: " + err.Error()}
	}
	event.WriteString("\n\n")
	res.Body = struct {
		io.Reader
		io.Closer
	}{event, res.Body}
	return nil
}

// errTooLarge says that there was more to read than is allowed.
var errTooLarge = errors.New("the agent's answer is too large")

// bounded reads no more than it may; left is one more, to tell the end from more.
type bounded struct {
	io.ReadCloser
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errTooLarge, b.most)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// notes is what is noted of a call's last request.
type notes struct {
	mu     sync.Mutex
	status int // of HTTP, 0 before an answer
	header http.Header
	rpc    error // of gRPC
}

type notesKey struct{}

func withNotes(ctx context.Context) (context.Context, *notes) {
	n := &notes{}
	return context.WithValue(ctx, notesKey{}, n), n
}

func notesFrom(ctx context.Context) *notes {
	n, _ := ctx.Value(notesKey{}).(*notes)
	return n
}

// asked forgets what was before a new request.
func (n *notes) asked() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status, n.header, n.rpc = 0, nil, nil
}

func (n *notes) answered(res *http.Response) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status, n.header = res.StatusCode, res.Header
}

func (n *notes) failed(err error) {
	if n == nil || err == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rpc = err
}

// last tells what the last answer was.
func (n *notes) last() (status int, header http.Header, rpc error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status, n.header, n.rpc
}

// noteUnary notes the status of gRPC, of which the A2A client keeps the text.
func noteUnary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	notesFrom(ctx).failed(err)
	return err
}

func noteStream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, cc, method, opts...)
	if err != nil {
		notesFrom(ctx).failed(err)
		return nil, err
	}
	return notedStream{s, notesFrom(ctx)}, nil
}

type notedStream struct {
	grpc.ClientStream
	notes *notes
}

// RecvMsg implements grpc.ClientStream.
func (s notedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != io.EOF { //nolint:errorlint // gRPC returns it as it is
		s.notes.failed(err)
	}
	return err
}
