package errcode

import (
	"time"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// Schema names the shape of [Data] in the metadata of the part that carries it, under the key
// "schema".
const Schema = "application-error/v1"

// ExtensionURI identifies the A2A extension an agent card declares to announce [Data] in failed
// tasks. It is never required.
const ExtensionURI = "https://github.com/a2aexec/a2aexec/extensions/application-error/v1"

// Data is what a client receives about a failure, the content of the data part of a failed task's
// status message. [Builder.Data] makes one that is valid and safe to send; optional fields that
// are not set are absent in JSON.
type Data struct {
	ErrorCode    Code   `json:"errorCode" validate:"required,errcode"`
	ErrorReason  string `json:"errorReason" validate:"required,errreason"`
	ErrorMessage string `json:"errorMessage" validate:"required"`
	Retriable    bool   `json:"retriable" validate:"-"`
	// Retried is the number of retries the server already made.
	Retried int `json:"retried,omitempty" validate:"gte=0"`
	// RetryAfterMs is in milliseconds; nil means that clients back off on their own.
	RetryAfterMs *int64 `json:"retryAfterMs,omitempty" validate:"omitempty,gte=0"`
	// ErrorSource is system:locator, see [ValidSource].
	ErrorSource string `json:"errorSource,omitempty" validate:"omitempty,errsource"`
	// Domain is kebab-case ASCII, see [ValidDomain].
	Domain     string `json:"domain,omitempty" validate:"omitempty,errdomain"`
	DomainCode string `json:"domainCode,omitempty" validate:"-"`
	Node       *Node  `json:"node,omitempty" validate:"-"`
	Flow       *Flow  `json:"flow,omitempty" validate:"-"`
	// Guardrail goes with GUARDRAIL_BLOCKED only.
	Guardrail     map[string]any `json:"guardrail,omitempty" validate:"-"`
	Violations    []Violation    `json:"violations,omitempty" validate:"-"`
	CorrelationID string         `json:"correlationId,omitempty" validate:"-"`
	Details       map[string]any `json:"details,omitempty" validate:"-"`
}

// Map returns d as plain JSON types, numbers as float64: the same JSON that encoding/json makes of
// d. The result shares nothing with d.
func (d Data) Map() map[string]any {
	m := make(map[string]any, 10)
	m["errorCode"] = string(d.ErrorCode)
	m["errorReason"] = d.ErrorReason
	m["errorMessage"] = d.ErrorMessage
	m["retriable"] = d.Retriable
	if d.Retried != 0 {
		m["retried"] = plain.Int(int64(d.Retried))
	}
	if d.RetryAfterMs != nil {
		m["retryAfterMs"] = plain.Int(*d.RetryAfterMs)
	}
	setText(m, "errorSource", d.ErrorSource)
	setText(m, "domain", d.Domain)
	setText(m, "domainCode", d.DomainCode)
	setText(m, "correlationId", d.CorrelationID)
	if d.Node != nil {
		m["node"] = d.Node.plain()
	}
	if d.Flow != nil {
		m["flow"] = d.Flow.plain()
	}
	if len(d.Guardrail) > 0 {
		m["guardrail"] = copyMap(d.Guardrail)
	}
	if len(d.Violations) > 0 {
		m["violations"] = plainViolations(d.Violations)
	}
	if len(d.Details) > 0 {
		m["details"] = copyMap(d.Details)
	}
	return m
}

func setText(m map[string]any, key, value string) {
	if value != "" {
		m[key] = value
	}
}

func (n *Node) plain() map[string]any {
	m := map[string]any{"id": n.ID}
	setText(m, "kind", n.Kind)
	return m
}

func (f *Flow) plain() map[string]any {
	m := map[string]any{"id": f.ID}
	if f.CompletedNodes == nil {
		return m
	}
	done := make([]any, len(f.CompletedNodes))
	for i, id := range f.CompletedNodes {
		done[i] = id
	}
	m["completedNodes"] = done
	return m
}

func plainViolations(vs []Violation) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		m := map[string]any{"field": v.Field}
		setText(m, "expected", v.Expected)
		setText(m, "message", v.Message)
		if v.Actual != nil {
			m["actual"], _ = plain.Value(v.Actual)
		}
		out[i] = m
	}
	return out
}

// Err returns d as an [Error] again: [Is] and [CodeOf] give the same answers as on the server. A
// code that is not one of the eight becomes [Internal], the original is kept in the details as
// "errorCode".
func (d Data) Err() *Error {
	e := &Error{
		code: d.ErrorCode, reason: d.ErrorReason,
		message: d.ErrorMessage, authored: d.ErrorMessage != "",
		retriable: d.Retriable, retriableSet: true,
		retried: d.Retried, source: d.ErrorSource,
		domain: d.Domain, domainCode: d.DomainCode,
		correlationID: d.CorrelationID,
	}
	if d.RetryAfterMs != nil {
		RetryAfter(fromMillis(*d.RetryAfterMs)).apply(e)
	}
	if d.Node != nil {
		AtNode(d.Node.ID, d.Node.Kind).apply(e)
	}
	if d.Flow != nil {
		InFlow(d.Flow.ID, d.Flow.CompletedNodes...).apply(e)
	}
	e.guardrail = copyMap(d.Guardrail)
	if len(d.Violations) > 0 {
		Violations(d.Violations...).apply(e)
	}
	Details(d.Details).apply(e)
	if !e.code.Valid() {
		if e.code != "" {
			Detail("errorCode", string(e.code)).apply(e)
		}
		e.code = Internal
	}
	return e
}

// toMillis rounds up, so that nobody comes back too early, and keeps the sign. What is more than
// maxDelay becomes that.
func toMillis(d time.Duration) int64 {
	d = min(d, maxDelay)
	ms := d.Milliseconds()
	switch rest := d % time.Millisecond; {
	case rest > 0:
		ms++
	case rest < 0:
		ms--
	}
	return ms
}

func fromMillis(ms int64) time.Duration {
	const most = int64(maxDelay / time.Millisecond)
	return time.Duration(max(-most, min(ms, most))) * time.Millisecond
}
