// Package plain turns any Go value into plain JSON types, so that what an author attached to an
// error, an artifact or an event can be stored (gob), compared and sent without surprises.
//
// Plain means: nil, bool, string (valid UTF-8), float64, int64 (only for integers beyond ±2^53),
// map[string]any and []any. The result never shares memory with the input.
package plain

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds how deep a value may nest; what lies deeper is dropped. Clients of most languages
// decode data into google.protobuf.Struct, and take a hundred messages within one another: an
// object is three of them, and what surrounds the data is some more. The deepest data that arrived
// at every client over every binding had 32 levels; the rest is for what we put around a value.
const MaxDepth = 25

const (
	// maxNodes bounds how many values one call visits, so that a small value which shares
	// its parts many times over cannot be unfolded without end.
	maxNodes = 1 << 20
	// exactInt is the largest magnitude up to which every integer has its own float64.
	exactInt = 1 << 53
)

// Value returns v as plain JSON types. What cannot be serialised (channels, functions, NaN,
// infinities, complex numbers, cycles, marshalers that fail or panic, map keys JSON has no form
// for) is dropped piece by piece: a map entry or a struct field disappears, a slice element
// becomes nil, a top-level value becomes nil. dropped has one sorted entry for each loss, a JSON
// Pointer followed by ": " and the reason.
//
// Value is safe for concurrent use as long as v is not changed meanwhile.
func Value(v any) (out any, dropped []string) {
	var w walker
	defer func() {
		if recover() != nil {
			w.path = nil
			w.drop("a method of the value panicked")
			out, dropped = nil, w.dropped
		}
	}()
	out, ok := w.value(v, 0)
	if !ok {
		out = nil
	}
	slices.Sort(w.dropped)
	return out, w.dropped
}

// Map is Value for a place that needs an object: nil stays nil, so that no map is no object, and
// any other result r becomes {"value": r}.
func Map(v any) (out map[string]any, dropped []string) {
	r, dropped := Value(v)
	switch m := r.(type) {
	case nil:
		return nil, dropped
	case map[string]any:
		return m, dropped
	}
	return map[string]any{"value": r}, dropped
}

// walker is the state of one call.
type walker struct {
	path    []string // unescaped reference tokens of the value in hand
	open    []ref    // maps, slices and pointers being visited, outermost first
	nodes   int
	dropped []string
}

// value converts v; ok is false when v itself was dropped.
func (w *walker) value(v any, depth int) (out any, ok bool) {
	w.nodes++
	switch {
	case depth > MaxDepth:
		return w.drop("nested deeper than " + strconv.Itoa(MaxDepth) + " levels")
	case w.nodes > maxNodes:
		return w.drop("more than " + strconv.Itoa(maxNodes) + " values")
	}
	switch v := v.(type) {
	case nil:
		return nil, true
	case map[string]any:
		return w.object(v, depth)
	case []any:
		return w.array(v, depth)
	case map[string]string:
		return w.stringObject(v)
	case []string:
		return w.stringArray(v)
	default:
		if out, ok, done := w.scalar(v); done {
			return out, ok
		}
		return w.other(v, depth)
	}
}

// scalar converts the built-in scalar types; done is false for every other type.
func (w *walker) scalar(v any) (out any, ok, done bool) {
	switch v := v.(type) {
	case string:
		out, ok = text(v), true
	case bool:
		out, ok = v, true
	case float64:
		out, ok = w.float(v)
	case float32:
		out, ok = w.float32(v)
	case int:
		out, ok = integer(int64(v)), true
	case int64:
		out, ok = integer(v), true
	case int32:
		out, ok = float64(v), true
	case uint64:
		out, ok = unsigned(v), true
	case json.Number:
		out, ok = w.number(v)
	default:
		return nil, false, false
	}
	return out, ok, true
}

func (w *walker) float(f float64) (any, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return w.drop("not a finite number")
	}
	return f, true
}

// float32 keeps the shortest decimal form, as encoding/json does, not the widened bits.
func (w *walker) float32(f float32) (any, bool) {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return w.drop("not a finite number")
	}
	return w.float(short)
}

// number converts a JSON number literal; like encoding/json it takes "" for 0.
func (w *walker) number(n json.Number) (any, bool) {
	if n == "" {
		return float64(0), true
	}
	if !json.Valid([]byte(n)) || n[0] != '-' && (n[0] < '0' || n[0] > '9') {
		return w.drop("not a number")
	}
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return integer(i), true
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return w.drop("number out of range")
	}
	return w.float(f)
}

func integer(i int64) any {
	if i >= -exactInt && i <= exactInt {
		return float64(i)
	}
	return i
}

func unsigned(u uint64) any {
	if u > math.MaxInt64 {
		return float64(u)
	}
	return integer(int64(u))
}

// Int returns i the way Value represents it: a float64, or an int64 beyond ±2^53.
func Int(i int64) any { return integer(i) }

func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// drop records the loss of the value at the current path.
func (w *walker) drop(reason string) (any, bool) {
	w.dropped = append(w.dropped, Pointer(w.path)+": "+reason)
	return nil, false
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer writes reference tokens as a JSON Pointer (RFC 6901).
func Pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(text(t)))
	}
	return b.String()
}
