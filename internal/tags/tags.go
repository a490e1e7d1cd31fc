// Package tags checks the validate tags of structs that were decoded from JSON.
package tags

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// structs caches what it learns about types and is safe for concurrent use.
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

// Check checks the struct that v, a pointer, points to, through any number of
// pointers. Anything else has no tags. It returns validator.ValidationErrors.
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
