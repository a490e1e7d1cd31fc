package errcode

import (
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/go-playground/validator/v10"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// carriedAnswer lists an error that says everything itself.
var carriedAnswer = []answer{{}}

func asError(err error) *Error {
	e, _ := err.(*Error) //nolint:errorlint // the walk has unwrapped it
	return e
}

// errnoRows are the error numbers of a connection that could not be made or was lost. Other numbers
// are faults of the agent's own machine.
var errnoRows = []struct {
	reason  string
	numbers []syscall.Errno
	names   string
}{
	{"connection_refused", []syscall.Errno{syscall.ECONNREFUSED}, "ECONNREFUSED"},
	{
		"connection_reset",
		[]syscall.Errno{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE},
		"ECONNRESET, ECONNABORTED, EPIPE",
	},
	{
		"host_unreachable",
		[]syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN},
		"EHOSTUNREACH, ENETUNREACH, ENETDOWN",
	},
}

func errnoAnswers() []answer {
	var as []answer
	for _, r := range errnoRows {
		as = append(as, answer{r.names, static(UpstreamUnavailable, r.reason)})
	}
	return as
}

func errnoClass(err error) (Class, bool) {
	var n syscall.Errno
	switch e := err.(type) { //nolint:errorlint // the walk has unwrapped it
	case syscall.Errno:
		n = e
	case *syscall.Errno:
		n = *e
	}
	for _, r := range errnoRows {
		if slices.Contains(r.numbers, n) {
			return static(UpstreamUnavailable, r.reason), true
		}
	}
	return Class{}, false
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
