package errcode

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
)

// This file is the only one that knows the types of the A2A library.

// reasonRemote is the reason of a failed remote task that gave none.
const reasonRemote = "remote_task_failed"

const (
	schemaKey = "schema"
	mediaType = "application/json"
)

// Parts returns the content of a failed task's status message: a text part for people and a data
// part for programs. The parts share nothing with d.
func (d Data) Parts() []*a2a.Part {
	data := a2a.NewDataPart(d.Map())
	data.MediaType = mediaType
	data.Metadata = map[string]any{schemaKey: Schema}
	return []*a2a.Part{a2a.NewTextPart(d.ErrorMessage), data}
}

// FromTask returns why a task failed. ok is false when the task is nil or in any other state than
// failed; a task that was rejected or canceled has not failed.
//
// Data of this package, found by its schema or its shape, say everything. A task of another vendor
// is made the best of: a code in a data part or in the metadata of the message or the task, such as
// error_code, which may be one of the eight, a gRPC code's name, the code of a well-known API, an HTTP
// status or a JSON-RPC code, with the reason, the message and the delay beside it; numbers may be texts. A code that means
// something counts before one that means nothing, wherever they are. Without a code it is
// [Internal] with the reason "remote_task_failed". The message is that of the data with the code,
// else the text of the status message, else any message in the data. A code that is not one of the
// eight is kept in the details as "errorCode".
func FromTask(t *a2a.Task) (e *Error, ok bool) {
	if t == nil {
		return nil, false
	}
	return fromStatus(t.Status, t.Metadata)
}

// FromEvent returns the failure an event tells of: a failed task, an update to the state failed,
// or a message with error data. ok is false for every other event and for nil.
func FromEvent(ev a2a.Event) (e *Error, ok bool) {
	switch ev := ev.(type) {
	case *a2a.Task:
		return FromTask(ev)
	case *a2a.TaskStatusUpdateEvent:
		if ev == nil {
			return nil, false
		}
		return fromStatus(ev.Status, ev.Metadata)
	case *a2a.Message:
		return FromMessage(ev)
	case a2a.StreamResponse:
		return FromEvent(ev.Event)
	case *a2a.StreamResponse:
		if ev == nil {
			return nil, false
		}
		return FromEvent(ev.Event)
	default:
		return nil, false
	}
}

// FromMessage returns the failure a message describes in a data part. ok is false when it has no
// such part.
func FromMessage(m *a2a.Message) (e *Error, ok bool) {
	if m == nil {
		return nil, false
	}
	if !hasData(m.Parts) {
		return nil, false
	}
	return remoteFailure(m, nil), true
}

// FromClient returns an error of the A2A client as an [Error], nil for nil. Error data that a
// server attached to a protocol error are used; otherwise the default table decides, which knows
// the protocol errors. The cause is err.
func FromClient(err error) *Error { return Default().Convert(err) }

func fromStatus(s a2a.TaskStatus, metadata map[string]any) (*Error, bool) {
	if s.State != a2a.TaskStateFailed {
		return nil, false
	}
	return remoteFailure(s.Message, metadata), true
}

// remoteFailure makes the best of what a failed task says, see [FromTask].
func remoteFailure(m *a2a.Message, metadata map[string]any) *Error {
	text := messageText(m)
	marked, objects := remoteObjects(m, metadata)
	if i := slices.IndexFunc(objects, func(o foreignObject) bool { return looksLikeData(o.plain) }); i >= 0 {
		return objects[i].read(text)
	}
	if e, ok := foreignError(objects, text); ok {
		return e
	}
	if marked {
		return objects[0].read(text)
	}
	e := New(Internal, reasonRemote)
	e.message = cmp.Or(text, foreignText(objects)) // of another vendor, so nobody's choice for our clients
	return e
}

// remoteObjects are the places where a failed task may say what went wrong, those that name the
// schema first; marked tells that there is one of these.
func remoteObjects(m *a2a.Message, metadata map[string]any) (marked bool, objects []foreignObject) {
	var add func(v any)
	add = func(v any) {
		if list, ok := v.([]any); ok { // which may be anything, so only error data are of interest
			for _, o := range nestedObjects(list) {
				if looksLikeData(o) {
					add(o)
				}
			}
			return
		}
		if o, ok := toObject(v); ok {
			objects = append(objects, foreignObjects(o, nil)...)
		}
	}
	if m != nil {
		parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p *a2a.Part) bool { return p == nil })
		slices.SortStableFunc(parts, func(a, b *a2a.Part) int { return cmp.Compare(rank(a), rank(b)) })
		for _, p := range parts {
			add(p.Data())
			marked = marked || isMarked(p) && len(objects) > 0
		}
		for _, p := range parts {
			add(p.Metadata)
		}
		add(m.Metadata)
	}
	add(metadata)
	return marked, objects
}

