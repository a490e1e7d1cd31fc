package errcode

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// This file reads what agents that know nothing of [Data] say about a failure. Names are compared
// without regard to case, underscores and hyphens: error_code is errorCode.

// The names under which other vendors put what Data has, the most telling first.
var (
	foreignCodes    = []string{"errorcode", "code", "errortype", "type", "status", "statuscode"}
	foreignReasons  = []string{"errorreason", "reason"}
	foreignMessages = []string{"errormessage", "message", "detail", "description", "error"}
	foreignFlags    = []string{"retriable", "retryable"}
	foreignMillis   = []string{"retryafterms", "suggesteddelayms"}
	foreignSeconds  = []string{"retryafter", "retryafterseconds"}
	// foreignNested are the names under which the whole may lie one level down.
	foreignNested = []string{"error", "errordata"}
)

// foreignError makes the best of the objects in which another vendor may have put its error; the
// first that holds a code decides, and a code that means nothing here is kept in the details. ok is
// false when none has one.
func foreignError(objects []map[string]any, text string) (e *Error, ok bool) {
	for _, m := range objects {
		if e, ok := readForeign(fold(m), text); ok {
			return e, true
		}
	}
	return nil, false
}

func readForeign(m map[string]any, text string) (*Error, bool) {
	for _, name := range foreignNested {
		if inner, ok := m[name].(map[string]any); ok {
			if e, ok := readForeign(fold(inner), text); ok {
				return e, true
			}
		}
	}
	raw, code := foreignCode(m)
	if raw == nil {
		return nil, false
	}
	if own := firstText(m, foreignMessages); own != "" {
		text = own
	}
	d := Data{ErrorCode: code, ErrorReason: firstText(m, foreignReasons), ErrorMessage: text}
	d.Retriable = code.Retriable()
	for _, name := range foreignFlags {
		if yes, ok := m[name].(bool); ok {
			d.Retriable = yes
			break
		}
	}
	opts := []Option{Details(map[string]any{"errorCode": raw})}
	if raw == any(string(code)) {
		opts = nil
	}
	if delay, ok := foreignDelay(m); ok {
		opts = append(opts, RetryAfter(delay))
	}
	return d.salvage().Err().With(opts...), true
}

// fold makes the names comparable. Of two names that become one the lesser decides.
func fold(m map[string]any) map[string]any {
	folded := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		f := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(k))
		if _, taken := folded[f]; !taken {
			folded[f] = m[k]
		}
	}
	return folded
}

// foreignCode finds the first thing that means a code, or else the first that looks like one.
func foreignCode(m map[string]any) (raw any, code Code) {
	for _, name := range foreignCodes {
		v := m[name]
		if c, ok := codeFrom(v); ok {
			return v, c
		}
		if raw == nil && strings.Contains(name, "code") && isForeignCode(v) {
			raw = v
		}
	}
	return raw, Internal
}

// codeFrom understands the eight codes in any spelling, the names of gRPC, HTTP statuses and the
// codes of JSON-RPC.
func codeFrom(v any) (Code, bool) {
	switch v := v.(type) {
	case string:
		name := strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(v)))
		if c := Code(name); c.Valid() {
			return c, true
		}
		for _, r := range rpcCodes {
			if r.name == name {
				return r.code, true
			}
		}
	case float64:
		if n := int(max(math.MinInt32, min(v, math.MaxInt32))); float64(n) == v && (isErrorStatus(n) || isJSONRPC(n)) {
			return numberCode(n), true
		}
	}
	return "", false
}

func numberCode(n int) Code {
	if isErrorStatus(n) {
		return httpCode(n)
	}
	return FromJSONRPC(n)
}

const maxForeignCode = 200

// isForeignCode tells a code from anything else that may be called so.
func isForeignCode(v any) bool {
	switch v := v.(type) {
	case string:
		return v != "" && len(v) <= maxForeignCode
	case float64, int64:
		return v != 0.0
	default:
		return false
	}
}

func firstText(m map[string]any, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		s, ok := m[name].(string)
		return ok && strings.TrimSpace(s) != ""
	})
	if i < 0 {
		return ""
	}
	s, _ := m[names[i]].(string)
	return s
}

// foreignDelay reads milliseconds or seconds, also below "retry".
func foreignDelay(m map[string]any) (time.Duration, bool) {
	if inner, ok := m["retry"].(map[string]any); ok {
		if d, ok := foreignDelay(fold(inner)); ok {
			return d, true
		}
	}
	if n, ok := firstNumber(m, foreignMillis); ok {
		return fromMillis(int64(math.Ceil(min(n, maxDelayMs)))), true
	}
	if n, ok := firstNumber(m, foreignSeconds); ok {
		return fromMillis(int64(math.Ceil(min(n*millisPerSecond, maxDelayMs)))), true
	}
	return 0, false
}

const (
	millisPerSecond = 1000
	// maxDelayMs keeps the conversion within int64.
	maxDelayMs = 1 << 52
)

func firstNumber(m map[string]any, names []string) (float64, bool) {
	for _, name := range names {
		if n, ok := m[name].(float64); ok && n >= 0 {
			return n, true
		}
	}
	return 0, false
}
