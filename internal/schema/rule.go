// Package schema says what the requests of A2A look like, and checks them as
// JSON, before a binding decodes them, so that a client learns everything that
// is wrong at once, in the names it knows: a decoder stops at the first fault. A
// gRPC request is checked in the same form.
package schema

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// Rule checks a value of JSON, as [Decode] gives it, and tells the checker what
// is wrong.
type Rule func(c *checker, v any)

// checker walks a request and gathers violations.
type checker struct {
	path  []string
	found []errcode.Violation
}

// MaxViolations bounds an answer to a request that is all wrong.
const MaxViolations = 100

// Check gives every violation of a Rule, each with the JSON Pointer of its
// field, up to a hundred.
func Check(r Rule, v any) []errcode.Violation {
	c := &checker{}
	r(c, v)
	return c.found
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

func (c *checker) in(name string, r Rule, v any) {
	c.path = append(c.path, name)
	r(c, v)
	c.path = c.path[:len(c.path)-1]
}

// field is a member of an object.
type field struct {
	name     string
	rule     Rule
	required bool
}

func need(name string, r Rule) field { return field{name, r, true} }
func may(name string, r Rule) field  { return field{name, r, false} }

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
			value, present := m[f.name]
			switch {
			case present && value != nil:
				c.in(f.name, f.rule, value)
			case f.required:
				c.in(f.name, func(c *checker, _ any) { c.fail("is required") }, nil)
			}
		}
		c.misspelt(m, fields)
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
			c.in(strconv.Itoa(i), r, e)
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

func text(c *checker, v any) {
	if _, ok := v.(string); !ok {
		c.fail("expected a string, got %s", typeOf(v))
	}
}

// name is a text that says something.
func name(c *checker, v any) {
	s, ok := v.(string)
	switch {
	case !ok:
		c.fail("expected a string, got %s", typeOf(v))
	case s == "":
		c.fail("must not be empty")
	}
}

func flag(c *checker, v any) {
	if _, ok := v.(bool); !ok {
		c.fail("expected true or false, got %s", typeOf(v))
	}
}

// whole is an integer between least and most.
func whole(least, most int64) Rule {
	return func(c *checker, v any) {
		n, isNumber := v.(json.Number)
		i, err := strconv.ParseInt(string(n), 10, 64)
		switch {
		case !isNumber:
			c.fail("expected an integer, got %s", typeOf(v))
		case err == nil && least <= i && i <= most:
		case most == math.MaxInt32:
			c.fail("expected an integer of %d or more, got %s", least, shorten(string(n)))
		default:
			c.fail("expected an integer between %d and %d, got %s", least, most, shorten(string(n)))
		}
	}
}

// oneOf is a string of a closed set.
func oneOf(values ...string) Rule {
	return func(c *checker, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			c.fail("expected a string, got %s", typeOf(v))
		case !slices.Contains(values, s):
			c.fail("unknown value %q; expected one of %s", shorten(s), strings.Join(values, ", "))
		}
	}
}

func anything(*checker, any) {}

// Free takes any JSON, as long as its numbers are some.
func Free(c *checker, v any) {
	switch v := v.(type) {
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			c.fail("expected a number that fits 64 bits, got %s", shorten(string(v)))
		}
	case []any:
		for i, e := range v {
			c.in(strconv.Itoa(i), Free, e)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			c.in(k, Free, v[k])
		}
	}
}

// freeObject is an object of the client's own.
func freeObject(c *checker, v any) {
	if _, ok := v.(map[string]any); !ok {
		c.fail("expected an object, got %s", typeOf(v))
		return
	}
	Free(c, v)
}

func timestamp(c *checker, v any) {
	s, ok := v.(string)
	if !ok {
		c.fail("expected a timestamp such as \"2025-11-09T10:30:00Z\", got %s", typeOf(v))
		return
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		c.fail("expected a timestamp such as \"2025-11-09T10:30:00Z\", got %q", shorten(s))
	}
}

func base64Text(c *checker, v any) {
	s, ok := v.(string)
	if !ok {
		c.fail("expected base64 text, got %s", typeOf(v))
		return
	}
	if _, err := base64.StdEncoding.DecodeString(s); err != nil {
		c.fail("expected base64 text of the standard alphabet with padding")
	}
}

func webhook(c *checker, v any) {
	s, ok := v.(string)
	u, err := url.Parse(s)
	if !ok || err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		c.fail("expected an absolute http or https URL")
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
