package errcode

import (
	"net/http"
	"reflect"
	"strings"
	"time"
)

// apiCodes are the error codes that some APIs, those of AWS, of Google and of language models above all,
// send with a status that says less: 400 or 403, although nothing is wrong with the request, or 200
// when a stream has begun.
var apiCodes = []struct {
	code  Code
	names []string
}{
	{RateLimited, []string{
		"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown",
		"rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "too_many_requests",
		"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
	}},
	{AuthRequired, []string{
		"AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId",
		"MissingAuthenticationToken", "UnrecognizedClientException",
		"authentication_error", "permission_error", "invalid_api_key",
	}},
	{NotFound, []string{"ResourceNotFoundException", "not_found_error", "model_not_found"}},
	{UpstreamTimeout, []string{"RequestTimeout", "RequestTimeoutException", "timeout_error"}},
	{UpstreamUnavailable, []string{
		"ServiceUnavailable", "ServiceUnavailableException", "InternalServerError",
		"overloaded_error", "api_error", "server_error", "service_unavailable_error",
	}},
}

// apiCodeOf finds the code that a name stands for.
var apiCodeOf = func() map[string]Code {
	known := make(map[string]Code)
	for _, r := range apiCodes {
		for _, name := range r.names {
			known[name] = r.code
		}
	}
	return known
}()

func apiRow() row {
	answers := make([]answer, len(apiCodes))
	for i, r := range apiCodes {
		answers[i] = answer{"one of " + joinNames(r.names), static(r.code, "")}
	}
	return row{
		name: "API error code", probe: apiShape, answers: answers,
		when: "an API's error code from a method ErrorCode() string, fields Code, Type and Message, the JSON in a method RawJSON() string or a field Event, or the reasons in a field Errors:",
	}
}

// apiShape recognises errors that tell an API's code.
func apiShape(t reflect.Type) matcher {
	names := apiNames(t)
	if names == nil {
		return nil
	}
	return func(err error) (Class, bool) {
		for _, name := range names(err) {
			if code, known := apiCodeOf[name]; known {
				return static(code, ""), true
			}
		}
		return Class{}, false
	}
}

// wrapsOther reports whether the error directly below err knows more than the status, which stands for
// code.
func wrapsOther(err error, status int, code Code) bool {
	if !isVague(status) {
		return false
	}
	below := unwrapSingle(err)
	if below == nil {
		return false
	}
	known := apiShape(reflect.TypeOf(below))
	if known == nil {
		return false
	}
	c, ok := guarded(known)(below)
	return ok && c.Code != code
}

// isVague tells the statuses that an API's code may overrule.
func isVague(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusForbidden
}

// detailDelay finds the delay that Google's APIs put into the details of an error.
func detailDelay(details any) (d time.Duration, ok bool) {
	switch list := details.(type) {
	case []any:
		for _, v := range list {
			m, _ := v.(map[string]any)
			if d, ok := retryInfo(m); ok {
				return d, true
			}
		}
	case []map[string]any:
		for _, m := range list {
			if d, ok := retryInfo(m); ok {
				return d, true
			}
		}
	}
	return 0, false
}

const retryInfoType = "type.googleapis.com/google.rpc.RetryInfo"

func retryInfo(m map[string]any) (d time.Duration, ok bool) {
	if m["@type"] != any(retryInfoType) {
		return 0, false
	}
	text, _ := m["retryDelay"].(string)
	seconds, ok := strings.CutSuffix(text, "s") // the form of google.protobuf.Duration
	if !ok {
		return 0, false
	}
	return parseSeconds(seconds)
}
