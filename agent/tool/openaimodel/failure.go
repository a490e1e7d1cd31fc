package openaimodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

var (
	errCutOff       = fmt.Errorf("the answer of the model was cut off: %w", io.ErrUnexpectedEOF)
	errInconsistent = errors.New("the parts of the model's answer do not belong together")
	errFiltered     = &errcode.GuardrailBlockedError{
		Category: "content_filter", Message: "The model's provider held the answer back.",
	}
)

// failed makes the error that is returned.
func (m *Model) failed(ctx context.Context, err error) error {
	return tool.ModelError(ctx, m.name, told(err))
}

// told gives an error that came in the midst of a stream, after the status had
// been 200, the status that the vendor would have answered with.
func told(err error) error {
	var inStream *ssestream.StreamError
	if !errors.As(err, &inStream) {
		return err
	}
	var body struct {
		Error struct{ Type, Code any }
	}
	if json.Unmarshal(inStream.Event.Data, &body) != nil {
		return err
	}
	for _, word := range []any{body.Error.Code, body.Error.Type} {
		if status, known := statuses[fmt.Sprint(word)]; known {
			return &errcode.HTTPStatusError{StatusCode: status, Err: err}
		}
	}
	return err
}

var statuses = map[string]int{
	"rate_limit_exceeded": http.StatusTooManyRequests, "insufficient_quota": http.StatusTooManyRequests,
	"429": http.StatusTooManyRequests, "rate_limit_error": http.StatusTooManyRequests, "tokens": http.StatusTooManyRequests,
	"requests": http.StatusTooManyRequests, "invalid_api_key": http.StatusUnauthorized, "authentication_error": http.StatusUnauthorized,
	"invalid_request_error": http.StatusBadRequest, "server_error": http.StatusInternalServerError,
}
