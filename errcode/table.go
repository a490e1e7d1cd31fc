package errcode

import (
	"context"
	"slices"
)

// Table classifies errors: the rules given to [NewTable] first, then the defaults. It never
// changes, so goroutines may share it. A nil *Table and the zero value are the default table.
//
// Classification is total and deterministic. The tree of an error (what it wraps and joins) is
// looked at outermost first, depth first, and the first error that the table knows decides.
// Errors that only say where something happened, such as [ComponentInvokeError] or *url.Error,
// leave the decision to a cause that says more. An [Error] that decides bypasses the rules: its
// author has the last word.
type Table struct{ rules []Rule }

var defaultTable Table

// Default returns the table without user rules.
func Default() *Table { return &defaultTable }

// NewTable returns a table with rules in front of the defaults. The first rule that matches wins.
func NewTable(rules ...Rule) *Table { return &Table{rules: slices.Clone(rules)} }

// Rule maps errors to a code, see [When]. The zero value matches nothing.
type Rule struct {
	name  string
	match func(error) bool
	made  *Error
}

// When makes a rule: errors for which match reports true get the code and the reason, and the
// options on top. match is given the whole error and may use errors.Is and errors.As; it must be
// safe for concurrent use, and if it panics it does not match. An empty reason stands for the name
// of the error's type. The message is the error's text unless [Message] sets another, and the
// cause is always the error itself. name shows up in logs.
//
// An error that unwraps to itself is not shown to rules, since errors.As would never return.
func When(name string, match func(error) bool, code Code, reason string, opts ...Option) Rule {
	return Rule{name: name, match: match, made: New(code, reason, opts...)}
}

// matches calls the user's function; a panic is no match.
func (r Rule) matches(err error) (yes bool) {
	if r.match == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return r.match(err)
}

// Classify returns the class of err, the zero Class for nil.
func (t *Table) Classify(err error) Class {
	if err == nil {
		return Class{}
	}
	var s search
	d := s.run(err)
	if r := t.rule(err, d); r != nil {
		c := r.made.class()
		if c.Reason == "" {
			c.Reason = d.typeReason()
		}
		return c
	}
	return d.class
}

// Convert returns err as an [Error], nil for nil. The cause is err itself, so errors.Is and
// errors.As still reach everything in it. An [Error] that decides keeps all it says; any other
// error gets its own text as the message, which is masked before it is sent.
func (t *Table) Convert(err error) *Error {
	if err == nil {
		return nil
	}
	var s search
	d := s.run(err)
	if d.bypass() && d.decider == err { //nolint:errorlint // identity is meant
		return d.app
	}
	e := t.made(err, d)
	e.locate(d.where)
	return e
}

// made is the converted error without its place in a flow.
func (t *Table) made(err error, d *decision) *Error {
	var e *Error
	switch r := t.rule(err, d); {
	case r != nil:
		e = r.made.clone()
		e.row = r.name
		if e.reason == "" {
			e.reason = d.typeReason()
		}
	case d.app != nil:
		e = d.app.clone()
	default:
		e = d.error()
	}
	if e.message == "" && !d.bypass() {
		e.message = errorText(err)
	}
	e.cause = err
	return e
}

// error makes an Error of a decision by the default rows.
func (d *decision) error() *Error {
	c := d.class
	e := &Error{
		code: c.Code, reason: c.Reason, source: c.Source,
		retriable: c.Retriable, retriableSet: true,
		retryAfter: c.RetryAfter, hasRetryAfter: c.HasRetryAfter,
	}
	if d.row == nil {
		return e
	}
	e.row = d.row.name
	if d.row.enrich != nil {
		d.row.enrich(d.decider, e)
	}
	return e
}

// typeReason is the reason for a rule that names none.
func (d *decision) typeReason() string {
	if d.named == "" {
		return reasonInternal
	}
	return d.named
}

// rule returns the first user rule that matches, nil if none does.
func (t *Table) rule(err error, d *decision) *Rule {
	if t == nil || len(t.rules) == 0 || d.bypass() || endless(err) {
		return nil
	}
	for i := range t.rules {
		if t.rules[i].matches(err) {
			return &t.rules[i]
		}
	}
	return nil
}

// locate takes over what a flow's error says about the place, unless the author said it.
func (e *Error) locate(where error) {
	defer func() { _ = recover() }() // the methods may be anyone's
	if n, ok := where.(nodeError); ok && !e.hasNode {
		AtNode(n.ErrorNode()).apply(e)
	}
	if f, ok := where.(flowError); ok && !e.hasFlow {
		id, completed := f.ErrorFlow()
		InFlow(id, completed...).apply(e)
	}
}

type tableKey struct{}

// WithTable returns a context in which [TableFrom] finds t.
func WithTable(ctx context.Context, t *Table) context.Context {
	return context.WithValue(ctx, tableKey{}, t)
}

// TableFrom returns the table that applies in ctx, [Default] if none was set.
func TableFrom(ctx context.Context) *Table {
	if t, ok := ctx.Value(tableKey{}).(*Table); ok && t != nil {
		return t
	}
	return Default()
}
