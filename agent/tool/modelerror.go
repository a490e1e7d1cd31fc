package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/errcode"
)

// ModelError makes of a failure of the model of that name, such as its vendor's
// SDK returns, what a [Model] may return. The name is that of one model,
// "claude-x".
//
// It is an [*errcode.Error]: the table in ctx (errcode.TableFrom) decides the code
// and whether, and after what delay, the call may be repeated. The source is
// llm:NAME. The message is the code's own, for the vendor's text may say what was
// asked; that is in the cause alone. An errcode.GuardrailBlockedError keeps its
// message and its guardrail as source. An adapter whose SDK hides the status that
// a failure stands for wraps it in an errcode.HTTPStatusError first.
//
// Once ctx is cancelled, that is the reason: the error is no [*errcode.Error] then
// but joins the cause of ctx with err. A nil err gives nil. It is safe for
// concurrent use.
func ModelError(ctx context.Context, name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("ask model %s: %w", name, errors.Join(context.Cause(ctx), err))
	}
	e := errcode.TableFrom(ctx).Convert(&errcode.ComponentInvokeError{Component: "model " + name, Err: err})
	if e.Code() == errcode.GuardrailBlocked {
		return e
	}
	return e.With(errcode.Source(validSource("llm:", name)), errcode.Message(e.Code().Text()))
}
