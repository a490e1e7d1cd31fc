package agent

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/typed"
)

// Decode reads the message's first data part into the value that into points
// to, as encoding/json would, and checks the validate tags of a struct
// (github.com/go-playground/validator). What is missing or does not fit is an
// error of code INVALID_INPUT that lists the violations: reason
// data_part_missing, data_part_mismatch, or validation_errors. An into that is
// no pointer, or nil, is the program's fault: an unclassified error.
func (r *Request) Decode(into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("decode data part: expected a pointer to decode into, got %T", into)
	}
	if len(r.content.data) == 0 {
		return errcode.New(errcode.InvalidInput, "data_part_missing",
			errcode.Message("The message has no data part."),
			errcode.Violations(errcode.Violation{Field: "/message/parts", Expected: "a data part", Message: "a data part is required"}))
	}
	raw, err := json.Marshal(r.content.data[0])
	if err != nil {
		return typed.Mismatch("", "a JSON value", err)
	}
	return typed.Decode(raw, target)
}
