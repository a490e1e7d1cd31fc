package errcode

import (
	"fmt"
	"net/http"
)

// httpCodes maps HTTP statuses; the first line that holds the status decides.
var httpCodes = []struct {
	from, to int
	code     Code
}{
	{http.StatusTooManyRequests, http.StatusTooManyRequests, RateLimited},
	{http.StatusUnauthorized, http.StatusUnauthorized, AuthRequired},
	{http.StatusForbidden, http.StatusForbidden, AuthRequired},
	{http.StatusNotFound, http.StatusNotFound, NotFound},
	{http.StatusGone, http.StatusGone, NotFound},
	{http.StatusRequestTimeout, http.StatusRequestTimeout, UpstreamTimeout},
	{http.StatusGatewayTimeout, http.StatusGatewayTimeout, UpstreamTimeout},
	{minServerError, maxStatus, UpstreamUnavailable},
	{minStatus, maxStatus, Internal},
}

const (
	minStatus      = 400 // what is below is no error
	minServerError = 500
	maxStatus      = 599
)

// isErrorStatus tells an error status from success, from no answer at all and from numbers that
// are no HTTP status.
func isErrorStatus(status int) bool { return minStatus <= status && status <= maxStatus }

func httpCode(status int) Code {
	for _, r := range httpCodes {
		if r.from <= status && status <= r.to {
			return r.code
		}
	}
	return Internal
}

// statusClass maps an HTTP status; the reason is left to the type.
func statusClass(status int) Class { return static(httpCode(status), "") }

func httpAnswers() []answer {
	as := make([]answer, len(httpCodes))
	for i, r := range httpCodes {
		as[i] = answer{fmt.Sprintf("status %d", r.from), static(r.code, "")}
		if r.to > r.from {
			as[i].when = fmt.Sprintf("another status from %d to %d", r.from, r.to)
		}
	}
	return as
}
