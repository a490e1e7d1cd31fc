package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/errcode"
)

// telling makes an HTTP transport tell the status of an answer that is a
// failure, and the delay it asks for, which the library does not keep, and reads no
// message larger than maxBytes.
func telling(t mcp.Transport, maxBytes int64) mcp.Transport {
	h, ok := t.(*mcp.StreamableClientTransport)
	if !ok {
		return t
	}
	client := http.Client{}
	if h.HTTPClient != nil {
		client = *h.HTTPClient
	}
	base := client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	client.Transport = answers{base, h.OAuthHandler != nil, maxBytes, resumesOf(h)}
	told := *h
	told.HTTPClient = &client
	return &told
}

// resumesOf is how often the library asks for the rest of a stream.
func resumesOf(h *mcp.StreamableClientTransport) int {
	if h.MaxRetries == 0 {
		return 5
	}
	return max(0, h.MaxRetries)
}

// answers keeps what would break the library's connection, and with it the calls
// of other requests, to the call that it answers: a status that is a failure, a
// session that is gone, a body that is no message. They become errors here.
type answers struct {
	base     http.RoundTripper
	oauth    bool
	maxBytes int64
	resumes  int // of a stream that broke
}

const mediaEvents = "text/event-stream"

func mediaType(res *http.Response) string {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind
}

// errForgotten is what a server says of a session that it does not know.
var errForgotten = errors.New("the server has forgotten the session")

const headerSession = "Mcp-Session-Id"

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(req *http.Request) (*http.Response, error) {
	called := markWritten(req.Context())
	j, _ := req.Context().Value(journeyKey{}).(*journey)
	if j != nil && req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") != "" {
		return a.resume(req, j)
	}
	res, err := a.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Body = a.bound(res.Body)
	if req.Method != http.MethodPost || a.oauth && (res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden) {
		return res, nil
	}
	if res.StatusCode == http.StatusNotFound && req.Header.Get(headerSession) != "" {
		_ = res.Body.Close()
		return nil, errForgotten
	}
	kind := mediaType(res)
	if called && res.StatusCode == http.StatusOK && kind != "application/json" && kind != mediaEvents {
		_ = res.Body.Close()
		return nil, fmt.Errorf("read answer: expected JSON or events, got %.100q", kind)
	}
	switch ok := res.StatusCode < http.StatusBadRequest; {
	case ok && kind == mediaEvents:
		id := callID(req)
		if j != nil {
			j.begin(id)
		}
		res.Body = a.events(res.Body, id)
		return res, nil
	case ok && (kind != "application/json" || res.StatusCode == http.StatusAccepted || res.StatusCode == http.StatusNoContent):
		return res, nil
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= http.StatusInternalServerError,
		!ok && kind != "application/json" && (res.StatusCode != http.StatusBadRequest || req.Header.Get(headerSession) == ""):
		return nil, a.refused(req, res)
	default:
		return a.message(req, res)
	}
}

func (a answers) bound(body io.ReadCloser) io.ReadCloser {
	if a.maxBytes <= 0 {
		return body
	}
	return &bounded{ReadCloser: body, max: a.maxBytes, left: a.maxBytes}
}

// message reads an answer that must be one JSON-RPC message, or with a status that
// is a failure may be one.
func (a answers) message(req *http.Request, res *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(res.Body)
	var msg jsonrpc.Message
	if err == nil && len(bytes.TrimSpace(body)) > 0 {
		msg, err = jsonrpc.DecodeMessage(body)
	}
	answer, isAnswer := msg.(*jsonrpc.Response)
	switch {
	case res.StatusCode == http.StatusBadRequest && req.Header.Get(headerSession) != "" && (!isAnswer || !answer.ID.IsValid()):
		_ = res.Body.Close()
		return nil, errForgotten // not in the specification, but in its first examples
	case err != nil && res.StatusCode >= http.StatusBadRequest, len(body) == 0 && res.StatusCode >= http.StatusBadRequest:
		return nil, a.refused(req, res)
	case err != nil:
		_ = res.Body.Close()
		return nil, fmt.Errorf("read answer: %w", err)
	}
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

func (a answers) refused(req *http.Request, res *http.Response) error {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	_ = res.Body.Close()
	return &errcode.HTTPStatusError{
		StatusCode: res.StatusCode, Header: res.Header, Method: req.Method, URL: publicURL(req.URL.String()),
	}
}

// errTooLarge is the error of a message over the bound.
var errTooLarge = errors.New("a message is larger")

// bounded is a body of messages with an empty line between them (server-sent
// events), or of one; none may be larger than max.
type bounded struct {
	io.ReadCloser
	max, left int64
	line      bool // something stands in the line
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		switch {
		case c == '\n' && !b.line:
			b.left = b.max
			continue
		case c == '\n':
			b.line = false
		case c != '\r':
			b.line = true
		}
		if b.left--; b.left < 0 {
			return 0, fmt.Errorf("%w than %d bytes", errTooLarge, b.max)
		}
	}
	return n, err
}
