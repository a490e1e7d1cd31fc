package errcode

import (
	"net/http"
	"strconv"
	"time"
)

// HTTPStatusError says that an HTTP call was answered with an error status:
//
//	429            RateLimited
//	401, 403       AuthRequired
//	404, 410       NotFound
//	408, 504       UpstreamTimeout
//	other 5xx      UpstreamUnavailable
//	other 4xx      Internal: the agent's own request was wrong
//
// What is retriable has the delay the header asks for. A status that is none of an error, such as 0 or
// 200, leaves the decision to Err.
type HTTPStatusError struct {
	StatusCode int
	// Header is the header of the answer; only the fields that ask for a delay are read:
	// retry-after-ms, x-ms-retry-after-ms, Retry-After. It may be nil.
	Header http.Header
	// Method and URL describe the request, for the message. Credentials in the URL are masked
	// before the message is sent.
	Method string
	URL    string
	// Err is the cause, if any.
	Err error
}

func (e *HTTPStatusError) Error() string {
	if e == nil {
		return nilText
	}
	what := joinWords("HTTP "+strconv.Itoa(e.StatusCode), http.StatusText(e.StatusCode))
	if call := joinWords(e.Method, e.URL); call != "" {
		what = call + ": " + what
	}
	return sentence(what, "", e.Err)
}

// Unwrap returns Err.
func (e *HTTPStatusError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// RetryAfter reads how long the header asks to wait: retry-after-ms and x-ms-retry-after-ms in
// milliseconds, else Retry-After in seconds or as a date, which is counted from now and gives zero
// when it has passed. Of both the milliseconds count, unless Retry-After is longer than rounding
// them up to seconds can explain. A delay that is too large to count is some 292 years. ok is false
// when there is no such header or it is malformed.
func (e *HTTPStatusError) RetryAfter(now time.Time) (d time.Duration, ok bool) {
	if e == nil {
		return 0, false
	}
	return headerDelay(e.Header, now)
}

// httpClass is the class of the package's own HTTP error.
func httpClass(err error) (Class, bool) {
	e, ok := err.(*HTTPStatusError) //nolint:errorlint // the walk has unwrapped it
	if !ok {
		return Class{}, false
	}
	if !isErrorStatus(e.StatusCode) {
		return Class{}, false
	}
	c := statusClass(e.StatusCode)
	if c.Retriable {
		c.RetryAfter, c.HasRetryAfter = e.RetryAfter(time.Now())
	}
	return c, true
}
