package tool

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep a misfit is looked for.
const maxDepth = 20

// locate follows a value that does not fit its type down to what in it does not,
// as far as no type decodes itself: such a type knows alone. It gives the path.
func locate(raw json.RawMessage, t reflect.Type, path []string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := reflect.PointerTo(t)
	if len(path) > maxDepth || p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return path
	}
	for _, c := range contents(raw, t) {
		if json.Unmarshal(c.raw, reflect.New(c.t).Interface()) != nil {
			return locate(c.raw, c.t, append(slices.Clip(path), c.name))
		}
	}
	return path
}

// content is what is in a value, and the type that it is to fit.
type content struct {
	name string
	raw  json.RawMessage
	t    reflect.Type
}

func contents(raw json.RawMessage, t reflect.Type) []content {
	var out []content
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		var elements []json.RawMessage
		_ = json.Unmarshal(raw, &elements) // of another value there are none
		for i, e := range elements {
			out = append(out, content{strconv.Itoa(i), e, t.Elem()})
		}
	case reflect.Map, reflect.Struct:
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if m, ok := memberType(t, name); ok {
				out = append(out, content{name, members[name], m})
			}
		}
	default:
	}
	return out
}

// memberType is the type of a member, where it has one.
func memberType(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && tag != "-" && (tag == name || tag == "" && strings.EqualFold(f.Name, name)) {
			return f.Type, true
		}
	}
	return nil, false
}
