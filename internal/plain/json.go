package plain

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Marshal writes a plain value as JSON that [Unmarshal] reads as the same value.
// A nil list is written as an empty one, of which the host's copying made a nil one.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(told(v)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Unmarshal reads JSON as a plain value.
func Unmarshal(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return exact(v), nil
}

// told gives v as it is written, so that it is read as it was; v itself is not
// changed.
func told(v any) any {
	switch v := v.(type) {
	case float64:
		if math.Abs(v) > exactInt { // not to be taken for a whole number
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64))
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = told(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = told(e)
		}
		return out
	}
	return v
}

// exact turns numbers into what they were before they were written: an int64 for
// whole numbers that no float64 can hold, a float64 for all others. It changes
// maps and lists in place.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil && (n > exactInt || n < -exactInt) {
			return n
		}
		f, _ := v.Float64() // in range: it was written from a float64 or an int64
		return f
	case map[string]any:
		for k, e := range v {
			v[k] = exact(e)
		}
	case []any:
		for i, e := range v {
			v[i] = exact(e)
		}
	}
	return v
}
