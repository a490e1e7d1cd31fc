// Package errtree looks into errors made by user code, which may be hostile:
// trees that never end, methods that panic, typed nil pointers.
package errtree

import (
	"fmt"
	"strings"
)

// MaxNodes bounds how many errors of one tree are looked at.
const MaxNodes = 10_000

// Unwrap gives what err wraps: one error, or several, or neither. A panic in
// the error's own method counts as wrapping nothing.
func Unwrap(err error) (one error, many []error) { //nolint:staticcheck // ST1008: both results are what was asked for
	defer func() {
		if recover() != nil {
			one, many = nil, nil
		}
	}()
	switch u := err.(type) { //nolint:errorlint // unwrapping by hand: guarded and bounded
	case interface{ Unwrap() error }:
		return u.Unwrap(), nil
	case interface{ Unwrap() []error }:
		return nil, u.Unwrap()
	}
	return nil, nil
}

// Text gives err.Error(), or "" where that panics or err is nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return Try(err, error.Error)
}

// Walk visits err and what it wraps, outermost first, depth first, until visit
// returns false or MaxNodes errors were visited.
func Walk(err error, visit func(error) bool) {
	left := MaxNodes
	walk(err, &left, visit)
}

func walk(err error, left *int, visit func(error) bool) bool {
	for err != nil && *left > 0 {
		*left--
		if !visit(err) {
			return false
		}
		one, many := Unwrap(err)
		for _, e := range many {
			if !walk(e, left, visit) {
				return false
			}
		}
		err = one
	}
	return *left > 0
}

// Causes gives the texts of err and of whatever it wraps that its own text
// does not repeat: what a log needs of an error that keeps its cause private. An
// error whose text cannot be had is named by its type and by why; where no error
// has a text, err's type stands for it, so that a failure never has no cause.
func Causes(err error) []string {
	var texts []string
	last := ""
	Walk(err, func(e error) bool {
		t := told(e)
		if t != "" && !strings.Contains(last, t) {
			texts = append(texts, t)
			last = t
		}
		return len(texts) < maxCauses
	})
	if len(texts) == 0 && err != nil {
		return []string{fmt.Sprintf("%T without a text", err)}
	}
	return texts
}

const maxCauses = 32

// told is the text of e or, where its method panics, what kind of error e is and
// the panic's value.
func told(e error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			value := Try(v, func(v any) string { return fmt.Sprint(v) }) // whose methods may panic, too
			text = fmt.Sprintf("%T, whose method Error panics: %s", e, value)
		}
	}()
	return e.Error()
}

// As finds the first error of type T in the tree.
func As[T error](err error) (found T, ok bool) {
	Walk(err, func(e error) bool {
		found, ok = e.(T) //nolint:errorlint // Walk unwraps
		return !ok
	})
	return found, ok
}

// Try is call(v), or the zero value where that panics: the way to call a
// method of an error that user code made.
func Try[V, R any](v V, call func(V) R) (result R) {
	defer func() {
		if recover() != nil {
			var zero R
			result = zero
		}
	}()
	return call(v)
}
