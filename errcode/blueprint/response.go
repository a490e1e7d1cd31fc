package blueprint

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// FromResponse returns the failure that a response tells of, nil for a status of 2xx. The error is
// an [*errcode.Error], an [*errcode.HTTPStatusError] is among its causes.
//
// An envelope says what [Envelope.Err] makes of it; a code that nobody knows is classified by the
// status. If it is retriable, a delay that the header of the response asks for
// ([errcode.HTTPStatusError.RetryAfter]) counts where the envelope suggests none or a shorter one. A body that is anything else (empty, not JSON, cut short, more than [MaxBody] bytes)
// gives the error of the status: 429 is RATE_LIMITED, 503 UPSTREAM_UNAVAILABLE and so on, see
// [errcode.HTTPStatusError].
//
// At most MaxBody bytes and one are read, none if the response announces more. The body is left
// open: closing it is up to the caller, as always. A nil response gives INTERNAL_ERROR.
func FromResponse(resp *http.Response) error {
	if resp == nil {
		return errcode.New(errcode.Internal, "no_response")
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	status := statusError(resp)
	body, err := readBody(resp)
	if err == nil {
		var f Failure
		if f, err = parseFailure(body); err == nil {
			return received(f, status)
		}
	}
	if status.Err = err; status.StatusCode < 400 || status.StatusCode > 599 {
		status.Err = errors.New(err.Error()) // it must not decide, as a cause does when the status is no error
	}
	return errcode.Default().Convert(status)
}

// received adds to an envelope's failure what the response says.
func received(f Failure, status *errcode.HTTPStatusError) error {
	e := f.data(errcode.CodeOf(status)).Err()
	opts := []errcode.Option{errcode.Cause(status)}
	if d, ok := status.RetryAfter(time.Now()); ok && e.Retriable() {
		if own, known := e.RetryAfter(); !known || d-own >= time.Second { // less is rounding
			opts = append(opts, errcode.RetryAfter(d))
		}
	}
	return e.With(opts...)
}

// delayFields are the header fields that ask for a delay, see [errcode.HTTPStatusError].
var delayFields = []string{"Retry-After", "Retry-After-Ms", "X-Ms-Retry-After-Ms"}

// statusError describes the response without anything that may be secret.
func statusError(resp *http.Response) *errcode.HTTPStatusError {
	e := &errcode.HTTPStatusError{StatusCode: resp.StatusCode, Header: http.Header{}}
	for _, field := range delayFields {
		if after := resp.Header.Get(field); after != "" {
			e.Header.Set(field, after)
		}
	}
	if resp.Request == nil {
		return e
	}
	e.Method = resp.Request.Method
	if u := resp.Request.URL; u != nil {
		bare := *u
		bare.User, bare.RawQuery, bare.Fragment, bare.RawFragment = nil, "", "", ""
		e.URL = bare.String()
	}
	return e
}

func readBody(resp *http.Response) ([]byte, error) {
	if resp.Body == nil {
		return nil, errors.New("read body: there is none")
	}
	if resp.ContentLength > MaxBody {
		return nil, fmt.Errorf("read body: %d bytes are more than %d", resp.ContentLength, MaxBody)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}
