package errcode

import (
	"net/url"
	"strings"
	"syscall"

	"github.com/go-playground/validator/v10"

	"github.com/a2aexec/a2aexec/internal/plain"
)

func asError(err error) *Error {
	e, _ := err.(*Error) //nolint:errorlint // the walk has unwrapped it
	return e
}

// errnoClass maps the error numbers of a connection that could not be made or was lost.
func errnoClass(err error) (Class, bool) {
	var n syscall.Errno
	switch e := err.(type) { //nolint:errorlint // the walk has unwrapped it
	case syscall.Errno:
		n = e
	case *syscall.Errno:
		n = *e
	}
	switch n {
	case syscall.ECONNREFUSED:
		return static(UpstreamUnavailable, "connection_refused"), true
	case syscall.ECONNRESET, syscall.EPIPE:
		return static(UpstreamUnavailable, "connection_reset"), true
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH:
		return static(UpstreamUnavailable, "host_unreachable"), true
	default:
		return Class{}, false
	}
}

// urlClass decides about an HTTP call that failed for a reason nothing else knows. A URL that
// does not parse is no network fault.
func urlClass(err error) (Class, bool) {
	e, ok := err.(*url.Error) //nolint:errorlint // the walk has unwrapped it
	if !ok || e.Op == "parse" {
		return Class{}, false
	}
	return static(UpstreamUnavailable, "network_error"), true
}

func enrichGuardrail(err error, e *Error) {
	if g, ok := err.(*GuardrailBlockedError); ok { //nolint:errorlint // the decider itself
		Guardrail(g.Category, g.Fields).apply(e)
	}
}

func enrichViolations(err error, e *Error) {
	var vs []Violation
	switch v := err.(type) { //nolint:errorlint // the decider itself
	case *MissingFieldError:
		vs = []Violation{{Field: asPointer(v.Field), Expected: "a value", Message: "missing required field"}}
	case *ConfigValidationError:
		vs = []Violation{{Field: asPointer(v.Field), Expected: v.Expected, Message: v.Message}}
	case validator.ValidationErrors:
		vs = fieldViolations(v)
	case *validator.ValidationErrors:
		vs = fieldViolations(*v)
	}
	if len(vs) > 0 {
		Violations(vs...).apply(e)
	}
}

func fieldViolations(errs validator.ValidationErrors) []Violation {
	vs := make([]Violation, 0, len(errs))
	for _, f := range errs {
		if f == nil {
			continue
		}
		expected := f.Tag()
		if f.Param() != "" {
			expected += "=" + f.Param()
		}
		vs = append(vs, Violation{
			Field:    namespacePointer(f.Namespace()),
			Expected: expected,
			Actual:   f.Value(),
			Message:  errorText(f),
		})
	}
	return vs
}

// namespacePointer turns a validator namespace such as Order.items[0].price into a JSON Pointer
// without the name of the outermost struct.
func namespacePointer(ns string) string {
	_, path, nested := strings.Cut(ns, ".")
	if !nested {
		path = ns
	}
	path = strings.NewReplacer("].", ".", "[", ".", "]", "").Replace(path)
	return pointerOf(strings.Split(path, ".")...)
}

// asPointer makes a field name into a JSON Pointer, with a dot between levels; a pointer stays as
// it is.
func asPointer(field string) string {
	if field == "" || strings.HasPrefix(field, "/") {
		return field
	}
	return pointerOf(strings.Split(field, ".")...)
}

func pointerOf(tokens ...string) string { return plain.Pointer(tokens) }
