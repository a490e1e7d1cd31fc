package errcode

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// This file recognises the HTTP errors of libraries that this package does not import, by the
// shape of their types. A type is looked at once.

// httpShape returns the match for errors of type t if they tell an HTTP status, nil if not.
func httpShape(t reflect.Type) matcher {
	status := statusReader(t)
	if status == nil {
		return nil
	}
	headers := headerReaders(t)
	details := fieldReader[any](t, "Details", reflect.Slice)
	return func(err error) (Class, bool) {
		n := status(err)
		if !isErrorStatus(n) || n == http.StatusBadRequest && wrapsAPIError(err) {
			return Class{}, false
		}
		c := statusClass(n)
		if !asksForDelay(n) {
			return c, true
		}
		c.RetryAfter, c.HasRetryAfter = firstDelay(err, headers)
		if !c.HasRetryAfter && details != nil {
			c.RetryAfter, c.HasRetryAfter = detailDelay(details(err))
		}
		return c, true
	}
}

func firstDelay(err error, headers []func(error) http.Header) (time.Duration, bool) {
	now := time.Now()
	for _, header := range headers {
		if d, ok := headerDelay(header(err), now); ok {
			return d, true
		}
	}
	return 0, false
}

type (
	httpStatusCoder interface{ HTTPStatusCode() int }
	statusCoder     interface{ StatusCode() int }
)

// statusReader finds the status: a method, or an integer field. A field called Code is an HTTP
// status only beside a header, or beside a text called Status as in Google's error model.
func statusReader(t reflect.Type) func(error) int {
	switch {
	case t.Implements(reflect.TypeFor[httpStatusCoder]()):
		return func(err error) int { return err.(httpStatusCoder).HTTPStatusCode() } //nolint:errcheck // t implements it
	case t.Implements(reflect.TypeFor[statusCoder]()):
		return func(err error) int { return err.(statusCoder).StatusCode() } //nolint:errcheck // t implements it
	}
	for _, name := range []string{"StatusCode", "HTTPStatusCode"} {
		if read := intReader(t, name); read != nil {
			return read
		}
	}
	if hasField(t, func(f reflect.StructField) bool {
		return f.Type == headerType || f.Name == "Status" && f.Type.Kind() == reflect.String
	}) {
		return intReader(t, "Code")
	}
	return nil
}

var (
	headerType   = reflect.TypeFor[http.Header]()
	responseType = reflect.TypeFor[*http.Response]()
)

// headerReaders finds where errors of type t may hold the header of the answer: a method, a field
// or, one level down, a field of a field.
func headerReaders(t reflect.Type) []func(error) http.Header {
	readers := headerMethods(t)
	s := structOf(t)
	if s == nil {
		return readers
	}
	for _, f := range reflect.VisibleFields(s) {
		if !ofAnswer(f) {
			continue
		}
		readers = appendHeader(readers, f.Type, f.Index)
		inner := structOf(f.Type)
		if inner == nil || inner == responseType.Elem() {
			continue
		}
		for i := range inner.NumField() {
			if g := inner.Field(i); ofAnswer(g) {
				readers = appendHeader(readers, g.Type, append(slices.Clip(f.Index), i))
			}
		}
	}
	return readers
}

// ofAnswer keeps away from what the agent itself has sent.
func ofAnswer(f reflect.StructField) bool {
	return f.IsExported() && f.Type != reflect.TypeFor[*http.Request]() && !strings.Contains(f.Name, "Request")
}

func appendHeader(readers []func(error) http.Header, t reflect.Type, index []int) []func(error) http.Header {
	switch t {
	case headerType:
		return append(readers, func(err error) http.Header { return fieldAs[http.Header](err, index) })
	case responseType:
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

// headerMethods finds the usual methods that give a header or an answer.
func headerMethods(t reflect.Type) (readers []func(error) http.Header) {
	readers = appendMethod(readers, t, func(e interface{ Header() http.Header }) http.Header { return e.Header() })
	readers = appendMethod(readers, t, func(e interface{ Headers() http.Header }) http.Header { return e.Headers() })
	readers = appendMethod(readers, t, func(e interface{ ResponseHeader() http.Header }) http.Header { return e.ResponseHeader() })
	readers = appendMethod(readers, t, func(e interface{ Meta() http.Header }) http.Header { return e.Meta() })
	readers = appendMethod(readers, t, func(e interface{ Response() *http.Response }) http.Header { return headerOf(e.Response()) })
	readers = appendMethod(readers, t, func(e interface{ HTTPResponse() *http.Response }) http.Header { return headerOf(e.HTTPResponse()) })
	return appendMethod(readers, t, func(e interface{ RawResponse() *http.Response }) http.Header { return headerOf(e.RawResponse()) })
}

func appendMethod[I any](readers []func(error) http.Header, t reflect.Type, read func(I) http.Header) []func(error) http.Header {
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
