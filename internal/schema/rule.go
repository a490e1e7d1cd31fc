// Package schema says what the requests of A2A look like, and checks them as
// JSON, before a binding decodes them, so that a client learns everything that
// is wrong at once, in the names it knows: a decoder stops at the first fault. A
// gRPC request is checked in the same form.
package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// Rule checks a value of JSON, as [Decode] gives it, and tells the checker what
// is wrong, and how it would usually be written.
type Rule func(c *checker, v any)

// checker walks a request and gathers violations.
type checker struct {
	path    []string
	found   []errcode.Violation
	usual   any // how the value at hand is usually written, nil where it is
	changed bool
}

// MaxViolations bounds an answer to a request that is all wrong.
const MaxViolations = 100

// Check gives every violation of a Rule, each with the JSON Pointer of its
// field, up to a hundred.
func Check(r Rule, v any) []errcode.Violation {
	_, _, found := Settle(r, v)
	return found
}

// Settle checks, and gives v as the bindings read it: the JSON form of protocol
// buffers lets a client write some values in several ways, of which they know
// one. What it changes, it changes in v itself where it can.
func Settle(r Rule, v any) (settled any, changed bool, found []errcode.Violation) {
	c := &checker{}
	settled = c.apply(r, v)
	return settled, c.changed, c.found
}

// apply gives the value as it is usually written.
func (c *checker) apply(r Rule, v any) any {
	r(c, v)
	if c.usual != nil {
		v, c.usual, c.changed = c.usual, nil, true
	}
	return v
}

func (c *checker) fail(format string, args ...any) {
	if len(c.found) < MaxViolations {
		c.found = append(c.found, errcode.Violation{Field: pointer(c.path), Message: fmt.Sprintf(format, args...)})
	}
}

// pointer is a JSON Pointer that is cut where a client made its names too long
// for an answer.
func pointer(path []string) string {
	const most = 512
	length := 0
	for i, name := range path {
		if length += len(name) + 1; length > most {
			cut := append(slices.Clone(path[:i]), strings.ToValidUTF8(name[:max(0, len(name)-(length-most))], "")+"…")
			return plain.Pointer(cut)
		}
	}
	return plain.Pointer(path)
}

func (c *checker) in(name string, r Rule, v any) any {
	c.path = append(c.path, name)
	v = c.apply(r, v)
	c.path = c.path[:len(c.path)-1]
	return v
}

// field is a member of an object.
type field struct {
	name     string
	rule     Rule
	required bool
	other    string // name, by which it goes too
}

func need(name string, r Rule) field { return field{name: name, rule: r, required: true} }
func may(name string, r Rule) field  { return field{name: name, rule: r} }

// object checks the members of an object. Null counts as absent. Members that
// it does not know are left alone, for the protocol grows; but a name that
// differs in case only is refused: a decoder would take it for the right one.
func object(fields ...field) Rule {
	return func(c *checker, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.fail("expected an object, got %s", typeOf(v))
			return
		}
		for _, f := range fields {
			c.member(m, f)
		}
		c.misspelt(m, fields)
	}
}

func (c *checker) member(m map[string]any, f field) {
	at, value := f.name, m[f.name]
	if other, ok := m[f.other]; ok && f.other != "" {
		if _, both := m[f.name]; both {
			c.in(f.other, func(c *checker, _ any) { c.fail("is %q once more", f.name) }, nil)
			return
		}
		at, value = f.other, other
	}
	switch {
	case value != nil:
		before := c.changed
		c.changed = at != f.name
		if value = c.in(at, f.rule, value); c.changed {
			delete(m, at)
			m[f.name] = value
		}
		c.changed = c.changed || before
	case f.required:
		c.in(f.name, func(c *checker, _ any) { c.fail("is required") }, nil)
	}
}

func (c *checker) misspelt(m map[string]any, fields []field) {
	var wrong []string
	for name := range m {
		for _, f := range fields {
			if name != f.name && strings.EqualFold(name, f.name) {
				wrong = append(wrong, name+"\x00"+f.name)
			}
		}
	}
	slices.Sort(wrong)
	for _, w := range wrong {
		name, right, _ := strings.Cut(w, "\x00")
		c.in(name, func(c *checker, _ any) { c.fail("unknown field; did you mean %q?", right) }, nil)
	}
}

// list checks each element.
func list(r Rule) Rule {
	return func(c *checker, v any) {
		elements, ok := v.([]any)
		if !ok {
			c.fail("expected an array, got %s", typeOf(v))
			return
		}
		for i, e := range elements {
			elements[i] = c.in(strconv.Itoa(i), r, e)
		}
	}
}

// nonEmpty is a list of at least one element.
func nonEmpty(what string, r Rule) Rule {
	each := list(r)
	return func(c *checker, v any) {
		if elements, ok := v.([]any); ok && len(elements) == 0 {
			c.fail("at least one %s is required", what)
			return
		}
		each(c, v)
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// shorten keeps what a client sent from filling our answer.
func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
