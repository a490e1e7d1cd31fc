package errcode

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// defaultMaxMessage is the limit of a message, in bytes, unless the Builder says otherwise.
	defaultMaxMessage = 8 << 10
	// lookahead is how far the redactor sees past the limit, so that a secret that straddles it
	// is recognised.
	lookahead = 4 << 10
	// reasonBuildFailed is the reason sent when an error could not be described validly.
	reasonBuildFailed = "error_data_build_failed"
	// mask stands for whatever was removed.
	mask = "[redacted]"
)

// Builder turns an [Error] into the [Data] that is sent. The zero value is ready. A Builder may be
// used by several goroutines if its Redact may.
type Builder struct {
	// Redact masks secrets in text; nil means the function [Redact]. It is applied to the
	// message, to violations and to every string in guardrail data and details. If it panics,
	// what it was given is not sent.
	Redact func(string) string
	// HideInternal replaces the message of INTERNAL_ERROR by the text of the code, unless the
	// author of the error chose the message.
	HideInternal bool
	// Domain is used when the error has none; "" sends none. See [DomainFrom].
	Domain string
	// MaxMessage is the most a message may take, in bytes; the rest is cut off at a rune and a
	// mark with the full length is put in its place. 0 and less mean 8 KiB.
	MaxMessage int
}

// Data describes e for clients. The result is always valid. A non-nil error is for the log: it
// says which data were dropped because JSON has no form for them, or what was invalid, in which
// case the result is INTERNAL_ERROR with the reason error_data_build_failed, the Builder's domain
// and the correlation id of e. A nil e gives that, too.
func (b Builder) Data(e *Error) (d Data, err error) {
	defer func() {
		if recover() != nil {
			d, err = b.fallback(e), errors.New("errcode: building error data panicked")
		}
	}()
	if e == nil {
		return b.fallback(nil), errors.New("errcode: no error to describe")
	}
	d = b.describe(e)
	if err := d.check(); err != nil {
		return b.fallback(e), fmt.Errorf("errcode: invalid error data: %w", err)
	}
	if len(e.dropped) > 0 {
		return d, fmt.Errorf("errcode: dropped from error data: %s", strings.Join(e.dropped, "; "))
	}
	return d, nil
}

// fallback is what is sent when an error has no valid description.
func (b Builder) fallback(e *Error) Data {
	d := Data{ErrorCode: Internal, ErrorReason: reasonBuildFailed, ErrorMessage: Internal.Text()}
	if ValidDomain(b.Domain) {
		d.Domain = b.Domain
	}
	if e != nil {
		d.CorrelationID = validText(e.correlationID)
	}
	return d
}

// describe copies e field by field, cleaning all free text.
func (b Builder) describe(e *Error) Data {
	d := Data{
		ErrorCode:     e.code,
		ErrorReason:   e.reason,
		ErrorMessage:  b.message(e),
		Retriable:     e.Retriable(),
		Retried:       e.retried,
		ErrorSource:   e.source,
		Domain:        e.domain,
		DomainCode:    b.clean(e.domainCode),
		CorrelationID: validText(e.correlationID),
	}
	if d.Domain == "" {
		d.Domain = b.Domain
	}
	if e.hasRetryAfter {
		ms := toMillis(e.retryAfter)
		d.RetryAfterMs = &ms
	}
	if e.hasNode {
		d.Node = &Node{ID: b.clean(e.node.ID), Kind: b.clean(e.node.Kind)}
	}
	if e.hasFlow {
		d.Flow = &Flow{ID: b.clean(e.flow.ID), CompletedNodes: make([]string, len(e.flow.CompletedNodes))}
		for i, id := range e.flow.CompletedNodes {
			d.Flow.CompletedNodes[i] = b.clean(id)
		}
	}
	d.Guardrail = b.cleanMap(e.guardrail)
	d.Violations = b.violations(e.violations)
	d.Details = b.cleanMap(e.details)
	return d
}

// message is the public text of e.
func (b Builder) message(e *Error) string {
	if e.message == "" || b.HideInternal && e.code == Internal && !e.authored {
		return e.code.Text()
	}
	limit := b.MaxMessage
	if limit <= 0 {
		limit = defaultMaxMessage
	}
	window := e.message
	if len(window) > limit+lookahead {
		window = cutToken(window[:limit+lookahead], limit)
	}
	text, ok := b.redact(window)
	if !ok || strings.TrimSpace(text) == "" {
		return e.code.Text()
	}
	if len(text) <= limit && len(window) == len(e.message) {
		return text
	}
	text = cutRune(text, limit)
	return text + "… [cut, " + strconv.Itoa(len(e.message)) + " bytes in all]"
}

// cutToken shortens s to its last white space, if there is one past the limit: half a token might
// be half a secret that cannot be recognised.
func cutToken(s string, limit int) string {
	if i := strings.LastIndexAny(s, " \t\r\n"); i >= limit {
		return s[:i]
	}
	return s
}

// cutRune shortens s to at most n bytes without splitting a rune.
func cutRune(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// redact applies the redactor; ok is false if that panicked. The result is valid UTF-8.
func (b Builder) redact(s string) (out string, ok bool) {
	defer func() {
		if recover() != nil {
			out, ok = "", false
		}
	}()
	s = validText(s)
	if b.Redact == nil {
		return Redact(s), true
	}
	return validText(b.Redact(s)), true
}

// clean is redact for text that has no substitute.
func (b Builder) clean(s string) string {
	if s == "" {
		return ""
	}
	if out, ok := b.redact(s); ok {
		return out
	}
	return mask
}

func (b Builder) violations(vs []Violation) []Violation {
	if len(vs) == 0 {
		return nil
	}
	out := make([]Violation, len(vs))
	for i, v := range vs {
		out[i] = Violation{
			Field:    b.clean(v.Field),
			Expected: b.clean(v.Expected),
			Message:  b.clean(v.Message),
			Actual:   b.cleanEntry(v.Field[strings.LastIndexByte(v.Field, '/')+1:], v.Actual),
		}
	}
	return out
}

func (b Builder) cleanMap(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[b.clean(k)] = b.cleanEntry(k, v)
	}
	return out
}

// cleanEntry cleans a plain value that is known under a name; a name that tells of a secret masks
// the value whatever it is.
func (b Builder) cleanEntry(name string, v any) any {
	if v != nil && isSecretName(name) {
		return mask
	}
	return b.cleanValue(v)
}

// cleanValue copies a plain value with all its strings cleaned.
func (b Builder) cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return b.clean(v)
	case map[string]any:
		if len(v) == 0 {
			return map[string]any{}
		}
		return b.cleanMap(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = b.cleanValue(x)
		}
		return out
	default:
		return v
	}
}
