// Package typed decodes a JSON value that somebody sent into a Go value, checks
// it, and says what is wrong with it field by field.
package typed

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"

	"github.com/a2aexec/a2aexec/errcode"
)

var structs = newValidator()

// newValidator names fields as their JSON members.
func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			return ""
		}
		return name
	})
	return v
}

// Decode decodes raw into the value that target, a pointer that is not nil,
// points to, as encoding/json would, and checks the validate tags of a struct.
// It refuses a null for what has none. What does not fit is an error of code
// INVALID_INPUT, reason data_part_mismatch, with one violation; what does not
// satisfy the tags is the validator's error, with all of them.
func Decode(raw []byte, target reflect.Value) error {
	if t := target.Type().Elem(); string(bytes.TrimSpace(raw)) == "null" && !hasNull(t) {
		return Mismatch("", jsonKind(t), nil)
	}
	if err := json.Unmarshal(raw, target.Interface()); err != nil {
		return misfit(raw, err)
	}
	return Check(target)
}

// hasNull reports whether a null can be told from a zero value of the type.
func hasNull(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return true
	default:
		p := reflect.PointerTo(t)
		return p.Implements(reflect.TypeFor[json.Unmarshaler]()) && !p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
}

// Check checks the validate tags of the struct that v, a pointer that is not
// nil, points to, through any number of pointers. Anything else has none. It
// returns validator.ValidationErrors, with all violations.
func Check(v reflect.Value) error {
	for v.Elem().Kind() == reflect.Pointer {
		if v = v.Elem(); v.IsNil() {
			return nil
		}
	}
	err := structs.Struct(v.Interface())
	var noStruct *validator.InvalidValidationError
	if errors.As(err, &noStruct) {
		return nil
	}
	return err
}

// misfit makes the error of JSON that encoding/json refused.
func misfit(raw []byte, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return Mismatch(pointerOf(raw, typed), jsonKind(typed.Type), err)
	}
	return Mismatch("", "a value of the expected form", err)
}

// Mismatch is the error of a value that is not of the expected form.
func Mismatch(field, expected string, cause error) error {
	return errcode.New(errcode.InvalidInput, "data_part_mismatch",
		errcode.Message("The message's data part does not have the expected form."),
		errcode.Violations(errcode.Violation{Field: field, Expected: expected, Message: "expected " + expected}),
		errcode.Cause(cause))
}
