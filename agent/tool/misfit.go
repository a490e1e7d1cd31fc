package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// misfits names the arguments that encoding/json refused though they fit the
// schema: a number too large for its field, a text that a type's own method does
// not read. Each argument is tried by itself.
func misfits(args json.RawMessage, t reflect.Type) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return faults{}.text()
	}
	var f faults
	for _, name := range slices.Sorted(maps.Keys(members)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if err != nil {
			continue
		}
		if err := json.Unmarshal(one, reflect.New(t).Interface()); err != nil {
			f.invalid = append(f.invalid, misfit(strings.Join(locate(one, t, nil), "."), name, err))
		}
	}
	return f.text()
}

func misfit(path, name string, err error) string {
	if path != "" {
		name = path
	}
	what := "does not fit"
	var m *json.UnmarshalTypeError
	var p *time.ParseError
	switch {
	case errors.As(err, &m):
		what = m.Value + " does not fit"
		if path == "" && m.Field != "" {
			name = m.Field
		}
	case errors.As(err, &p):
		what = "expected a time like 2006-01-02T15:04:05Z"
	}
	return fmt.Sprintf("%s (%s)", cutRune(name, maxName), what)
}

// wholeNumbers writes whole numbers as encoding/json reads them into integers: to
// a schema 2.0 and 2e0 are integers too.
func wholeNumbers(args json.RawMessage) json.RawMessage {
	if !json.Valid(args) { // a decoder would not mind what follows the first value
		return args
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	raw, err := json.Marshal(whole(v))
	if err != nil {
		return args
	}
	return raw
}

func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = whole(member)
		}
	case []any:
		for i, member := range v {
			v[i] = whole(member)
		}
	case json.Number:
		f, err := v.Float64()
		if err == nil && strings.ContainsAny(v.String(), ".eE") && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return v
}
