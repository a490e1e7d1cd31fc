package anthropicmodel

import (
	"bytes"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"
)

// written is the JSON that the model streamed, by the index of the block. The
// SDK drops what does not parse, and a call without its arguments may do
// what nobody asked for.
type written map[int64]string

// arguments are those of a call as the model wrote them, for the guard to judge.
// When there was no room for more, the vendor may have closed an object that
// was never finished; that is opened again, unless the whole of it was streamed.
func (w written) arguments(block int64, input json.RawMessage, full bool) json.RawMessage {
	if raw := w[block]; raw != "" {
		return json.RawMessage(raw)
	}
	if full {
		return bytes.TrimSuffix(append([]byte("{"), bytes.TrimPrefix(bytes.TrimSpace(input), []byte("{"))...), []byte("}"))
	}
	return input
}

// outOfRoom reports whether an answer ended where the model would have gone on.
func outOfRoom(why anthropic.StopReason) bool {
	return why == anthropic.StopReasonMaxTokens || why == "model_context_window_exceeded"
}
