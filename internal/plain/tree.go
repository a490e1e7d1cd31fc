package plain

import (
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ref identifies a map, a slice or a pointer, to notice that it contains itself.
type ref struct {
	ptr uintptr
	n   int
	typ reflect.Type
}

// enter notes that rv is being visited; it reports false when rv contains itself.
func (w *walker) enter(rv reflect.Value) bool {
	r := ref{ptr: rv.Pointer(), typ: rv.Type()}
	if rv.Kind() == reflect.Slice {
		r.n = rv.Len()
	}
	if slices.Contains(w.open, r) {
		return false
	}
	w.open = append(w.open, r)
	return true
}

func (w *walker) leave() { w.open = w.open[:len(w.open)-1] }

func (w *walker) push(token string) { w.path = append(w.path, token) }
func (w *walker) pop()              { w.path = w.path[:len(w.path)-1] }

func (w *walker) object(m map[string]any, depth int) (any, bool) {
	if m == nil {
		return nil, true
	}
	if len(m) > 0 && !w.enter(reflect.ValueOf(m)) {
		return w.drop("contains itself")
	}
	out := make(map[string]any, len(m))
	var odd []string
	for k, v := range m {
		if !utf8.ValidString(k) {
			odd = append(odd, k)
			continue
		}
		w.entry(out, k, v, depth)
	}
	slices.Sort(odd)
	for _, k := range odd {
		w.entry(out, k, m[k], depth)
	}
	if len(m) > 0 {
		w.leave()
	}
	return out, true
}

// entry adds one converted entry to out. A key that is not valid UTF-8 is repaired and yields
// to a key that was valid from the start.
func (w *walker) entry(out map[string]any, key string, v any, depth int) {
	w.push(key)
	defer w.pop()
	key = text(key)
	if _, taken := out[key]; taken {
		w.drop("another entry has this key")
		return
	}
	if r, ok := w.value(v, depth+1); ok {
		out[key] = r
	}
}

func (w *walker) array(s []any, depth int) (any, bool) {
	if s == nil {
		return nil, true
	}
	if len(s) > 0 && !w.enter(reflect.ValueOf(s)) {
		return w.drop("contains itself")
	}
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = w.element(i, v, depth)
	}
	if len(s) > 0 {
		w.leave()
	}
	return out, true
}

// element converts one element of a list; a dropped one is nil.
func (w *walker) element(i int, v any, depth int) any {
	w.push(strconv.Itoa(i))
	defer w.pop()
	r, ok := w.value(v, depth+1)
	if !ok {
		return nil
	}
	return r
}

func (w *walker) stringObject(m map[string]string) (any, bool) {
	if m == nil {
		return nil, true
	}
	out := make(map[string]any, len(m))
	var odd []string
	for k, v := range m {
		if !utf8.ValidString(k) {
			odd = append(odd, k)
			continue
		}
		out[k] = text(v)
	}
	slices.Sort(odd)
	for _, k := range odd {
		w.entry(out, k, m[k], 0)
	}
	return out, true
}

func (w *walker) stringArray(s []string) (any, bool) {
	if s == nil {
		return nil, true
	}
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = text(v)
	}
	return out, true
}
