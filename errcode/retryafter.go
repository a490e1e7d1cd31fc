package errcode

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// delayFields are the header fields that hold a delay in milliseconds, the most precise first.
// They come before Retry-After, which is rounded to seconds.
var delayFields = []string{"retry-after-ms", "x-ms-retry-after-ms"}

// headerDelay reads how long a server asks to wait.
func headerDelay(h http.Header, now time.Time) (d time.Duration, ok bool) {
	if len(h) == 0 {
		return 0, false
	}
	for _, key := range delayFields {
		if d, ok := parseMillis(headerValue(h, key)); ok {
			return d, true
		}
	}
	return parseRetryAfter(headerValue(h, "Retry-After"), now)
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

// parseRetryAfter reads whole seconds or an HTTP date.
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

// parseMillis reads milliseconds, which may have a fraction; it is rounded up.
func parseMillis(value string) (d time.Duration, ok bool) {
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(ms >= 0) || ms > float64(math.MaxInt64/int64(time.Millisecond)) {
		return 0, false
	}
	return time.Duration(math.Ceil(ms * float64(time.Millisecond))), true
}
