package errcode

import (
	"math"
	"reflect"
	"slices"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// noRule is an index behind that of every rule.
const noRule = math.MaxInt

var asMethodType = reflect.TypeFor[caster]()

// typeRules are the rules that can match errors of one concrete type, as indices.
type typeRules struct {
	// byType is the first rule for the type itself, or for an interface it implements.
	byType int
	// byValue are the rules with a sentinel of the type.
	byValue []int
	// byIs are the rules with a sentinel, for a type with a method Is.
	byIs []int
	// byAs are the rules with a type, for a type with a method As.
	byAs []int
}

// rulesFor finds the rules for errors of type t, nil if none can match them.
func rulesFor(t reflect.Type, rules []Rule) *typeRules {
	r := typeRules{byType: noRule}
	for i := range rules {
		r.add(i, &rules[i], t)
	}
	if r.byType == noRule && r.byValue == nil && r.byIs == nil && r.byAs == nil {
		return nil
	}
	return &r
}

func (r *typeRules) add(i int, rule *Rule, t reflect.Type) {
	switch {
	case rule.sentinel != nil:
		if reflect.TypeOf(rule.sentinel) == t && t.Comparable() {
			r.byValue = append(r.byValue, i)
		}
		if t.Implements(isType) {
			r.byIs = append(r.byIs, i)
		}
	case rule.typ != nil:
		if r.byType == noRule && takes(rule.typ, t) {
			r.byType = i
		}
		if t.Implements(asMethodType) {
			r.byAs = append(r.byAs, i)
		}
	}
}

// takes reports whether errors.As finds an error of the concrete type t when it looks for want.
func takes(want, t reflect.Type) bool {
	return want == t || want.Kind() == reflect.Interface && t.Implements(want)
}

// matchRules notes the first rule that matches the error in hand.
func (s *search) matchRules(err error) {
	r := s.info.rules
	if r == nil || s.info.isNil(err) {
		return
	}
	best := min(s.best, r.byType)
	if r.byValue != nil {
		best = firstRule(best, r.byValue, func(i int) bool { return same(err, s.types.rules[i].sentinel) })
	}
	if r.byIs != nil {
		best = firstRule(best, r.byIs, func(i int) bool { return claims(err, s.types.rules[i].sentinel) })
	}
	if r.byAs != nil {
		best = firstRule(best, r.byAs, func(i int) bool { return s.types.rules[i].claimed(err) })
	}
	if best < s.best {
		s.best, s.bestReason = best, s.info.reason
	}
}

// firstRule returns the first of the rules that matches, if it comes before best.
func firstRule(best int, rules []int, matches func(int) bool) int {
	n, _ := slices.BinarySearch(rules, best)
	if i := slices.IndexFunc(rules[:n], matches); i >= 0 {
		return rules[i]
	}
	return best
}

// claimed reports whether err says of itself that it can be seen as the type of the rule.
func (r *Rule) claimed(err error) bool {
	a, ok := err.(caster)
	return ok && r.as(a)
}

// same compares two errors of one comparable type. A struct may still hold what cannot be
// compared.
func same(err, target error) bool {
	if reflect.TypeOf(target).Kind() == reflect.Pointer {
		return err == target //nolint:errorlint // identity is meant
	}
	return errtree.Try(err, func(e error) bool { return e == target }) //nolint:errorlint // identity is meant
}
