package typed

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// pointerOf is the JSON Pointer of the value in raw that a decoder refused. Its
// error names struct fields only, no indices and no members of maps, but says
// how far it had read.
func pointerOf(raw []byte, refused *json.UnmarshalTypeError) string {
	path := pathAt(raw, refused.Offset)
	for _, token := range path {
		if refused.Field == "" || strings.HasSuffix(strings.ToLower(refused.Field), strings.ToLower(token)) {
			return plain.Pointer(path)
		}
	}
	if refused.Field == "" {
		return ""
	}
	// A type that decodes itself counted from the start of its own value.
	return plain.Pointer(strings.Split(refused.Field, "."))
}

// level is an array or object that pathAt is in.
type level struct {
	array bool
	index int
	key   string
	value bool // in an object: the key was read, its value follows
}

// pathAt gives the reference tokens of the value that ends, or opens, at offset.
func pathAt(raw []byte, offset int64) []string {
	var levels []level
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == ']' || delim == '}') {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 {
			levels[n-1].next(token)
		}
		if d.InputOffset() >= offset {
			return tokensOf(levels)
		}
		if isDelim {
			levels = append(levels, level{array: delim == '[', index: -1})
		}
	}
}

// next takes the level's next key or value.
func (l *level) next(token json.Token) {
	switch key, isText := token.(string); {
	case l.array:
		l.index++
	case !l.value && isText:
		l.key, l.value = key, true
	default:
		l.value = false
	}
}

func tokensOf(levels []level) []string {
	out := make([]string, 0, len(levels))
	for _, l := range levels {
		if l.array {
			out = append(out, strconv.Itoa(l.index))
		} else {
			out = append(out, l.key)
		}
	}
	return out
}

// jsonKind names in JSON's words what a Go type is decoded from.
func jsonKind(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
			return "a string in base64"
		}
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		most := int64(math.MaxInt64) >> (64 - t.Bits())
		return fmt.Sprintf("an integer from %d to %d", -most-1, most)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return fmt.Sprintf("an integer from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return "an integer that is not negative"
	default:
		return "a value of the expected form"
	}
}
