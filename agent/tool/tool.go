package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Spec is what a model is told about a tool.
type Spec struct {
	// Name is what the model calls the tool by. Vendors of models accept letters,
	// digits, _ and -, up to 64 of them.
	Name string
	// Description tells the model what the tool is for.
	Description string
	// InputSchema is the JSON Schema of the arguments, an object's. Nil stands for
	// any object.
	InputSchema json.RawMessage
}

// Tool is something that a model may call. Get one from [Func] or
// [Server.Tools], or implement it. It must be safe for concurrent use.
//
// Call is given the arguments as the model wrote them; behind the guard they
// are an object that fits the schema. An error is for whoever runs the agent,
// not for the model; see [Guard] for what becomes of it.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, args json.RawMessage) (Output, error)
}

// sourced is a tool that says where it is, as system:locator (see
// errcode.ValidSource); others are at internal:NAME.
type sourced interface{ Source() string }

// Output is a tool's answer to the model.
type Output struct {
	Text string
	// IsError says that the text tells what went wrong: the model may try again
	// with other arguments, or do without.
	IsError bool
}

// ErrorResult is an error for a Go tool to return when it has no result but
// wants the model to know why: "there is no account 4711". The text goes to the
// model, the task goes on, and nothing counts as a failure. It is formatted as
// by fmt.Errorf, of which the result wraps what %w names.
func ErrorResult(format string, args ...any) error {
	return &resultError{fmt.Errorf(format, args...)}
}

type resultError struct{ err error }

func (e *resultError) Error() string { return e.err.Error() }
func (e *resultError) Unwrap() error { return e.err }
