package errcode

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// This file finds the header of an answer in errors of types that this package does not know.

// headerReader reads a header from an error of the type it was made for. It may panic where the
// error's own method does.
type headerReader func(error) http.Header

var (
	headerType   = reflect.TypeFor[http.Header]()
	valuesType   = reflect.TypeFor[map[string][]string]()
	pairsType    = reflect.TypeFor[map[string]string]()
	responseType = reflect.TypeFor[*http.Response]()
	requestType  = reflect.TypeFor[*http.Request]()
)

// isHeader tells a header by its type, or, if that is a common map, by what it is called.
func isHeader(t reflect.Type, name string) bool {
	if t == headerType {
		return true
	}
	common := t.ConvertibleTo(valuesType) || t.ConvertibleTo(pairsType)
	return t.Kind() == reflect.Map && common && strings.Contains(name, "Header")
}

// asHeader is a value for which isHeader is true as a header, nil for any other.
func asHeader(v reflect.Value) http.Header {
	switch {
	case !v.IsValid() || !v.CanInterface():
		return nil
	case v.CanConvert(headerType):
		h, _ := reflect.TypeAssert[http.Header](v.Convert(headerType))
		return h
	case v.CanConvert(pairsType):
		pairs, _ := reflect.TypeAssert[map[string]string](v.Convert(pairsType))
		h := make(http.Header, len(pairs))
		for key, value := range pairs {
			h[key] = []string{value}
		}
		return h
	default:
		return nil
	}
}

// hasHeader reports whether t itself has a header of HTTP, as a field or as a method. A map of single
// texts is none: messages of other protocols have such.
func hasHeader(t reflect.Type) bool {
	return hasField(t, func(f reflect.StructField) bool {
		return ofAnswer(f) && isHeader(f.Type, f.Name) && f.Type.ConvertibleTo(headerType)
	}) || len(headerMethods(t)) > 0
}

// headerReaders finds where errors of type t may hold the header of the answer: a method, a field
// or, one level down, a field of a field.
func headerReaders(t reflect.Type) []headerReader {
	readers := append(headerMethods(t), answerMethods(t)...)
	s := structOf(t)
	if s == nil {
		return readers
	}
	for _, f := range reflect.VisibleFields(s) {
		if !ofAnswer(f) {
			continue
		}
		readers = appendHeader(readers, f, f.Index)
		inner := structOf(f.Type)
		if inner == nil || inner == responseType.Elem() {
			continue
		}
		for i := range inner.NumField() {
			if g := inner.Field(i); ofAnswer(g) {
				readers = appendHeader(readers, g, append(slices.Clip(f.Index), i))
			}
		}
	}
	return readers
}

// ofAnswer keeps away from what the agent itself has sent.
func ofAnswer(f reflect.StructField) bool {
	return f.IsExported() && f.Type != requestType && !strings.Contains(f.Name, "Request")
}

func appendHeader(readers []headerReader, f reflect.StructField, index []int) []headerReader {
	switch {
	case isHeader(f.Type, f.Name):
		return append(readers, func(err error) http.Header { return asHeader(field(err, index)) })
	case f.Type == responseType:
		return append(readers, func(err error) http.Header { return headerOf(fieldAs[*http.Response](err, index)) })
	default:
		return readers
	}
}

func headerOf(r *http.Response) http.Header {
	if r == nil {
		return nil
	}
	return r.Header
}

// headerMethods finds the usual methods that give a header. They are interfaces, not names: a lookup
// by name would make the linker keep every method of the program.
func headerMethods(t reflect.Type) (readers []headerReader) {
	readers = appendMethod(readers, t, func(e interface{ Header() http.Header }) http.Header { return e.Header() })
	readers = appendMethod(readers, t, func(e interface{ Headers() http.Header }) http.Header { return e.Headers() })
	readers = appendMethod(readers, t, func(e interface{ ResponseHeader() http.Header }) http.Header { return e.ResponseHeader() })
	readers = appendMethod(readers, t, func(e interface{ Meta() http.Header }) http.Header { return e.Meta() })
	readers = appendMethod(readers, t, func(e interface{ Header() map[string][]string }) http.Header { return e.Header() })
	return appendMethod(readers, t, func(e interface{ Headers() map[string][]string }) http.Header { return e.Headers() })
}

// answerMethods finds the usual methods that give an answer.
func answerMethods(t reflect.Type) (readers []headerReader) {
	readers = appendMethod(readers, t, func(e interface{ Response() *http.Response }) http.Header { return headerOf(e.Response()) })
	readers = appendMethod(readers, t, func(e interface{ HTTPResponse() *http.Response }) http.Header { return headerOf(e.HTTPResponse()) })
	return appendMethod(readers, t, func(e interface{ RawResponse() *http.Response }) http.Header { return headerOf(e.RawResponse()) })
}

func appendMethod[I any](readers []headerReader, t reflect.Type, read func(I) http.Header) []headerReader {
	if !t.Implements(reflect.TypeFor[I]()) {
		return readers
	}
	return append(readers, func(err error) http.Header {
		e, ok := err.(I)
		if !ok {
			return nil
		}
		return read(e)
	})
}
