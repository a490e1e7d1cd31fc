package errcode

import (
	"fmt"
	"reflect"
)

// Shadow is a rule that can never match, see [Table.Shadowed].
type Shadow struct {
	// Rule is the position of the rule in the call of [NewTable], from 0.
	Rule int
	// By is the position of the earlier rule that takes all it would match, -1 when there is
	// nothing the rule could match.
	By int
	// Text explains it, for people.
	Text string
}

// Shadowed returns the rules that can never match: those for a sentinel or a type that an earlier
// rule is for already, also by an interface, and those that match nothing at all. It is meant for a
// test of the user's table, which should find none.
//
// The function of [When] cannot be judged, so a rule behind one that matches everything is not
// found. Neither is it considered that an error may have a method Is or As which makes it match the
// later rule only.
func (t *Table) Shadowed() []Shadow {
	if t == nil {
		return nil
	}
	var found []Shadow
	for i := range t.rules {
		if s, ok := t.shadow(i); ok {
			found = append(found, s)
		}
	}
	return found
}

func (t *Table) shadow(i int) (Shadow, bool) {
	r := &t.rules[i]
	if r.match != nil {
		return Shadow{}, false
	}
	if why := r.unmatched(); why != "" {
		return Shadow{Rule: i, By: -1, Text: fmt.Sprintf("rule %d (%s) %s", i, r.name, why)}, true
	}
	for j := range i {
		if t.rules[j].covers(r) {
			return Shadow{Rule: i, By: j, Text: fmt.Sprintf(
				"rule %d (%s) never matches: rule %d (%s) takes every such error", i, r.name, j, t.rules[j].name)}, true
		}
	}
	return Shadow{}, false
}

// covers reports whether r matches all that later does.
func (r *Rule) covers(later *Rule) bool {
	switch {
	case r.sentinel != nil:
		return later.sentinel != nil && reflect.TypeOf(r.sentinel) == reflect.TypeOf(later.sentinel) &&
			reflect.TypeOf(r.sentinel).Comparable() && same(r.sentinel, later.sentinel)
	case r.typ == nil:
		return false
	case later.sentinel != nil:
		return takes(r.typ, reflect.TypeOf(later.sentinel))
	default:
		return later.typ != nil && (r.typ == later.typ || r.typ.Kind() == reflect.Interface && later.typ.Implements(r.typ))
	}
}
