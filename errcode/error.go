package errcode

import (
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// Error is an application failure: a [Code] for programs, a reason for dashboards, a message for
// people and whatever else helps, together with a private cause.
//
// Everything but the cause and what wraps it may cross the wire. An Error never changes after it
// is made, so it may be shared between goroutines, kept in a variable and returned many times;
// [Error.With] makes a changed copy. All methods work on a nil *Error.
type Error struct {
	code          Code
	reason        string
	message       string
	authored      bool // message was chosen for the public, not taken from another error's text
	cause         error
	retriable     bool
	retriableSet  bool
	retryAfter    time.Duration
	hasRetryAfter bool
	retried       int
	source        string
	domain        string
	domainCode    string
	node          Node
	hasNode       bool
	flow          Flow
	hasFlow       bool
	guardrail     map[string]any // plain and never modified once set, like the next two
	violations    []Violation
	details       map[string]any
	correlationID string
	dropped       []string // what could not be serialised
	row           string   // the rule or table row that classified it, for the log
}

// Violation is one thing that is wrong with an input.
type Violation struct {
	// Field is a JSON Pointer (RFC 6901) into the input, "" for the input as a whole.
	Field string `json:"field"`
	// Expected says what would have been right.
	Expected string `json:"expected,omitempty"`
	// Actual is what was found: any JSON value. It is masked when Field names a secret.
	Actual any `json:"actual,omitempty"`
	// Message is for people.
	Message string `json:"message,omitempty"`
}

// Node is the flow node that failed.
type Node struct {
	ID   string `json:"id"`
	Kind string `json:"kind,omitempty"`
}

// Flow tells how far a flow got before it failed.
type Flow struct {
	ID string `json:"id"`
	// CompletedNodes are the ids of the nodes whose output was applied, in that order, each
	// once.
	CompletedNodes []string `json:"completedNodes,omitzero"`
}

// New makes an error. The reason names the cause for logs, dashboards and translation keys; it
// must be ASCII and not empty, and snake_case is recommended. Clients do not branch on it.
//
// A code or a reason that breaks the rules is not reported here but when the error is turned into
// [Data], which then says INTERNAL_ERROR.
func New(code Code, reason string, opts ...Option) *Error {
	e := &Error{code: code, reason: reason}
	e.apply(opts)
	return e
}

// With returns a copy of e with the options applied on top. It never changes e. On a nil *Error
// it starts from [Internal] with the reason "internal_error".
func (e *Error) With(opts ...Option) *Error {
	c := e.clone()
	c.apply(opts)
	return c
}

// clone copies e; maps and slices stay shared, since nothing changes them in place.
func (e *Error) clone() *Error {
	if e == nil {
		return &Error{code: Internal, reason: reasonInternal}
	}
	c := *e
	return &c
}

func (e *Error) apply(opts []Option) {
	for _, o := range opts {
		if o != nil {
			o.apply(e)
		}
	}
}

// Error returns "CODE reason: message". It holds public text only, never that of the cause, so it
// stays safe when another error wraps this one and its text is sent.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	return string(e.code) + " " + e.reason + ": " + e.Message()
}

// Unwrap returns the private cause, nil if there is none.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Code returns the code; [Internal] for a nil *Error.
func (e *Error) Code() Code {
	if e == nil {
		return Internal
	}
	return e.code
}

// Reason returns the reason; "" for a nil *Error.
func (e *Error) Reason() string {
	if e == nil {
		return ""
	}
	return e.reason
}

// Message returns the public message, or the text of the code if there is none.
func (e *Error) Message() string {
	if e == nil || e.message == "" {
		return e.Code().Text()
	}
	return e.message
}

// Retriable reports whether the same request may succeed later.
func (e *Error) Retriable() bool {
	if e == nil {
		return false
	}
	if e.retriableSet {
		return e.retriable
	}
	return e.code.Retriable()
}

// RetryAfter returns how long to wait before a retry; ok is false when nobody said.
func (e *Error) RetryAfter() (d time.Duration, ok bool) {
	if e == nil {
		return 0, false
	}
	return e.retryAfter, e.hasRetryAfter
}

// Retried returns how many retries were already made on the server.
func (e *Error) Retried() int {
	if e == nil {
		return 0
	}
	return e.retried
}

// Source returns where the failure happened, as system:locator; "" if unknown.
func (e *Error) Source() string {
	if e == nil {
		return ""
	}
	return e.source
}

// Domain returns the identity of the agent the error belongs to; "" if not set.
func (e *Error) Domain() string {
	if e == nil {
		return ""
	}
	return e.domain
}

// DomainCode returns the organisation's own code, such as DOC_005; "" if there is none.
func (e *Error) DomainCode() string {
	if e == nil {
		return ""
	}
	return e.domainCode
}

// Node returns the flow node that failed; ok is false outside a flow.
func (e *Error) Node() (n Node, ok bool) {
	if e == nil {
		return Node{}, false
	}
	return e.node, e.hasNode
}

// Flow returns how far the flow got; ok is false outside a flow. The slice is the caller's.
func (e *Error) Flow() (f Flow, ok bool) {
	if e == nil || !e.hasFlow {
		return Flow{}, false
	}
	return Flow{ID: e.flow.ID, CompletedNodes: slices.Clone(e.flow.CompletedNodes)}, true
}

// Guardrail returns a copy of the guardrail data as plain JSON types; nil if there is none.
func (e *Error) Guardrail() map[string]any {
	if e == nil {
		return nil
	}
	return copyMap(e.guardrail)
}

// Violations returns a copy of what is wrong with the input, in the order given; nil if nothing
// was listed.
func (e *Error) Violations() []Violation {
	if e == nil {
		return nil
	}
	return copyViolations(e.violations)
}

// Details returns a copy of the author's extra data as plain JSON types; nil if there is none.
func (e *Error) Details() map[string]any {
	if e == nil {
		return nil
	}
	return copyMap(e.details)
}

// CorrelationID returns the id that joins what the client sees with the log; "" if not set.
func (e *Error) CorrelationID() string {
	if e == nil {
		return ""
	}
	return e.correlationID
}

// copyMap deep-copies a map of plain values.
func copyMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	c, _ := plain.Map(m)
	return c
}

// copyViolations deep-copies violations whose Actual is plain.
func copyViolations(vs []Violation) []Violation {
	c := slices.Clone(vs)
	for i := range c {
		c[i].Actual, _ = plain.Value(c[i].Actual)
	}
	return c
}
