package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"google.golang.org/grpc/codes"
)

// answer is the ResponseWriter of the host's HTTP bindings. It holds the status
// back until there is something to say, so that an error before the first event
// of a stream can have its own, and writes errors itself: the host's have
// another shape than A2A asks for, and for what the binding cannot decode, the
// text of Go's decoder.
type answer struct {
	http.ResponseWriter
	*config
	x   *exchange
	op  *operation
	rpc bool            // JSON-RPC, else HTTP+JSON
	old bool            // A2A 0.3
	id  json.RawMessage // of the JSON-RPC request

	events    bool   // the client waits for a stream
	status    int    // that the binding wants
	eventID   []byte // a server-sent event's first line, waiting for its data
	committed bool
	ended     bool
}

func (c *config) answer(w http.ResponseWriter, r *http.Request) *answer {
	return &answer{
		ResponseWriter: w, config: c, id: json.RawMessage("null"),
		x: &exchange{edge: true, base: c.baseOf(r)}, events: r.Header.Get("Accept") == mediaEvents,
	}
}

// WriteHeader keeps the status for later.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

var (
	eventData = []byte("data: ")
	eventID   = []byte("id: ")
)

// Write passes on what is no error. The bindings write a body, and each line of
// a server-sent event, in one call.
func (a *answer) Write(b []byte) (int, error) {
	if a.ended {
		return len(b), nil
	}
	if a.streams() && bytes.HasPrefix(b, eventID) {
		a.eventID = bytes.Clone(b)
		return len(b), nil
	}
	if e := a.errorIn(b); e != nil {
		return len(b), a.fail(e)
	}
	a.commit(a.status)
	if _, err := a.ResponseWriter.Write(append(a.eventID, a.amend(b)...)); err != nil {
		return 0, err
	}
	a.eventID = nil
	return len(b), nil
}

