package tool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The library gives up the whole connection, and with it the calls of other
// requests, for a stream of events that is broken. So a stream that cannot be used
// ends with an answer of ours to the call that it was for.

// journey is what is known of a call's way over HTTP: its id, and how often its
// stream was asked for again from the same place.
type journey struct {
	mu    sync.Mutex
	id    json.RawMessage
	last  string
	asked int
}

type journeyKey struct{}

// begin notes the call that is sent.
func (j *journey) begin(id json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.id, j.last, j.asked = id, "", 0
}

// again notes that the stream is asked for from an event on.
func (j *journey) again(last string) (id json.RawMessage, asked int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.last != last {
		j.last, j.asked = last, 0
	}
	j.asked++
	return j.id, j.asked
}

// callID is the id of the call that a request carries, nil if it carries none.
func callID(req *http.Request) json.RawMessage {
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	var msg struct {
		ID     json.RawMessage
		Method string
	}
	if json.NewDecoder(body).Decode(&msg) != nil || msg.Method == "" {
		return nil
	}
	return msg.ID
}

// resume asks for the rest of a stream. When that fails for the last time, the
// call has failed.
func (a answers) resume(req *http.Request, j *journey) (*http.Response, error) {
	id, asked := j.again(req.Header.Get("Last-Event-ID"))
	if asked > a.resumes {
		return asEvents(req, lost(id)), nil
	}
	res, err := a.base.RoundTrip(req)
	if err == nil && (res.StatusCode != http.StatusOK || mediaType(res) != mediaEvents) {
		err = a.refused(req, res)
	}
	switch {
	case err == nil:
		res.Body = a.events(a.bound(res.Body), id)
		return res, nil
	case asked < a.resumes:
		return nil, err
	}
	return asEvents(req, lost(id)), nil
}

func asEvents(req *http.Request, body []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {mediaEvents}}, Body: io.NopCloser(bytes.NewReader(body)),
	}
}

// lost is the answer to a call whose stream cannot be used.
func lost(id json.RawMessage) []byte {
	if id == nil {
		return nil
	}
	return fmt.Appendf(nil, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"the stream of the answer broke\"}}\n\n", id, codeFailed)
}

// events is a body of server-sent events that are what the library expects, up to
// one that is not.
type events struct {
	io.Closer
	in      *bufio.Reader
	id      json.RawMessage // of the call, nil where there is none
	noID    bool            // it cannot be resumed
	pending []byte
	err     error
}

func (a answers) events(body io.ReadCloser, id json.RawMessage) io.ReadCloser {
	return &events{Closer: body, in: bufio.NewReader(body), id: id, noID: a.resumes == 0}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.pending) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.pending, e.err = e.next()
	}
	n := copy(p, e.pending)
	e.pending = e.pending[n:]
	return n, nil
}

// next reads the next event.
func (e *events) next() ([]byte, error) {
	var event, data []byte
	other := false // an event of another kind
	for {
		line, err := e.in.ReadBytes('\n')
		text := bytes.TrimRight(line, "\r\n")
		name, value, found := bytes.Cut(text, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case errors.Is(err, errTooLarge), len(text) > 0 && !found:
			return lost(e.id), io.EOF
		case string(name) == "data":
			data = append(append(data, value...), '\n')
		case string(name) == "event":
			other = len(value) > 0 && string(value) != "message"
		}
		if string(name) != "id" || !e.noID {
			event = append(event, line...)
		}
		if len(text) > 0 && err == nil {
			continue
		}
		if len(bytes.TrimSpace(data)) > 0 && !other {
			if _, bad := jsonrpc.DecodeMessage(bytes.TrimSpace(data)); bad != nil && err != nil {
				return nil, err // it broke off
			} else if bad != nil {
				return lost(e.id), io.EOF
			}
		}
		return event, err
	}
}
