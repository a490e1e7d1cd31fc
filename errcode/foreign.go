package errcode

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file reads what agents that know nothing of [Data] say about a failure. Names are compared
// without regard to case, underscores and hyphens: error_code is errorCode.

// The names under which other vendors put what Data has, the most telling first.
var (
	foreignCodes    = []string{"errorcode", "code", "errortype", "type", "httpstatus", "httpstatuscode", "statuscode", "status"}
	foreignReasons  = []string{"errorreason", "reason"}
	foreignMessages = []string{"errormessage", "message", "detail", "description", "error"}
	foreignFlags    = []string{"retriable", "retryable"}
	foreignMillis   = []string{"retryafterms", "suggesteddelayms"}
	foreignSeconds  = []string{"retryafter", "retryafterseconds"}
	// foreignNested are the names under which the whole may lie one level down.
	foreignNested = []string{"error", "errordata"}
	// foreignShared are the names which an object takes over from the one it lies in.
	foreignShared = slices.Concat(foreignReasons, foreignMessages, foreignFlags, foreignMillis, foreignSeconds, []string{foreignRetry})
)

// foreignRetry is the name of an object with advice about retries.
const foreignRetry = "retry"

// foreignObject is an object in which another vendor may have put its error.
type foreignObject struct {
	plain  map[string]any
	folded map[string]any // with comparable names, and with what it takes over
}

// foreignObjects lists an object and those that lie in it, the innermost first.
func foreignObjects(m, outer map[string]any) []foreignObject {
	folded := fold(m)
	for _, name := range foreignShared {
		if v, ok := outer[name]; ok && folded[name] == nil {
			folded[name] = v
		}
	}
	var list []foreignObject
	for _, name := range foreignNested {
		if inner, ok := folded[name].(map[string]any); ok {
			list = append(list, foreignObjects(inner, withoutNested(folded))...)
		}
	}
	return append(list, foreignObject{m, folded})
}

// withoutNested keeps an object from finding itself in what it takes over.
func withoutNested(folded map[string]any) map[string]any {
	outer := maps.Clone(folded)
	for _, name := range foreignNested {
		if _, ok := outer[name].(map[string]any); ok {
			delete(outer, name)
		}
	}
	return outer
}

// foreignError makes the best of objects: the first with a code that means something decides, else
// the first with any code at all, which is kept in the details. ok is false when none has one.
func foreignError(objects []foreignObject, text string) (e *Error, ok bool) {
	if text == "" {
		text = foreignText(objects)
	}
	var kept *foreignObject
	for i := range objects {
		o := &objects[i]
		raw, _, known := o.code()
		if known {
			return o.read(text), true
		}
		if raw != nil && kept == nil {
			kept = o
		}
	}
	if kept == nil {
		return nil, false
	}
	return kept.read(text), true
}

// foreignText is the first message in any of the objects.
func foreignText(objects []foreignObject) string {
	for _, o := range objects {
		if text := firstText(o.folded, foreignMessages); text != "" {
			return text
		}
	}
	return ""
}

// read makes the best of an object; text stands in for a missing message. What breaks the rules of
// its field is left out.
func (o foreignObject) read(text string) *Error {
	raw, code, _ := o.code()
	d, _ := decodeData(o.plain)
	d.ErrorCode = code
	if d.ErrorReason == "" {
		d.ErrorReason = firstText(o.folded, foreignReasons)
	}
	if d.ErrorMessage, _ = o.plain["errorMessage"].(string); strings.TrimSpace(d.ErrorMessage) == "" {
		d.ErrorMessage = cmp.Or(firstText(o.folded, foreignMessages), text)
	}
	d.Retriable = o.retriable(code)
	if d.RetryAfterMs == nil {
		if delay, ok := foreignDelay(o.folded); ok {
			ms := toMillis(delay)
			d.RetryAfterMs = &ms
		}
	}
	e := d.salvage().Err()
	if raw == nil || raw == any(string(code)) {
		return e
	}
	return e.With(Detail("errorCode", raw))
}

func (o foreignObject) retriable(code Code) bool {
	if yes, ok := o.plain["retriable"].(bool); ok {
		return yes
	}
	for _, name := range foreignFlags {
		switch v := o.folded[name].(type) {
		case bool:
			return v
		case string:
			if yes, err := strconv.ParseBool(strings.ToLower(v)); err == nil {
				return yes
			}
		}
	}
	return code.Retriable()
}

var (
	nameFolder = strings.NewReplacer("_", "", "-", "")
	codeFolder = strings.NewReplacer("-", "_", " ", "_")
)

// fold makes the names comparable. Of two names that become one the lesser decides.
func fold(m map[string]any) map[string]any {
	folded := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		f := strings.ToLower(nameFolder.Replace(k))
		if _, taken := folded[f]; !taken {
			folded[f] = m[k]
		}
	}
	return folded
}

// code finds the first thing that means a code, or else the first that looks like one, which counts
// as Internal.
func (o foreignObject) code() (raw any, code Code, known bool) {
	if looksLikeData(o.plain) {
		s, _ := o.plain["errorCode"].(string)
		return s, Code(s), true
	}
	for _, name := range foreignCodes {
		v := o.folded[name]
		if c, ok := codeFrom(v); ok {
			return v, c, true
		}
		if raw == nil && strings.Contains(name, "code") && isForeignCode(v) {
			raw = v
		}
	}
	return raw, Internal, false
}

// codeFrom understands the eight codes in any spelling, the names of gRPC, HTTP statuses and the
// codes of JSON-RPC, the last two also as text.
func codeFrom(v any) (Code, bool) {
	switch v := v.(type) {
	case string:
		name := strings.ToUpper(codeFolder.Replace(strings.TrimSpace(v)))
		if c := Code(name); c.Valid() {
			return c, true
		}
		for _, r := range rpcCodes {
			if r.name == name {
				return r.code, true
			}
		}
		number, _, _ := strings.Cut(strings.TrimSpace(v), " ") // 429 Too Many Requests
		n, err := strconv.Atoi(number)
		return numberCode(n), err == nil && isNumberCode(n)
	case float64:
		n := int(max(math.MinInt32, min(v, math.MaxInt32)))
		return numberCode(n), float64(n) == v && isNumberCode(n)
	default:
		return "", false
	}
}

func isNumberCode(n int) bool { return isErrorStatus(n) || isJSONRPC(n) }

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
		return strings.TrimSpace(v) != "" && len(v) <= maxForeignCode
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
	if inner, ok := m[foreignRetry].(map[string]any); ok {
		if d, ok := foreignDelay(fold(inner)); ok {
			return d, true
		}
	}
	if n, ok := firstNumber(m, foreignMillis); ok {
		return durationOf(n, time.Millisecond), true
	}
	n, ok := firstNumber(m, foreignSeconds)
	return durationOf(n, time.Second), ok
}

// firstNumber finds the first number that is not negative, which may be a text.
func firstNumber(m map[string]any, names []string) (n float64, ok bool) {
	for _, name := range names {
		switch v := m[name].(type) {
		case float64:
			n, ok = v, true
		case int64:
			n, ok = float64(v), true
		case string:
			n, ok = parseAmount(v)
		}
		if ok && n >= 0 {
			return n, true
		}
	}
	return 0, false
}
