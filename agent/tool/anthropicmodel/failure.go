package anthropicmodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

var errCutOff = fmt.Errorf("the answer of the model was cut off: %w", io.ErrUnexpectedEOF)

// refused is the failure of an answer that the vendor's safety system ended.
func refused(m *anthropic.Message) error {
	category := string(m.StopDetails.Category)
	if category == "" {
		category = "refusal"
	}
	return &errcode.GuardrailBlockedError{Category: category, Message: "The model's provider refused the request."}
}

// failed makes the error that is returned.
func (m *Model) failed(ctx context.Context, err error) error {
	return tool.ModelError(ctx, m.name, told(err))
}

// told gives an error that came in the midst of a stream, after the status had
// been 200, the status that the vendor would have answered with.
func told(err error) error {
	var api *anthropic.Error
	if !errors.As(err, &api) || api.StatusCode >= http.StatusBadRequest {
		return err
	}
	if status, known := statuses[string(api.Type())]; known {
		return &errcode.HTTPStatusError{StatusCode: status, Err: err}
	}
	return err
}

// statuses are those of the API's documentation for the types of errors.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	"billing_error": http.StatusPaymentRequired, "permission_error": http.StatusForbidden,
	"not_found_error": http.StatusNotFound, "request_too_large": http.StatusRequestEntityTooLarge,
	"rate_limit_error": http.StatusTooManyRequests, "api_error": http.StatusInternalServerError,
	"timeout_error": http.StatusGatewayTimeout, "overloaded_error": 529,
}
