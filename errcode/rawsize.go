package errcode

import "reflect"

const (
	// maxRawDepth is how deep raw JSON is looked for; what lies deeper is not read anyway.
	maxRawDepth = 100
	// maxRawNodes is how many values are looked at; a value with more is not read whole anyway.
	maxRawNodes = 1 << 20
)

// fits reports whether all raw JSON and all bytes in v together have at most [MaxData] bytes. Nothing
// is decoded for that.
func fits(v any) bool {
	var s rawSize
	s.add(v, 0)
	return s.bytes <= MaxData
}

// rawSize counts bytes that are still to be decoded or encoded.
type rawSize struct{ bytes, nodes int }

// full reports whether there is no more to find out.
func (s *rawSize) full(depth int) bool {
	s.nodes++
	return s.bytes > MaxData || s.nodes > maxRawNodes || depth > maxRawDepth
}

func (s *rawSize) add(v any, depth int) {
	switch v := v.(type) {
	case nil, string, bool, float64, int64:
	case map[string]any:
		for _, x := range v {
			if s.full(depth) {
				return
			}
			s.add(x, depth+1)
		}
	case []any:
		for _, x := range v {
			if s.full(depth) {
				return
			}
			s.add(x, depth+1)
		}
	default:
		s.reflect(reflect.ValueOf(v), depth)
	}
}

func (s *rawSize) reflect(v reflect.Value, depth int) {
	if s.full(depth) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		s.reflect(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			s.reflect(v.Field(i), depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			s.reflect(it.Value(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			s.bytes += v.Len()
			return
		}
		for i := range v.Len() {
			s.reflect(v.Index(i), depth+1)
		}
	default:
	}
}
