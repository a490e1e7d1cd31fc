package errcode

import (
	"errors"
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

// dateLayouts are the dates that servers write into Retry-After besides those of HTTP.
var dateLayouts = []string{time.RFC1123Z, "Mon, 02 Jan 2006 15:04:05 UTC", time.RFC3339}

// maxDelay is the longest delay there is, in whole milliseconds: some 292 years. What asks for more
// gets this.
const maxDelay = math.MaxInt64 / time.Millisecond * time.Millisecond

// headerDelay reads how long a server asks to wait.
func headerDelay(h http.Header, now time.Time) (d time.Duration, ok bool) {
	if len(h) == 0 {
		return 0, false
	}
	whole, known := parseRetryAfter(headerValue(h, "Retry-After"), now)
	for _, key := range delayFields {
		if exact, ok := parseMillis(headerValue(h, key)); ok {
			return exactDelay(exact, whole), true
		}
	}
	return whole, known
}

// exactDelay is the exact delay, unless the one in seconds is longer than rounding up can explain:
// a server's delay is never cut short.
func exactDelay(exact, seconds time.Duration) time.Duration {
	if seconds-exact >= time.Second {
		return seconds
	}
	return exact
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

// parseRetryAfter reads seconds or a date.
func parseRetryAfter(value string, now time.Time) (d time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if d, ok := parseSeconds(value); ok {
		return d, true
	}
	at, err := http.ParseTime(value)
	for _, layout := range dateLayouts {
		if err == nil {
			break
		}
		at, err = time.Parse(layout, value)
	}
	if err != nil {
		return 0, false
	}
	return max(0, min(at.Sub(now), maxDelay)), true
}

// parseSeconds reads seconds, which may have a fraction.
func parseSeconds(value string) (d time.Duration, ok bool) {
	n, ok := parseAmount(value)
	return durationOf(n, time.Second), ok
}

// parseMillis reads milliseconds, which may have a fraction.
func parseMillis(value string) (d time.Duration, ok bool) {
	n, ok := parseAmount(value)
	return durationOf(n, time.Millisecond), ok
}

// parseAmount reads a decimal number that is not negative, +Inf for one that is out of range.
func parseAmount(value string) (n float64, ok bool) {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "0123456789.eE+-") != "" {
		return 0, false // strconv also reads names, hexadecimals and underscores
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return n, n >= 0
}

// durationOf is n units, which are not negative, to the nanosecond and at most maxDelay.
func durationOf(n float64, unit time.Duration) time.Duration {
	if n >= float64(maxDelay/unit) {
		return maxDelay
	}
	return time.Duration(math.Round(n * float64(unit)))
}
