package errcode

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	// message, the reason, the source, to violations and to every string in guardrail data and
	// details; a correlation id in which it finds something is left out. If it panics, what it was
	// given is not sent.
	Redact func(string) string
	// HideInternal replaces the message of INTERNAL_ERROR by the text of the code, unless the
	// author of the error chose the message.
	HideInternal bool
	// Domain is used when the error has none; "" sends none. See [DomainFrom].
	Domain string
	// MaxMessage is the most a message may take, in bytes, and each text in a violation; the rest is
	// cut off at a rune and a mark with the full length is put in its place. 0 and less mean 8 KiB.
	MaxMessage int
}

// Data describes e for clients. The result is always valid. A non-nil error is for the log: it
// says which data were dropped because JSON has no form for them (or because a correlation id is
// none: printable ASCII without blanks, at most 256 bytes), or what was invalid, in which
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
	dropped := e.dropped
	if d.CorrelationID != e.correlationID {
		dropped = append(slices.Clip(dropped), noCorrelation)
	}
	if len(dropped) > 0 {
		return d, fmt.Errorf("errcode: dropped from error data: %s", strings.Join(dropped, "; "))
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
		d.CorrelationID = b.correlation(e)
	}
	return d
}

// reason cleans a reason. What the redactor makes invalid becomes that of an unknown type.
func (b Builder) reason(reason string) string {
	out := b.clean(reason)
	switch {
	case validReason(out):
		return out
	case !validReason(reason):
		return reason // for the check to find
	}
	return reasonInternal
}

// source cleans a source. What the redactor makes invalid is left out.
func (b Builder) source(source string) string {
	out := b.clean(source)
	switch {
	case source == "" || ValidSource(out):
		return out
	case !ValidSource(source):
		return source // for the check to find
	}
	return ""
}

// correlation is the correlation id of e, "" if it is none.
func (b Builder) correlation(e *Error) string {
	if !validCorrelation(e.correlationID) || b.clean(e.correlationID) != e.correlationID {
		return ""
	}
	return e.correlationID
}

// describe copies e field by field, cleaning all free text.
func (b Builder) describe(e *Error) Data {
	d := Data{
		ErrorCode:     e.code,
		ErrorReason:   b.reason(e.reason),
		ErrorMessage:  b.message(e),
		Retriable:     e.Retriable(),
		Retried:       e.retried,
		ErrorSource:   b.source(e.source),
		Domain:        e.domain,
		DomainCode:    b.clean(e.domainCode),
		CorrelationID: b.correlation(e),
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
	text, ok := b.short(e.message)
	if !ok || strings.TrimSpace(text) == "" {
		return e.code.Text()
	}
	return text
}

// short redacts s and cuts it to the limit of a message. What lies far beyond the limit is not even
// looked at.
func (b Builder) short(s string) (text string, ok bool) {
	limit := b.MaxMessage
	if limit <= 0 {
		limit = defaultMaxMessage
	}
	window := s
	if len(window) > limit+lookahead {
		window = cutToken(window[:limit+lookahead], limit)
	}
	text, ok = b.redact(window)
	if !ok || len(text) <= limit && len(window) == len(s) {
		return text, ok
	}
	return cutRune(text, limit) + "… [cut, " + strconv.Itoa(len(s)) + " bytes in all]", true
}

// cleanShort is short for text that has no substitute.
func (b Builder) cleanShort(s string) string {
	if s == "" {
		return ""
	}
	if out, ok := b.short(s); ok {
		return out
	}
	return mask
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
			Field:    b.cleanShort(v.Field),
			Expected: b.cleanShort(v.Expected),
			Message:  b.cleanShort(v.Message),
			Actual:   cleanEntry(v.Field[strings.LastIndexByte(v.Field, '/')+1:], v.Actual, b.cleanShort),
		}
	}
	return out
}

func (b Builder) cleanMap(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	return cleanMap(m, b.clean)
}

// cleanMap copies a plain map with all its strings cleaned. Keys that are the same once they are
// clean are numbered in the order of what they were.
func cleanMap(m map[string]any, clean func(string) string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[clean(k)] = cleanEntry(k, v, clean)
	}
	if len(out) == len(m) {
		return out
	}
	clear(out)
	taken := make(map[string]int)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key := clean(k)
		for first := key; ; {
			if _, has := out[key]; !has {
				break
			}
			taken[first] = max(1, taken[first]) + 1
			key = first + " (" + strconv.Itoa(taken[first]) + ")"
		}
		out[key] = cleanEntry(k, m[k], clean)
	}
	return out
}

// cleanEntry cleans a plain value that is known under a name; a name that tells of a secret masks
// the value whatever it is.
func cleanEntry(name string, v any, clean func(string) string) any {
	if v != nil && isSecretName(name) {
		return mask
	}
	return cleanValue(v, clean)
}

// cleanValue copies a plain value with all its strings cleaned.
func cleanValue(v any, clean func(string) string) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case map[string]any:
		return cleanMap(v, clean)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = cleanValue(x, clean)
		}
		return out
	default:
		return v
	}
}
