package errcode

import (
	"encoding/json"
	"reflect"
	"slices"
)

// This file finds the code of an API in errors of types that this package does not know.

// nameReader reads the names that may be codes, the most telling first. It may panic where the
// error's own method does.
type nameReader func(error) []string

type (
	errorCoder interface{ ErrorCode() string } // the clients of AWS
	rawJSONer  interface{ RawJSON() string }   // generated clients of language models
)

// apiNames returns what reads the names from errors of type t, nil if there are none.
func apiNames(t reflect.Type) nameReader {
	if t.Implements(reflect.TypeFor[errorCoder]()) {
		return func(err error) []string { return []string{err.(errorCoder).ErrorCode()} } //nolint:errcheck // t implements it
	}
	for _, find := range []func(reflect.Type) nameReader{codeAndType, eventNames, reasonNames} {
		if names := find(t); names != nil {
			return names
		}
	}
	if t.Implements(reflect.TypeFor[rawJSONer]()) {
		return func(err error) []string { return jsonNames([]byte(err.(rawJSONer).RawJSON())) } //nolint:errcheck // t implements it
	}
	return nil
}

// codeAndType reads the fields Code and Type beside a Message, as OpenAI's clients have them.
func codeAndType(t reflect.Type) nameReader {
	kind, message := fieldReader[string](t, "Type", reflect.String), fieldReader[string](t, "Message", reflect.String)
	code, ok := exported(t, "Code")
	if kind == nil || message == nil || !ok {
		return nil
	}
	return func(err error) []string {
		name, _ := fieldAs[any](err, code.Index).(string)
		return []string{name, kind(err)}
	}
}

// eventNames reads the event of a stream, kept in a field Event with a field Data.
func eventNames(t reflect.Type) nameReader {
	event, ok := exported(t, "Event")
	if !ok || event.Type.Kind() != reflect.Struct {
		return nil
	}
	data, ok := event.Type.FieldByName("Data")
	if !ok || data.Type != reflect.TypeFor[[]byte]() {
		return nil
	}
	index := slices.Concat(event.Index, data.Index)
	return func(err error) []string { return jsonNames(fieldAs[[]byte](err, index)) }
}

// reasonNames reads the reasons in a list of errors, as Google's clients have it.
func reasonNames(t reflect.Type) nameReader {
	list, ok := exported(t, "Errors")
	if !ok || list.Type.Kind() != reflect.Slice || list.Type.Elem().Kind() != reflect.Struct {
		return nil
	}
	reason, ok := list.Type.Elem().FieldByName("Reason")
	if !ok || reason.Type.Kind() != reflect.String {
		return nil
	}
	return func(err error) []string {
		items := field(err, list.Index)
		var names []string
		for i := range min(items.Len(), maxReasons) {
			names = append(names, items.Index(i).FieldByIndex(reason.Index).String())
		}
		return names
	}
}

const (
	// maxReasons is how many entries of a list of errors are looked at.
	maxReasons = 16
	// maxErrorJSON is the size of the largest JSON in an error that is read, in bytes.
	maxErrorJSON = 64 << 10
)

// jsonNames finds the code and the type in the JSON of an error, which may be below "error".
func jsonNames(data []byte) []string {
	type names struct{ Code, Type any }
	var body struct {
		names
		Error any
	}
	if len(data) > maxErrorJSON || json.Unmarshal(data, &body) != nil {
		return nil
	}
	var found []string
	inner, _ := body.Error.(map[string]any)
	for _, v := range []any{inner["code"], inner["type"], body.Code, body.Type} {
		if name, ok := v.(string); ok {
			found = append(found, name)
		}
	}
	return found
}
