package errcode

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/internal/errtree"
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
	var api matcher
	if shape := apiShape(t); shape != nil {
		api = guarded(shape)
	}
	details := fieldReader[any](t, "Details", reflect.Slice)
	return func(err error) (Class, bool) {
		n := status(err)
		c := statusClass(n)
		if !isErrorStatus(n) || wrapsOther(err, n, c.Code) {
			return Class{}, false
		}
		if api != nil && isVague(n) {
			if known, ok := api(err); ok {
				c = known
			}
		}
		if !c.Retriable {
			return c, true
		}
		c.RetryAfter, c.HasRetryAfter = firstDelay(err, headers)
		if !c.HasRetryAfter && details != nil {
			c.RetryAfter, c.HasRetryAfter = detailDelay(details(err))
		}
		return c, true
	}
}

// firstDelay asks each reader by itself: one that panics must not cost more than what it would say.
func firstDelay(err error, headers []headerReader) (time.Duration, bool) {
	now := time.Now()
	for _, header := range headers {
		if d, ok := headerDelay(errtree.Try(err, header), now); ok {
			return d, true
		}
	}
	return 0, false
}

type (
	httpStatusCoder interface{ HTTPStatusCode() int }
	statusCoder     interface{ StatusCode() int }
)

// statusReader finds the status: a method, an integer field, or the answer itself. A field called
// Code is an HTTP status only beside a header.
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
	if read := intReader(t, "Code"); read != nil && hasHeader(t) {
		return read
	}
	if read := googleReader(t); read != nil {
		return read
	}
	return answerReader(t)
}

// answerReader finds the status in the whole answer, kept in a field called Response.
func answerReader(t reflect.Type) func(error) int {
	f, ok := exported(t, "Response")
	if !ok || f.Type != responseType {
		return nil
	}
	return func(err error) int {
		if r := fieldAs[*http.Response](err, f.Index); r != nil {
			return r.StatusCode
		}
		return 0
	}
}

// googleReader finds the status in Google's error model: Code, Message, Status and Details, where
// the text in Status confirms what the Code is.
func googleReader(t reflect.Type) func(error) int {
	code, status := intReader(t, "Code"), fieldReader[string](t, "Status", reflect.String)
	message, details := fieldReader[string](t, "Message", reflect.String), fieldReader[any](t, "Details", reflect.Slice)
	if code == nil || status == nil || message == nil || details == nil {
		return nil
	}
	return func(err error) int {
		n, text := code(err), status(err)
		if !isRPCName(text) && !strings.HasPrefix(text, strconv.Itoa(n)+" ") {
			return 0
		}
		return n
	}
}