// Flush lets the bindings stream.
func (a *answer) Flush() {
	if f, ok := a.ResponseWriter.(http.Flusher); ok && a.committed {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) streams() bool {
	return strings.HasPrefix(a.Header().Get("Content-Type"), mediaEvents)
}

const mediaEvents = "text/event-stream"

// errorIn gives the error that the binding is about to write, nil where it
// writes something else.
func (a *answer) errorIn(b []byte) *protocolError {
	data, isEvent := bytes.CutPrefix(b, eventData)
	if a.streams() && !isEvent {
		return nil // a comment
	}
	told := a.x.failure.Load()
	if told == nil && a.x.reached.Load() && a.status < http.StatusBadRequest && !bytes.Contains(data[:min(len(data), errorWithin)], errorMember) {
		return nil
	}
	var body struct {
		Error *struct {
			Code    int `json:"code"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &body); err != nil || body.Error == nil {
		if a.status < http.StatusBadRequest {
			return nil
		}
		return a.seal(refuse(a2a.ErrInternalError, ""))
	}
	if told != nil {
		return told
	}
	out := internalKind
	for _, k := range kinds {
		if k.rpc == body.Error.Code && k.rpc != internalKind.rpc || len(body.Error.Details) > 0 && k.reason() == body.Error.Details[0].Reason && !k.ofContext() {
			out = k
			break
		}
	}
	return a.seal(newProtocolError(out, ""))
}

// Where the bindings write that an answer is an error: after the version and
// the id of JSON-RPC.
var errorMember = []byte(`"error":{`)

const errorWithin = 256

// commit sends the header of an answer that is no error.
func (a *answer) commit(status int) {
	if a.committed {
		return
	}
	a.committed = true
	h := a.Header()
	if len(a.x.activated) > 0 {
		name := a2a.SvcParamExtensions
		if a.old {
			name = oldExtensions
		}
		h.Set(name, strings.Join(a.x.activated, ", "))
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", mediaJSON)
	}
	if status == 0 {
		status = http.StatusOK
	}
	a.ResponseWriter.WriteHeader(status)
}

// refuse answers with an error of the edge's.
func (a *answer) refuse(r *http.Request, err error) {
	if e := a.fail(a.tell(r.Context(), a.x.taskID, err)); e != nil {
		emit(r.Context(), a.logger, slog.LevelDebug, "answer not written", causeAttrs(e)...)
	}
}

// fail writes an error: as the whole answer with its own status, or as the last
// event of a stream. A JSON-RPC client that waits for a stream looks for errors
// only there, whatever it is that is refused.
func (a *answer) fail(e *protocolError) error {
	a.ended = true
	status := a.statusOf(e)
	body := a.render(e)
	if a.committed || a.rpc && status == http.StatusOK && (a.events || a.streams()) {
		if !a.committed {
			a.Header().Set("Content-Type", mediaEvents)
			a.Header().Set("Cache-Control", "no-cache")
			a.explain(e)
		}
		a.commit(http.StatusOK)
		body = append(append(append(a.eventID, eventData...), body...), '\n', '\n')
		_, err := a.ResponseWriter.Write(body)
		return err
	}
	h := a.Header()
	for _, name := range []string{"Cache-Control", "Connection", "X-Accel-Buffering", "Content-Type"} {
		h.Del(name)
	}
	a.explain(e)
	a.commit(status)
	_, err := a.ResponseWriter.Write(append(body, '\n'))
	return err
}

// explain adds the headers that go with some errors.
func (a *answer) explain(e *protocolError) {
	h := a.Header()
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
	if e.kind.http == http.StatusRequestTimeout {
		h.Set("Connection", "close")
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	if d, ok := e.knownDelay(); ok && (e.kind.http == http.StatusTooManyRequests || e.kind.http == http.StatusServiceUnavailable) {
		h.Set("Retry-After", retryHeader(d))
	}
}

// statusOf is the HTTP status of an error. Over JSON-RPC most errors have 200,
// for clients read no body of another; except those that concern HTTP itself.
func (a *answer) statusOf(e *protocolError) int {
	if !a.rpc {
		return e.kind.http
	}
	switch e.kind.http {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return e.kind.http
	}
	return http.StatusOK
}

// render gives an error the form of its binding and generation.
func (a *answer) render(e *protocolError) []byte {
	var v any
	if a.rpc {
		fault := map[string]any{"code": e.kind.rpc, "message": e.text, "data": e.list()}
		if a.old {
			fault["data"] = e.data()
		}
		v = map[string]any{"jsonrpc": "2.0", "id": a.id, "error": fault}
	} else {
		body := map[string]any{"error": map[string]any{
			"code": e.kind.http, "status": e.statusName(), "message": e.text, "details": e.list(),
		}}
		if a.old {
			maps.Copy(body, e.rest03())
		}
		v = body
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return []byte(`{}`) // cannot be: all of it is plain JSON
	}
	return raw
}

// statusName is the gRPC code as HTTP+JSON writes it. What only HTTP refuses
// has the name that goes with its status.
func (e *protocolError) statusName() string {
	code := e.kind.grpc
	if e.kind.http == http.StatusNotFound {
		code = codes.NotFound
	}
	return codeNames[code]
}

var codeNames = map[codes.Code]string{
	codes.Canceled: "CANCELLED", codes.InvalidArgument: "INVALID_ARGUMENT", codes.DeadlineExceeded: "DEADLINE_EXCEEDED",
	codes.NotFound: "NOT_FOUND", codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL",
	codes.Unavailable: "UNAVAILABLE", codes.Unauthenticated: "UNAUTHENTICATED",
}

// finish sees to it that there is an answer: a deletion has a result, and what
// the binding could not encode is an error.
func (a *answer) finish(r *http.Request) {
	if a.committed || r.Context().Err() != nil {
		return
	}
	switch {
	case a.streams(), a.status == http.StatusNoContent:
		a.commit(a.status)
	case a.op != nil && a.op.name == opDeletePush && !a.rpc:
		a.commit(a.status)
		_, _ = a.ResponseWriter.Write([]byte("{}\n")) // a client that has gone
	default:
		a.refuse(r, refuse(a2a.ErrInternalError, ""))
	}
}

// amend corrects what the host writes.
func (a *answer) amend(b []byte) []byte {
	if a.x.card != nil {
		return a.oldCard(b)
	}
	if a.rpc {
		b = a.restoreID(b)
		if a.op != nil && a.op.name == opDeletePush && !bytes.Contains(b, []byte(`"result"`)) {
			return a.emptyResult()
		}
	}
	if a.old && a.streams() {
		return finalEvent(b)
	}
	return b
}

// restoreID gives an answer its request's id as it was: the host reads a number
// as a float64.
func (a *answer) restoreID(b []byte) []byte {
	var f float64
	if json.Unmarshal(a.id, &f) != nil {
		return b
	}
	host, err := json.Marshal(f)
	if err != nil || bytes.Equal(host, a.id) {
		return b
	}
	const before = `{"jsonrpc":"2.0","id":`
	return bytes.Replace(b, append([]byte(before), host...), append([]byte(before), a.id...), 1)
}

// oldCard gives a client of 0.3 the extended card as the public one is served:
// of what the host makes of it, security and most interfaces are missing.
func (a *answer) oldCard(b []byte) []byte {
	raw, err := cardJSON(context.Background(), a.x.card)
	if err != nil {
		return b // the user's card has nothing of 0.3
	}
	if a.rpc {
		raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, a.id, raw)
	}
	return append(raw, '\n')
}

func (a *answer) emptyResult() []byte {
	result := "{}"
	if a.old {
		result = "null"
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(a.id) + `,"result":` + result + "}\n")
}
