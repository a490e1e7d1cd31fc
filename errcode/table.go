package errcode

import (
	"cmp"
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
//
// A table remembers what it learns about error types, so make one and keep it.
type Table struct {
	rules []Rule
	types *typeCache // nil for the cache of the defaults
	// predicates are the indices of the rules that only their function can judge.
	predicates []int
}

var defaultTable Table

// Default returns the table without user rules.
func Default() *Table { return &defaultTable }

// NewTable returns a table with rules in front of the defaults. The first rule that matches
// anything in an error wins, whatever else is in it; [Table.Shadowed] finds rules that never can.
func NewTable(rules ...Rule) *Table {
	t := &Table{rules: slices.Clone(rules)}
	for i, r := range t.rules {
		if r.match != nil {
			t.predicates = append(t.predicates, i)
		}
	}
	if len(t.rules) > 0 {
		t.types = &typeCache{rules: t.rules}
	}
	return t
}

func (t *Table) cache() *typeCache {
	if t == nil || t.types == nil {
		return &defaultTypes
	}
	return t.types
}

// Classify returns the class of err, the zero Class for nil.
func (t *Table) Classify(err error) Class {
	if err == nil {
		return Class{}
	}
	var s search
	d := s.run(t.cache(), err)
	if i := t.rule(err, &s); i != noRule {
		c := t.rules[i].class
		if c.Reason == "" {
			c.Reason = s.ruleReason(i)
		}
		if !c.HasRetryAfter { // what a server asked for is no matter of opinion
			c.RetryAfter, c.HasRetryAfter = d.class.RetryAfter, d.class.HasRetryAfter
		}
		c.Source = cmp.Or(c.Source, d.class.Source)
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
	d := s.run(t.cache(), err)
	if d.bypass() && d.decider == err { //nolint:errorlint // identity is meant
		return d.app
	}
	e := t.made(err, &s)
	e.locate(d.where)
	return e
}

// made is the converted error without its place in a flow.
func (t *Table) made(err error, s *search) *Error {
	var e *Error
	d := &s.decision
	if d.app != nil {
		e = d.app.clone()
	} else {
		e = d.error()
	}
	if i := t.rule(err, s); i != noRule {
		e.override(&t.rules[i])
		if e.reason == "" {
			e.reason = s.ruleReason(i)
		}
	}
	if e.message == "" && !d.bypass() {
		if text := errorText(err); text != nilText {
			e.message = text
		}
	}
	e.cause = err
	return e
}

// override puts what a rule says in the place of what the table or a carried error said. Whatever
// the rule is silent about stays, such as the violations of a validator.
func (e *Error) override(rule *Rule) {
	r := rule.made
	e.row, e.code, e.reason = rule.name, r.code, r.reason
	e.retriable, e.retriableSet = r.Retriable(), true
	if r.message != "" {
		e.message, e.authored = r.message, true
	}
	if r.hasRetryAfter {
		e.retryAfter, e.hasRetryAfter = r.retryAfter, true
	}
	if r.hasNode {
		e.node, e.hasNode = r.node, true
	}
	if r.hasFlow {
		e.flow, e.hasFlow = r.flow, true
	}
	if r.violations != nil {
		e.violations = r.violations
	}
	if r.guardrail != nil || e.code != GuardrailBlocked { // which alone may carry such data
		e.guardrail = r.guardrail
	}
	e.retried = cmp.Or(r.retried, e.retried)
	e.source = cmp.Or(r.source, e.source)
	e.domain = cmp.Or(r.domain, e.domain)
	e.domainCode = cmp.Or(r.domainCode, e.domainCode)
	e.correlationID = cmp.Or(r.correlationID, e.correlationID)
	e.addDetails(r.details)
	e.drop("", r.dropped)
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
		d.enrich(e)
	}
	return e
}

// enrich asks the deciding error for more; its methods may be anyone's, so a panic in them costs no
// more than that.
func (d *decision) enrich(e *Error) {
	defer func() { _ = recover() }()
	d.row.enrich(d.decider, e)
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
