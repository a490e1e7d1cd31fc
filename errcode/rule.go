package errcode

import (
	"fmt"
	"reflect"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Rule maps errors to a code, see [OnError], [OnType] and [When]. The zero value matches nothing.
//
// A rule sets the code, the reason and with its options the rest: [Retriable], [RetryAfter],
// [Source], [Message] and so on. An empty reason stands for the name of the error's type. What the
// rule does not set stays as it would be without the rule: the violations of a validator, the data
// of a guardrail, what an application error from elsewhere carries. The message is then the error's
// text, and the cause is always the error itself.
type Rule struct {
	name string
	when string // for lists
	made *Error
	// class is that of made; its reason may be empty.
	class Class
	// One of the following says what the rule matches, none of them that it matches nothing.
	sentinel error
	typ      reflect.Type
	as       func(err caster) bool // goes with typ
	match    func(error) bool
}

func newRule(name, when string, made *Error) Rule {
	return Rule{name: name, when: when, made: made, class: made.class()}
}

// OnError makes a rule for a sentinel: it matches when errors.Is would find the sentinel in the
// error. It is fast, whatever the number of such rules. A nil sentinel matches nothing, nor does a
// nil pointer in an error interface; a value that cannot be compared matches only errors whose
// method Is says so. [Table.Shadowed] reports them.
func OnError(sentinel error, code Code, reason string, opts ...Option) Rule {
	text := errorText(sentinel)
	if isNil(sentinel) {
		text, sentinel = fmt.Sprintf("nil %T", sentinel), nil
	}
	r := newRule(text, "the error "+text, New(code, reason, opts...))
	r.sentinel = sentinel
	return r
}

// isNil reports whether err is nil, or a nil pointer in an interface.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// unmatched says why the rule matches nothing, "" if it may match.
func (r *Rule) unmatched() string {
	switch {
	case r.match == nil && r.sentinel == nil && r.typ == nil:
		return "matches nothing"
	case r.sentinel != nil && !reflect.ValueOf(r.sentinel).Comparable() && !reflect.TypeOf(r.sentinel).Implements(isType):
		return "matches nothing: the value cannot be compared"
	default:
		return ""
	}
}

// OnType makes a rule for a type: it matches when errors.As would find a T in the error, except
// that a nil pointer is no match. T may be an interface. It is fast, whatever the number of such
// rules.
func OnType[T error](code Code, reason string, opts ...Option) Rule {
	t := reflect.TypeFor[T]()
	r := newRule(t.String(), "the type "+t.String(), New(code, reason, opts...))
	r.typ, r.as = t, asType[T]
	return r
}

// asType asks an error whether it can be seen as a T.
func asType[T error](err caster) bool {
	return errtree.Try(err, func(e caster) bool {
		var target T
		return e.As(&target)
	})
}

// When makes a rule of a function: it matches when match reports true. match is given the whole
// error and may use errors.Is and errors.As; it must be safe for concurrent use, and if it panics
// it does not match. name shows up in logs and lists. Where [OnError] or [OnType] will do, they
// are faster and can be checked by [Table.Shadowed].
//
// An error that unwraps to itself is not shown to match, since errors.As would never return.
func When(name string, match func(error) bool, code Code, reason string, opts ...Option) Rule {
	r := newRule(name, "the predicate "+name, New(code, reason, opts...))
	r.match = match
	return r
}

// matches calls the user's function; a panic is no match.
func (r *Rule) matches(err error) bool { return errtree.Try(err, r.match) }

// rule returns the index of the first user rule that matches, noRule if none does.
func (t *Table) rule(err error, s *search) int {
	if t == nil || len(t.rules) == 0 || s.bypass() {
		return noRule
	}
	if s.cut() {
		return s.best
	}
	for _, i := range t.predicates {
		if i > s.best {
			break
		}
		if t.rules[i].matches(err) {
			return i
		}
	}
	return s.best
}

// ruleReason is the reason for rule i, which names none: that of the type it matched, or of the
// first type in the tree that has one.
func (s *search) ruleReason(i int) string {
	switch {
	case i == s.best && s.bestReason != "":
		return s.bestReason
	case s.named != "":
		return s.named
	default:
		return reasonInternal
	}
}
