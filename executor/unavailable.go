package executor

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/errordetails"

	"github.com/a2aexec/a2aexec/errcode"
)

// What the host's bindings cannot say: that the server cannot take a request
// now, and when it may be sent again.

const retryInfoType = "type.googleapis.com/google.rpc.RetryInfo"

// delayed are the details of an error with a delay, in JSON.
func (e *protocolError) delayed() []*errordetails.Typed {
	if e.delay == nil {
		return nil
	}
	seconds := strconv.FormatFloat(e.delay.Seconds(), 'f', -1, 64) + "s"
	return []*errordetails.Typed{
		errordetails.NewFromStruct(e.data()),
		errordetails.NewTyped(retryInfoType, map[string]any{"retryDelay": seconds}),
	}
}

// data is the error in the fields of a failed task's data part.
func (e *protocolError) data() map[string]any {
	ms := int64(math.Ceil(float64(*e.delay) / float64(time.Millisecond)))
	return errcode.Data{
		ErrorCode: errcode.UpstreamUnavailable, ErrorReason: "unavailable", ErrorMessage: e.text,
		Retriable: true, RetryAfterMs: &ms,
	}.Map()
}

type failureKey struct{}

// markFailure tells the HTTP edge which error is being answered.
func markFailure(ctx context.Context, e *protocolError) {
	if failure, ok := ctx.Value(failureKey{}).(*atomic.Pointer[protocolError]); ok {
		failure.Store(e)
	}
}

// WriteHeader gives an HTTP+JSON error that the host has no status for its own.
func (w *tidyWriter) WriteHeader(status int) {
	if e := w.failure.Load(); e != nil && e.kind.sentinel == errUnavailable { //nolint:errorlint // our own table's value
		if e.delay != nil {
			w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.delay.Seconds())), 10))
		}
		if status == http.StatusInternalServerError {
			status = http.StatusServiceUnavailable
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// unavailableBody gives the body of such an error the same status.
func unavailableBody(b []byte) []byte {
	var answer struct {
		Error map[string]json.RawMessage `json:"error"`
	}
	if json.Unmarshal(b, &answer) != nil || string(answer.Error["code"]) != strconv.Itoa(http.StatusInternalServerError) {
		return b
	}
	answer.Error["code"], answer.Error["status"] = json.RawMessage("503"), json.RawMessage(`"UNAVAILABLE"`)
	out, err := json.Marshal(answer)
	if err != nil {
		return b
	}
	return append(out, '\n')
}
