package blueprint

import (
	"net/http"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// Envelope is the body of an error response (BLUEPRINT 9.3). [FromError] and [FromData] make one
// to send, [Parse] one that was received. It is a plain value: copies share the details.
type Envelope struct {
	Error Failure `json:"error"`
}

// Failure is what an envelope holds.
type Failure struct {
	Code Code `json:"code"`
	// Message is for people.
	Message string `json:"message"`
	// Details holds plain JSON types only. Some names have a meaning, see the package comment.
	Details map[string]any `json:"details,omitzero"`
	// Retry is nil when nothing is said about retries.
	Retry *Retry `json:"retry,omitempty"`
}

// Retry is the server's advice (BLUEPRINT 9.3). Both members zero is no advice, but the chapter's
// own placeholder.
type Retry struct {
	// SuggestedDelayMS is in milliseconds; 0 says nothing.
	SuggestedDelayMS int64 `json:"suggested_delay_ms"`
	// MaxAttempts is how often clients should try; 0 says nothing.
	MaxAttempts int `json:"max_attempts"`
}

// suggests reports whether the server wants clients to come back.
func (r *Retry) suggests() bool {
	return r != nil && (r.SuggestedDelayMS > 0 || r.MaxAttempts > 0)
}

// allows reports whether a failure with that code may be retried.
func (r *Retry) allows(c errcode.Code) bool {
	return !c.Never() && (r.suggests() || c.Retriable())
}

// Members of the details that have a meaning.
const (
	keyApplicationError = "application_error"
	keyViolations       = "violations"
	keyTimeout          = "timeout_ms"
	keyElapsed          = "elapsed_ms"
)

// Details of an [errcode.Error] that stand for something an envelope has and an Error has not.
const (
	keyMaxAttempts = "retry_max_attempts"
	keyCode        = "blueprint_code"
)

// Status returns the HTTP status to send the envelope with, see the package comment; 500 for a
// code that is not valid.
func (e Envelope) Status() int {
	r := e.Error.Code.row()
	switch {
	case r == nil:
		return http.StatusInternalServerError
	case r.code == EndpointUnreachable && e.comeBack():
		return http.StatusServiceUnavailable
	default:
		return r.status
	}
}

// comeBack reports whether the failure is one of load rather than of a lost endpoint.
func (e Envelope) comeBack() bool {
	if e.Error.Retry.suggests() {
		return true
	}
	app, _ := e.Error.Details[keyApplicationError].(map[string]any)
	return app["errorCode"] == string(errcode.RateLimited)
}

// retriable is what the envelope alone says about retries.
func (f Failure) retriable() bool {
	r := f.Code.row()
	switch {
	case f.Code.Never():
		return false
	case f.Retry.suggests():
		return true
	default:
		return r != nil && r.retried
	}
}

// Timeout adds to an [errcode.Error] how long the execution was allowed to take and how long it
// took, as the details timeout_ms and elapsed_ms in whole milliseconds (BLUEPRINT 9.4).
func Timeout(limit, elapsed time.Duration) errcode.Option {
	return errcode.Details(map[string]any{
		keyTimeout: limit.Milliseconds(),
		keyElapsed: elapsed.Milliseconds(),
	})
}

// MaxAttempts adds to an [errcode.Error] how often clients should try. It is sent as max_attempts
// if the error is retriable, and is the detail retry_max_attempts of an Error that was received.
// A number below 1 stays an ordinary detail.
func MaxAttempts(n int) errcode.Option { return errcode.Detail(keyMaxAttempts, n) }
