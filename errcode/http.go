package errcode

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HTTPStatusError says that an HTTP call was answered with an error status:
//
//	429            RateLimited, with the delay of Retry-After
//	401, 403       AuthRequired
//	404, 410       NotFound
//	408, 504       UpstreamTimeout
//	other 5xx      UpstreamUnavailable, on 503 with the delay of Retry-After
//	anything else  Internal: the agent's own request was wrong
type HTTPStatusError struct {
	StatusCode int
	// Header is the header of the answer; only Retry-After is read. It may be nil.
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

// RetryAfter reads the Retry-After header: whole seconds or an HTTP date, which is counted from
// now and gives zero when it has passed. ok is false when there is no such header or it is
// malformed.
func (e *HTTPStatusError) RetryAfter(now time.Time) (d time.Duration, ok bool) {
	if e == nil {
		return 0, false
	}
	return parseRetryAfter(headerValue(e.Header, "Retry-After"), now)
}

// headerValue is Header.Get that also finds keys stored in another case than the canonical one.
func headerValue(h http.Header, key string) string {
	if vs := h.Values(key); len(vs) > 0 {
		return vs[0]
	}
	var spelled []string
	for k, vs := range h {
		if strings.EqualFold(k, key) && len(vs) > 0 {
			spelled = append(spelled, k)
		}
	}
	if len(spelled) == 0 {
		return ""
	}
	return h[slices.Min(spelled)][0]
}

func parseRetryAfter(value string, now time.Time) (d time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if s, err := strconv.ParseInt(value, 10, 64); err == nil {
		if s < 0 || s > math.MaxInt64/int64(time.Second) {
			return 0, false
		}
		return time.Duration(s) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// httpClass maps an HTTP status. The reason is left to the type.
func httpClass(err error) (Class, bool) {
	e, ok := err.(*HTTPStatusError) //nolint:errorlint // the walk has unwrapped it
	if !ok {
		return Class{}, false
	}
	c := Class{Code: httpCode(e.StatusCode)}
	c.Retriable = c.Code.Retriable()
	if e.StatusCode == http.StatusTooManyRequests || e.StatusCode == http.StatusServiceUnavailable {
		c.RetryAfter, c.HasRetryAfter = e.RetryAfter(time.Now())
	}
	return c, true
}

func httpCode(status int) Code {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return AuthRequired
	case status == http.StatusNotFound, status == http.StatusGone:
		return NotFound
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return UpstreamTimeout
	case status >= 500 && status <= 599:
		return UpstreamUnavailable
	default:
		return Internal
	}
}
