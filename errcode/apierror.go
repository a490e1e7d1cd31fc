package errcode

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// apiCodes are the error codes with which some APIs, those of AWS above all, answer a request with
// status 400 although nothing is wrong with it.
var apiCodes = []struct {
	code  Code
	names []string
}{
	{RateLimited, []string{
		"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown",
	}},
	{AuthRequired, []string{
		"AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId",
		"MissingAuthenticationToken", "UnrecognizedClientException",
	}},
	{NotFound, []string{"ResourceNotFoundException"}},
	{UpstreamTimeout, []string{"RequestTimeout", "RequestTimeoutException"}},
	{UpstreamUnavailable, []string{"ServiceUnavailable", "ServiceUnavailableException", "InternalServerError"}},
}

// apiError is what the errors of AWS's clients are.
type apiError interface {
	ErrorCode() string
	ErrorMessage() string
}

func apiRow() row {
	answers := make([]answer, len(apiCodes))
	for i, r := range apiCodes {
		answers[i] = answer{"one of " + joinNames(r.names), static(r.code, "")}
	}
	return row{
		name: "API error code", method: reflect.TypeFor[apiError](), when: "a method ErrorCode() string, as in AWS's clients, that says",
		match: apiClass, answers: answers,
	}
}

func apiClass(err error) (Class, bool) {
	e, ok := err.(apiError)
	if !ok {
		return Class{}, false
	}
	name := errtree.Try(e, apiError.ErrorCode)
	for _, r := range apiCodes {
		if slices.Contains(r.names, name) {
			return static(r.code, ""), true
		}
	}
	return Class{}, false
}

// wrapsAPIError reports whether the error directly below err knows more than status 400.
func wrapsAPIError(err error) bool {
	_, known := apiClass(unwrapSingle(err))
	return known
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
