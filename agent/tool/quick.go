package tool

import (
	"bytes"
	"encoding/json"
)

// quick recognises arguments that surely fit a plain schema (an object of named
// properties that have no more than a type) without decoding them, which is what
// nearly all calls need. What it does not recognise is for the whole validator
// to judge.
type quick struct {
	properties map[string]property
	required   uint64 // the bits of those that must be there
	closed     bool   // there must be no others
}

// property is one that the schema names.
type property struct {
	bit  uint64 // of a required one
	want shape
}

// shape is a set of JSON types.
type shape uint8

const (
	null shape = 1 << iota
	boolean
	integer // as digits alone
	number
	text
	array
	object

	anything shape = 1<<7 - 1
	unclear  shape = 0 // for the whole validator
)

var shapes = map[string]shape{
	"null": null, "boolean": boolean, "integer": integer, "number": integer | number,
	"string": text, "array": array, "object": object,
}

// newQuick gives nil for a schema that is not plain.
func newQuick(schema any) *quick {
	m, ok := schema.(map[string]any)
	if !ok || m["type"] != "object" || !plain(m, "type", "properties", "required", "additionalProperties") {
		return nil
	}
	q := &quick{properties: map[string]property{}}
	open, isBool := m["additionalProperties"].(bool)
	if _, said := m["additionalProperties"]; said && !isBool {
		return nil
	}
	q.closed = isBool && !open
	properties, _ := m["properties"].(map[string]any)
	for name, p := range properties {
		q.properties[name] = property{want: shapeOf(p)}
	}
	required, _ := m["required"].([]any)
	if len(required) > 64 {
		return nil
	}
	for i, r := range required {
		name, _ := r.(string)
		p, named := q.properties[name]
		if !named && !q.closed {
			p.want = anything
		}
		p.bit = 1 << i
		q.required |= p.bit
		q.properties[name] = p
	}
	return q
}

// plain reports whether a schema has no other keywords than these and those
// that only describe.
func plain(schema map[string]any, keywords ...string) bool {
	n := 0
	for _, k := range append(keywords, "title", "description", "default", "examples") {
		if _, ok := schema[k]; ok {
			n++
		}
	}
	return n == len(schema)
}

func shapeOf(schema any) shape {
	m, ok := schema.(map[string]any)
	if !ok || !plain(m, "type") {
		return unclear
	}
	switch t := m["type"].(type) {
	case nil:
		return anything
	case string:
		return shapes[t]
	case []any:
		var s shape
		for _, name := range t {
			name, _ := name.(string)
			s |= shapes[name]
		}
		return s
	}
	return unclear
}

// fits reports whether args, which are a JSON object, surely fit.
func (q *quick) fits(args []byte) bool {
	if q == nil {
		return false
	}
	var found uint64
	for rest := space(args[1:]); rest[0] != '}'; {
		if rest[0] == ',' {
			rest = space(rest[1:])
		}
		name, after := scanString(rest)
		if bytes.IndexByte(name, '\\') >= 0 || !ascii(name) {
			return false
		}
		p, known := q.properties[string(name)]
		found |= p.bit
		value := space(space(after)[1:]) // past the colon
		got, after := scan(value)
		if known && got&p.want == 0 || !known && q.closed {
			return false
		}
		rest = space(after)
	}
	return found == q.required
}

// isObject reports whether args are a JSON object, from their first byte on. The
// empty one, which is what no arguments are, needs no look.
func isObject(args []byte) bool {
	return string(args) == "{}" || len(args) > 0 && args[0] == '{' && json.Valid(args)
}

func ascii(s []byte) bool {
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// The scanners below are given valid JSON.

func space(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	return s
}

// scanString gives the string that s begins with, as it is written.
func scanString(s []byte) (inner, rest []byte) {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[1:i], s[i+1:]
		}
	}
}

// scan gives the type of the value that s begins with, and what follows it.
func scan(s []byte) (got shape, rest []byte) {
	switch s[0] {
	case '"':
		_, rest = scanString(s)
		return text, rest
	case '{':
		return object, skip(s)
	case '[':
		return array, skip(s)
	}
	switch s[0] {
	case 'n':
		return null, s[len("null"):]
	case 't':
		return boolean, s[len("true"):]
	case 'f':
		return boolean, s[len("false"):]
	}
	got = integer
	for i, c := range s {
		switch c {
		case '.', 'e', 'E':
			got = number
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return got, s[i:]
		}
	}
	return got, nil
}

// skip passes an object or an array.
func skip(s []byte) []byte {
	for depth := 0; ; {
		switch s[0] {
		case '"':
			_, s = scanString(s)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s = s[1:]
		if depth == 0 {
			return s
		}
	}
}
