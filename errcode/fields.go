package errcode

import (
	"reflect"
	"slices"
)

// structOf is the struct type that t is or points to, nil if it is something else.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func hasField(t reflect.Type, want func(reflect.StructField) bool) bool {
	s := structOf(t)
	return s != nil && slices.ContainsFunc(reflect.VisibleFields(s), func(f reflect.StructField) bool {
		return f.IsExported() && want(f)
	})
}

// exported finds a field of t, which may be promoted from an embedded struct.
func exported(t reflect.Type, name string) (f reflect.StructField, ok bool) {
	s := structOf(t)
	if s == nil {
		return f, false
	}
	f, ok = s.FieldByName(name)
	return f, ok && f.IsExported()
}

// intReader returns what reads the integer field of that name, nil if t has none. What does not
// fit an int reads as 0.
func intReader(t reflect.Type, name string) func(error) int {
	f, ok := exported(t, name)
	switch {
	case !ok:
		return nil
	case reflect.Int <= f.Type.Kind() && f.Type.Kind() <= reflect.Int64:
		return func(err error) int { return small(field(err, f.Index).Int()) }
	case reflect.Uint <= f.Type.Kind() && f.Type.Kind() <= reflect.Uint64:
		return func(err error) int { return small(int64(min(field(err, f.Index).Uint(), 1<<31))) } //nolint:gosec // it fits
	default:
		return nil
	}
}

// small is n, or 0 when that is far from every code.
func small(n int64) int {
	if n < -1<<31 || n >= 1<<31 {
		return 0
	}
	return int(n)
}

// fieldReader returns what reads the field of that name and kind, nil if t has none.
func fieldReader[T any](t reflect.Type, name string, kind reflect.Kind) func(error) T {
	f, ok := exported(t, name)
	if !ok || f.Type.Kind() != kind {
		return nil
	}
	return func(err error) T { return fieldAs[T](err, f.Index) }
}

// fieldAs is the field at index as a T, the zero value when it is something else or lies behind a
// nil pointer.
func fieldAs[T any](err error, index []int) (value T) {
	v := field(err, index)
	if !v.IsValid() || !v.CanInterface() {
		return value
	}
	value, _ = reflect.TypeAssert[T](v)
	return value
}

// field follows index through pointers; the result is invalid behind a nil pointer.
func field(err error, index []int) reflect.Value {
	v := reflect.ValueOf(err)
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.Field(i)
	}
	return v
}
