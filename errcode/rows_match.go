package errcode

import (
	"net/url"
	"regexp"
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
// without the name of the outermost struct. A value that is no struct has no such name: its
// namespace is "" or begins with an index.
func namespacePointer(ns string) string {
	tokens := namespaceTokens(ns)
	if len(tokens) > 1 && !strings.HasPrefix(ns, "[") {
		if next := ns[len(tokens[0]):]; next[0] == '.' || typeArguments(next) {
			tokens = tokens[1:]
			if next[0] == '[' {
				tokens = tokens[1:]
			}
		}
	}
	return pointerOf(tokens...)
}

// typeArguments reports whether what follows the first name of a namespace are the type arguments of
// a generic struct, which look like an index: a field follows them, and a package or a built-in type is
// in them.
func typeArguments(rest string) bool {
	end := bracketEnd(rest)
	if end == len(rest) || rest[end] != '.' {
		return false
	}
	args := rest[:end]
	return strings.ContainsAny(args, "./") || builtinType.MatchString(args)
}

var builtinType = regexp.MustCompile(`^\[(string|bool|byte|rune|any|error|interface \{\}|u?int(8|16|32|64)?|float(32|64))[],]`)

// namespaceTokens splits a namespace at its dots and takes what is in brackets, which may hold any
// key of a map, as it is.
func namespaceTokens(ns string) []string {
	var tokens []string
	for ns != "" {
		switch ns[0] {
		case '[':
			end := bracketEnd(ns)
			tokens = append(tokens, strings.TrimSuffix(ns[1:end], "]"))
			ns = ns[end:]
		case '.':
			ns = ns[1:]
		default:
			end := strings.IndexAny(ns, ".[")
			if end < 0 {
				end = len(ns)
			}
			tokens = append(tokens, ns[:end])
			ns = ns[end:]
		}
	}
	return tokens
}

// bracketEnd returns where an index at the start of s ends: behind the first bracket after which a
// namespace can go on.
func bracketEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == ']' && (i+1 == len(s) || s[i+1] == '.' || s[i+1] == '[') {
			return i + 1
		}
	}
	return len(s)
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
