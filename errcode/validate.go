package errcode

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"
)

// systems are the first halves a source may have.
var systems = []string{"mcp", "rag", "llm", "db", "http", "validator", "guardrail", "internal"}

// ValidSource reports whether s is system:locator with a system out of mcp, rag, llm, db, http,
// validator, guardrail and internal, and a locator that is not empty, has no control characters
// and no space at its ends.
func ValidSource(s string) bool {
	system, locator, ok := strings.Cut(s, ":")
	return ok && slices.Contains(systems, system) &&
		locator != "" && locator == strings.TrimSpace(locator) &&
		utf8.ValidString(locator) && !strings.ContainsFunc(locator, unicode.IsControl)
}

// validReason reports whether s may be a reason: ASCII, and not empty.
func validReason(s string) bool { return s != "" && !strings.ContainsFunc(s, notASCII) }

// maxCorrelation is the length of the longest correlation id, in bytes.
const maxCorrelation = 256

// validCorrelation tells an id from text: printable ASCII without blanks. "" is no id, and valid.
func validCorrelation(id string) bool {
	return len(id) <= maxCorrelation && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// ValidDomain reports whether s is kebab-case ASCII: groups of lower-case letters and digits with
// single hyphens between them.
func ValidDomain(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return r > unicode.MaxASCII || !isLower(byte(r)) && !isDigit(byte(r))
		}) {
			return false
		}
	}
	return true
}

// DomainFrom makes an agent's name into a valid domain: "Subject Management" gives
// "subject-management". It returns "" when the name has no ASCII letter or digit.
func DomainFrom(name string) string {
	return strings.ReplaceAll(snakeCase(name), "_", "-")
}

// validate checks Data just before it is sent. It caches what it learns about the struct and is
// safe for concurrent use.
var validate = newValidator()

func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	tags := map[string]func(string) bool{
		"errcode":   func(s string) bool { return Code(s).Valid() },
		"errreason": validReason,
		"errsource": ValidSource,
		"errdomain": ValidDomain,
	}
	for tag, valid := range tags {
		// The only failures are an empty tag and a nil function.
		_ = v.RegisterValidation(tag, func(fl validator.FieldLevel) bool { return valid(fl.Field().String()) })
	}
	v.RegisterStructValidation(checkGuardrail, Data{})
	return v
}

// checkGuardrail ties the guardrail data to its code.
func checkGuardrail(sl validator.StructLevel) {
	d, ok := reflect.TypeAssert[Data](sl.Current())
	if ok && len(d.Guardrail) > 0 && d.ErrorCode != GuardrailBlocked {
		sl.ReportError(d.Guardrail, "guardrail", "Guardrail", tagOnlyWith, string(GuardrailBlocked))
	}
}

// check says what is invalid about d, nil if nothing is.
func (d Data) check() error { return errors.Join(d.faults(nil)...) }

// faults says what is invalid about d, except for fields that are known to be bad.
func (d Data) faults(bad map[string]bool) []error {
	err := validate.Struct(d)
	var fields validator.ValidationErrors
	if !errors.As(err, &fields) { // the validator's own error, nothing of a user is in it
		if err == nil {
			return nil
		}
		return []error{err}
	}
	faults := make([]error, 0, len(fields))
	for _, f := range fields {
		if bad[f.Field()] || f.Tag() == tagOnlyWith && bad["errorCode"] {
			continue
		}
		faults = append(faults, fmt.Errorf("%s: expected %s, got %.100q", f.Field(), expectation(f), fmt.Sprint(f.Value())))
	}
	return faults
}

// tagOnlyWith names the fault of guardrail data without the code.
const tagOnlyWith = "only_with"

// expectation says what a validation tag asks for.
func expectation(f validator.FieldError) string {
	switch f.Tag() {
	case "required":
		return "a value"
	case "errcode":
		return codeList
	case "errreason":
		return "ASCII"
	case "gte":
		return "a number not below " + f.Param()
	case "errsource":
		return "system:locator, system one of " + strings.Join(systems, ", ")
	case "errdomain":
		return "kebab-case ASCII"
	case tagOnlyWith:
		return "none unless errorCode is " + f.Param()
	default:
		return f.Tag()
	}
}

var codeList = func() string {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = string(c)
	}
	return "one of " + strings.Join(names, ", ")
}()
