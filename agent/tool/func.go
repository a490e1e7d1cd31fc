package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/typed"
)

// FuncOption sets one thing about a tool made by [Func].
type FuncOption struct{ apply func(*funcTool) }

// FuncSource tells where the tool's failures happen, as system:locator (see
// errcode.ValidSource): "db:ledger" say. Default: internal:NAME.
func FuncSource(source string) FuncOption {
	return FuncOption{func(t *funcTool) { t.source = source }}
}

// Func makes a tool of a Go function. In is a struct (or a map with string
// keys), whose JSON Schema the model is shown: a field without omitempty is
// required, a jsonschema tag describes it (github.com/google/jsonschema-go).
// Arguments that fit neither the schema nor the struct's validate tags
// (github.com/go-playground/validator) come back to the model and f is not
// called.
//
// The result becomes text: a string or an [Output] as it is, anything else as
// JSON. The function may stream through the writer in ctx, ask with hitl.Ask,
// and fail with any error, see [Guard]; an [ErrorResult] goes to the model.
//
// What is wrong with the arguments of Func is reported by [Guard] and [NewLoop].
func Func[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error), opts ...FuncOption) Tool {
	t := &funcTool{spec: Spec{Name: name, Description: description}, source: "internal:" + name}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(t)
		}
	}
	schema, err := inputSchema[In]()
	t.spec.InputSchema = schema
	t.fault = errors.Join(err, missingParts(name, f == nil), checkSource(t.source))
	t.prompt = withoutMethods(reflect.TypeFor[In](), map[reflect.Type]bool{})
	t.prepare = func(args json.RawMessage) (func(context.Context) (Output, error), error) {
		var in In
		if err := decode(args, &in); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (Output, error) {
			out, err := f(ctx, in)
			if err != nil {
				return Output{}, err
			}
			return asOutput(out)
		}, nil
	}
	return t
}

// funcTool is a tool made by [Func].
type funcTool struct {
	spec   Spec
	source string
	fault  error
	// prepare decodes the arguments and gives the call. It is prompt where no code of
	// the user's is called for that.
	prepare func(args json.RawMessage) (func(context.Context) (Output, error), error)
	prompt  bool
}

// Spec implements Tool.
func (t *funcTool) Spec() Spec { return t.spec }

// Source implements sourced.
func (t *funcTool) Source() string { return t.source }

func (t *funcTool) invalid() error { return t.fault }

// Call implements Tool.
func (t *funcTool) Call(ctx context.Context, args json.RawMessage) (Output, error) {
	if t.fault != nil {
		return Output{}, t.fault
	}
	call, err := t.prepare(args)
	if err != nil {
		return Output{}, err
	}
	return call(ctx)
}

// withoutMethods reports whether neither a type nor what is in it has methods, which
// encoding/json or the validator would call: UnmarshalJSON, String, any that a
// validateFn tag names.
func withoutMethods(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if t.Kind() == reflect.Interface {
		return t.NumMethod() == 0
	}
	if reflect.PointerTo(t).NumMethod() > 0 {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return withoutMethods(t.Elem(), seen)
	case reflect.Map:
		return withoutMethods(t.Key(), seen) && withoutMethods(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if !withoutMethods(t.Field(i).Type, seen) {
				return false
			}
		}
	default:
	}
	return true
}

func missingParts(name string, noFunc bool) error {
	switch {
	case name == "":
		return errors.New("name: expected one, got none")
	case noFunc:
		return errors.New("function: expected one, got nil")
	}
	return nil
}

func checkSource(source string) error {
	if !errcode.ValidSource(source) {
		return fmt.Errorf("source: expected system:locator, got %.100q", source)
	}
	return nil
}

// inputSchema makes the schema of In.
func inputSchema[In any]() (json.RawMessage, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	t := reflect.TypeFor[In]()
	if t.Kind() == reflect.Pointer || s.Type != "object" {
		return nil, fmt.Errorf("input: expected a struct or a map, got %s", t)
	}
	return json.Marshal(s)
}

// decode reads arguments that fit the schema. What a struct's own rules refuse
// is an error of code INVALID_INPUT.
func decode(args json.RawMessage, into any) error {
	if len(args) == 0 { // called without the guard
		args = emptyObject
	}
	if err := json.Unmarshal(args, into); err != nil {
		target := reflect.ValueOf(into).Elem()
		target.SetZero()
		args = wholeNumbers(args)
		if err := json.Unmarshal(args, into); err != nil {
			return errcode.New(errcode.InvalidInput, "tool_arguments_mismatch",
				errcode.Message(misfits(args, target.Type())), errcode.Cause(err))
		}
	}
	return typed.Check(reflect.ValueOf(into))
}

func asOutput(v any) (Output, error) {
	switch v := v.(type) {
	case Output:
		return v, nil
	case string:
		return Output{Text: v}, nil
	case nil:
		return Output{}, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return Output{}, fmt.Errorf("encode result: %w", err)
	}
	return Output{Text: string(raw)}, nil
}
