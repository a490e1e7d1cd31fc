package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// Why a text is not decoded.
var (
	ErrSyntax = errors.New("not JSON in UTF-8")
	ErrDepth  = errors.New("nested too deeply")
)

// MaxDepth is how deep objects and arrays may be nested: what the protobuf
// libraries of most languages take.
const MaxDepth = 100

// Decode reads one JSON value: maps, slices, strings, booleans, nil, and numbers
// as json.Number. It also gives the JSON Pointers of members that appear twice
// in an object, of which it keeps the last, as decoders do; up to a hundred.
func Decode(b []byte) (v any, twice []string, err error) {
	if !utf8.Valid(b) {
		return nil, nil, ErrSyntax
	}
	if deepest, _ := Measure(b); deepest > MaxDepth {
		return nil, nil, ErrDepth
	}
	if !json.Valid(b) {
		return nil, nil, ErrSyntax
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(b))}
	d.UseNumber()
	v, err = d.value()
	if err != nil {
		return nil, nil, ErrSyntax
	}
	return v, d.twice, nil
}

// Measure tells, without decoding it, how deep a text of JSON is nested, and about
// how many values it has. What is not JSON has both, too.
func Measure(b []byte) (deepest, values int) {
	open, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			if i+1 < len(b) && b[i+1] != '}' && b[i+1] != ']' {
				values++
			}
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		case c == ',':
			values++
		}
	}
	return deepest, values
}

type decoder struct {
	*json.Decoder
	path  []string
	twice []string
}

func (d *decoder) value() (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return d.object()
	case json.Delim('['):
		return d.array()
	default:
		return t, nil
	}
}

func (d *decoder) object() (any, error) {
	m := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		d.path = append(d.path, key)
		if _, again := m[key]; again && len(d.twice) < MaxViolations {
			d.twice = append(d.twice, pointer(d.path))
		}
		if m[key], err = d.value(); err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
	}
	_, err := d.Token()
	return m, err
}

func (d *decoder) array() (any, error) {
	s := []any{}
	for d.More() {
		d.path = append(d.path, strconv.Itoa(len(s)))
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
		s = append(s, v)
	}
	_, err := d.Token()
	return s, err
}
