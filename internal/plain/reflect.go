package plain

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// other converts a value of any type that has no fast path: through encoding/json when that
// works, else piece by piece.
func (w *walker) other(v any, depth int) (any, bool) {
	b, err := marshal(v)
	if err == nil {
		decoded, err := decode(b)
		if err != nil {
			return w.drop(err.Error())
		}
		return w.value(decoded, depth)
	}
	rv := reflect.ValueOf(v)
	if isMarshaler(rv) {
		return w.drop(err.Error())
	}
	return w.pieces(rv, err, depth)
}

// marshal is json.Marshal with panics of the value's own methods turned into errors.
func marshal(v any) (b []byte, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("encoding a %T panicked", v)
		}
	}()
	return json.Marshal(v)
}

func decode(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("encoding gave no valid JSON")
	}
	return v, nil
}

// isMarshaler reports whether a non-nil rv decides about its own encoding.
func isMarshaler(rv reflect.Value) bool {
	if rv.Kind() == reflect.Pointer && rv.IsNil() || !rv.CanInterface() {
		return false
	}
	switch rv.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}

// pieces converts the parts of a value that encoding/json refused for the reason cause.
func (w *walker) pieces(rv reflect.Value, cause error, depth int) (any, bool) {
	switch rv.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !w.enter(rv) {
			return w.drop("contains itself")
		}
		defer w.leave()
	default:
	}
	switch rv.Kind() {
	case reflect.Pointer:
		return w.value(rv.Elem().Interface(), depth+1)
	case reflect.Map:
		return w.mapPieces(rv, depth)
	case reflect.Slice, reflect.Array:
		out := make([]any, rv.Len())
		for i := range out {
			out[i] = w.element(i, rv.Index(i).Interface(), depth)
		}
		return out, true
	case reflect.Struct:
		out := make(map[string]any)
		w.structPieces(rv, out, depth)
		return out, true
	case reflect.Float32, reflect.Float64:
		return w.float(rv.Float())
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return w.drop(rv.Type().String() + " has no JSON form")
	default:
		return w.drop(cause.Error())
	}
}

func (w *walker) mapPieces(rv reflect.Value, depth int) (any, bool) {
	out := make(map[string]any, rv.Len())
	for it := rv.MapRange(); it.Next(); {
		key, err := mapKey(it.Key())
		if err != nil {
			w.push(fmt.Sprintf("%v", it.Key().Type()))
			w.drop(err.Error())
			w.pop()
			continue
		}
		w.entry(out, key, it.Value().Interface(), depth)
	}
	return out, true
}

// mapKey gives the JSON member name of a map key, by the rules of encoding/json.
func mapKey(k reflect.Value) (name string, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("encoding a key of type %s panicked", k.Type())
		}
	}()
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](k); ok {
		b, err := m.MarshalText()
		return string(b), err
	}
	if k.CanInt() || k.CanUint() {
		return fmt.Sprintf("%d", k.Interface()), nil
	}
	return "", fmt.Errorf("a key of type %s has no JSON form", k.Type())
}

// structPieces adds the fields of a struct to out. Fields of the struct itself win over those
// of embedded structs, as in encoding/json.
func (w *walker) structPieces(rv reflect.Value, out map[string]any, depth int) {
	if depth > MaxDepth {
		return
	}
	var embedded []reflect.Value
	for i := range rv.NumField() {
		sf, fv := rv.Type().Field(i), rv.Field(i)
		tag := parseTag(sf)
		if tag.skip {
			continue
		}
		if inner, ok := embeddedStruct(sf, fv, tag); ok {
			embedded = append(embedded, inner)
			continue
		}
		if !sf.IsExported() || tag.omit(fv) {
			continue
		}
		w.entry(out, tag.name, fv.Interface(), depth)
	}
	for _, inner := range embedded {
		if inner.IsValid() {
			w.promote(inner, out, depth)
		}
	}
}

// promote adds the fields of an embedded struct that out does not have yet.
func (w *walker) promote(inner reflect.Value, out map[string]any, depth int) {
	fields := make(map[string]any)
	w.structPieces(inner, fields, depth+1)
	for k, v := range fields {
		if _, taken := out[k]; !taken {
			out[k] = v
		}
	}
}

// embeddedStruct returns the struct whose fields sf promotes. ok is true when sf is embedded to
// that end; the struct is then invalid if it is a nil pointer.
func embeddedStruct(sf reflect.StructField, fv reflect.Value, tag fieldTag) (inner reflect.Value, ok bool) {
	if !sf.Anonymous || tag.named {
		return reflect.Value{}, false
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t, fv = t.Elem(), fv.Elem()
	}
	return fv, t.Kind() == reflect.Struct
}

// fieldTag is what a json struct tag says.
type fieldTag struct {
	name      string
	named     bool
	skip      bool
	omitEmpty bool
	omitZero  bool
}

func parseTag(sf reflect.StructField) fieldTag {
	raw := sf.Tag.Get("json")
	if raw == "-" {
		return fieldTag{skip: true}
	}
	name, opts, _ := strings.Cut(raw, ",")
	t := fieldTag{name: name, named: name != ""}
	if !t.named {
		t.name = sf.Name
	}
	for opt := range strings.SplitSeq(opts, ",") {
		t.omitEmpty = t.omitEmpty || opt == "omitempty"
		t.omitZero = t.omitZero || opt == "omitzero"
	}
	return t
}

// omit reports whether the tag leaves out a field with this value.
func (t fieldTag) omit(fv reflect.Value) bool {
	if t.omitZero && fv.IsZero() {
		return true
	}
	if !t.omitEmpty {
		return false
	}
	switch fv.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return fv.Len() == 0
	case reflect.Struct:
		return false
	default:
		return fv.IsZero()
	}
}