// isMarked reports whether a part says that it holds error data.
func isMarked(p *a2a.Part) bool { return p != nil && p.Metadata[schemaKey] == any(Schema) }

func rank(p *a2a.Part) int {
	if isMarked(p) {
		return 0
	}
	return 1
}

// messageText is all text of a message, one line for each part.
func messageText(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, p := range m.Parts {
		if p == nil {
			continue
		}
		if t := p.Text(); strings.TrimSpace(t) != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// hasData reports whether there is error data among parts: an object in a part that names the
// schema, or one that looks like it.
func hasData(parts []*a2a.Part) bool {
	return slices.ContainsFunc(parts, func(p *a2a.Part) bool {
		if p == nil {
			return false
		}
		if isMarked(p) {
			_, ok := toObject(p.Data())
			return ok
		}
		m, _ := p.Data().(map[string]any)
		return looksLikeData(m)
	})
}

func looksLikeData(m map[string]any) bool {
	code, ok := m["errorCode"].(string)
	return ok && Code(code).Valid()
}

// remoteError makes the best of error data from elsewhere; text stands in for a missing message.
func remoteError(data map[string]any, text string) *Error {
	m, _ := toObject(data)
	return foreignObject{m, fold(m)}.read(text)
}

// protocolErrors are the errors of the protocol layer with their JSON-RPC codes (A2A v1.0
// section 5.4). Those outside of it are the host's own.
var protocolErrors = []struct {
	err error
	rpc int
}{
	{a2a.ErrParseError, -32700},
	{a2a.ErrInvalidRequest, -32600},
	{a2a.ErrMethodNotFound, -32601},
	{a2a.ErrInvalidParams, -32602},
	{a2a.ErrInternalError, -32603},
	{a2a.ErrServerError, -32000},
	{a2a.ErrTaskNotFound, -32001},
	{a2a.ErrTaskNotCancelable, -32002},
	{a2a.ErrPushNotificationNotSupported, -32003},
	{a2a.ErrUnsupportedOperation, -32004},
	{a2a.ErrUnsupportedContentType, -32005},
	{a2a.ErrInvalidAgentResponse, -32006},
	{a2a.ErrExtendedCardNotConfigured, -32007},
	{a2a.ErrExtensionSupportRequired, -32008},
	{a2a.ErrVersionNotSupported, -32009},
	{a2a.ErrUnauthenticated, -31401},
	{a2a.ErrUnauthorized, -31403},
}

// protocolClass is the class of an error of the protocol layer.
func protocolClass(err error, rpc int) Class {
	return static(FromJSONRPC(rpc), strings.ToLower(a2a.ErrorReason(err)))
}

// reasonClass finds the protocol error that an ErrorInfo names.
func reasonClass(domain, reason string) (Class, bool) {
	if domain != a2a.ProtocolDomain {
		return Class{}, false
	}
	for _, p := range protocolErrors {
		if a2a.ErrorReason(p.err) == reason {
			return protocolClass(p.err, p.rpc), true
		}
	}
	return Class{}, false
}

// protocolRows are the errors of the protocol layer. An *a2a.Error that brought error data is
// that error; else it leaves the decision to what it wraps.
func protocolRows() []row {
	rows := []row{{
		name: "A2A error data", types: typesOf(reflect.TypeFor[*a2a.Error]()),
		app: carriedError, answers: carriedAnswer, when: "*a2a.Error with error data in its details",
	}}
	for _, p := range protocolErrors {
		rows = append(rows, row{
			name: "A2A protocol", values: []error{p.err}, when: fmt.Sprintf("the A2A error %d", p.rpc),
			class: protocolClass(p.err, p.rpc),
		})
	}
	return append(rows, row{
		name: "A2A error", types: typesOf(reflect.TypeFor[*a2a.Error]()),
		class: static(UpstreamUnavailable, ""), carrier: true,
	})
}

// carriedError returns the application error in the details of a protocol error, nil if there is
// none.
func carriedError(err error) *Error {
	e, ok := err.(*a2a.Error) //nolint:errorlint // the walk has unwrapped it
	if !ok {
		return nil
	}
	candidates := []map[string]any{e.Details}
	for _, t := range e.TypedDetails {
		if t != nil && t.TypeURL == errordetails.StructType {
			candidates = append(candidates, t.Value)
		}
	}
	for _, m := range candidates { // a client may have put the whole of error.data under a key
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if inner, ok := m[key].(map[string]any); ok {
				candidates = append(candidates, inner)
			}
		}
	}
	i := slices.IndexFunc(candidates, looksLikeData)
	if i < 0 {
		return nil
	}
	return remoteError(candidates[i], errorText(e))
}
