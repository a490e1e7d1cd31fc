package agent

import (
	"maps"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/stream"
)

// User is who sent the request, as far as the server's authentication knows.
type User struct {
	// Name is "" for an anonymous user.
	Name string
	// Authenticated is false for an anonymous user.
	Authenticated bool
	// Attributes is what the authentication added.
	Attributes map[string]any
}

// Request is one message to the agent and what is known around it. It is safe
// for concurrent use; whatever its methods return is a copy of the caller's
// own unless they say otherwise.
type Request struct {
	in      RequestInfo
	content content
}

// RequestInfo is what a [Request] is made of. Its pointers are not changed and
// must not be changed by others while the Request is in use.
type RequestInfo struct {
	// Message is the message that started this run; required.
	Message *a2a.Message
	// Task is the task as stored before this run, nil for a new task. Its
	// history may already end with Message.
	Task *a2a.Task
	// TaskID and ContextID identify the task, also a new one.
	TaskID, ContextID string
	// Metadata is the metadata of the request (not of the message).
	Metadata map[string]any
	// User is who sent it.
	User User
	// Tenant is the tenant the request names, "" for none.
	Tenant string
	// AcceptedOutputModes are the media types the client accepts; empty for no
	// preference.
	AcceptedOutputModes []string
	// AcceptLanguage is the request's Accept-Language header, "" without one.
	AcceptLanguage string
	// Streaming is true when the client asked for a stream of events.
	Streaming bool
}

// NewRequest makes a Request. Authors get theirs from the executor; this is
// for tests and for other ways of running an agent.
func NewRequest(in RequestInfo) *Request {
	if in.Message == nil {
		in.Message = &a2a.Message{}
	}
	return &Request{in: in, content: contentOf(in.Message)}
}

// Text is the message's text parts, joined by newlines; "" without any.
func (r *Request) Text() string { return r.content.text }

// Data is the values of the message's data parts in order, in plain JSON
// types. See [Request.Decode] for a typed one.
func (r *Request) Data() []any { return cloneList(r.content.data) }

// Files is the message's files in order, given by bytes or by address. Their
// bytes are shared and must not be changed.
func (r *Request) Files() []stream.File { return slices.Clone(r.content.files) }

// TaskID is the id of the task this run works on.
func (r *Request) TaskID() string { return r.in.TaskID }

// ContextID is the id of the conversation the task belongs to.
func (r *Request) ContextID() string { return r.in.ContextID }

// Message is the whole message.
func (r *Request) Message() *a2a.Message { return cloneMessage(r.in.Message) }

// Task is the task as it was stored before this run, with its artifacts; nil
// for a new task.
func (r *Request) Task() *a2a.Task { return cloneTask(r.in.Task) }

// History is the task's earlier messages in order, up to and without this
// request's own, the agent's last question included; empty for a new task.
func (r *Request) History() []*a2a.Message { return historyBefore(r.in.Task, r.in.Message) }

// Original is the message that began the task: this request's own for a new
// task.
func (r *Request) Original() *a2a.Message {
	if h := r.History(); len(h) > 0 {
		return h[0]
	}
	return r.Message()
}

// Question is what the agent asked for when it parked the task; this request
// is the answer. It gives false when nothing was asked.
func (r *Request) Question() (Question, bool) { return questionOf(r.in.Task) }

// User is who sent the request. The values of its attributes are shared and
// must not be changed.
func (r *Request) User() User {
	u := r.in.User
	u.Attributes = maps.Clone(u.Attributes)
	return u
}

// Tenant is the tenant the request names, "" for none.
func (r *Request) Tenant() string { return r.in.Tenant }

// Metadata is the request's metadata, with the message's own metadata laid
// over it; never nil.
func (r *Request) Metadata() map[string]any {
	m := map[string]any{}
	maps.Copy(m, cloneMap(r.in.Metadata))
	if r.in.Message != nil {
		maps.Copy(m, cloneMap(r.in.Message.Metadata))
	}
	return m
}

// AcceptedOutputModes are the media types the client accepts; empty for no
// preference.
func (r *Request) AcceptedOutputModes() []string { return slices.Clone(r.in.AcceptedOutputModes) }

// AcceptLanguage is the request's Accept-Language header (RFC 9110 section
// 12.5.4), or the gRPC metadata of that name; "" without one. Package
// errcode/catalog reads it.
func (r *Request) AcceptLanguage() string { return r.in.AcceptLanguage }

// Streaming reports whether the client follows the run as a stream of events.
func (r *Request) Streaming() bool { return r.in.Streaming }

// Question is what an agent asked when it parked its task.
type Question struct {
	// Prompt is the text for people.
	Prompt string
	// Data is the content of the question's data part; nil without one.
	Data map[string]any
}
