package errcode

import (
	"fmt"
	"log/slog"
	"slices"
)

// PanicError is a recovered panic: [Internal] with the reason "panic". Its text is always the
// same; the value and the stack are for the server's log only, so it does not unwrap to a value
// that was an error.
type PanicError struct {
	value any
	stack []byte
}

// NewPanicError keeps what recover returned and the stack at that place, which may be nil. The
// stack is copied.
func NewPanicError(value any, stack []byte) *PanicError {
	return &PanicError{value: value, stack: slices.Clone(stack)}
}

// Error returns a fixed text that tells nothing about the panic.
func (e *PanicError) Error() string { return "The agent stopped because of an unexpected fault." }

// Value returns what was passed to panic. Private: never send it to a client.
func (e *PanicError) Value() any {
	if e == nil {
		return nil
	}
	return e.value
}

// Stack returns the stack of the panicking goroutine, nil if it was not taken. The slice is the
// caller's. Private: never send it to a client.
func (e *PanicError) Stack() []byte {
	if e == nil {
		return nil
	}
	return slices.Clone(e.stack)
}

// LogValue returns the value and the stack, for the server's own log.
func (e *PanicError) LogValue() slog.Value {
	if e == nil {
		return slog.StringValue(nilText)
	}
	return slog.GroupValue(
		slog.String("value", fmt.Sprint(e.value)),
		slog.String("stack", string(e.stack)),
	)
}
