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
	foreignNested = []string{"error", "errordata", "errors"}
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
		for _, inner := range nestedObjects(folded[name]) {
			list = append(list, foreignObjects(inner, withoutNested(folded))...)
		}
	}
	// The data of a JSON-RPC error are only of interest if they are error data: they may be anything.
	if inner, ok := folded["data"].(map[string]any); ok && looksLikeData(inner) {
		list = append(list, foreignObjects(inner, withoutNested(folded))...)
	}
	return append(list, foreignObject{m, folded})
}

// maxNested is how many entries of a list of errors are looked at.
const maxNested = 16

// nestedObjects is an object, or those in a list.
func nestedObjects(v any) (objects []map[string]any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, x := range list[:min(len(list), maxNested)] {
		if m, ok := x.(map[string]any); ok {
			objects = append(objects, m)
		}
	}
	return objects
}

// withoutNested keeps an object from finding itself in what it takes over.
func withoutNested(folded map[string]any) map[string]any {
	outer := maps.Clone(folded)
	for _, name := range foreignNested {
		if len(nestedObjects(outer[name])) > 0 {
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
	r := reader{m: o.plain}
	d := r.data()
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
	own, _ := o.plain["errorMessage"].(string)
	// What another vendor says is no text that was chosen for our clients.
	e.authored = e.authored && looksLikeData(o.plain) && strings.TrimSpace(own) != ""
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
	codeFolder = strings.NewReplacer("-", "", " ", "", "_", "")
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

// codeNames are the eight codes and the names of gRPC, in capitals without separators.
var codeNames = func() map[string]Code {
	names := make(map[string]Code)
	for _, r := range rpcCodes {
		names[foldCode(r.name)] = r.code
	}
	for _, c := range codes {
		names[foldCode(string(c))] = c
	}
	return names
}()

func foldCode(name string) string { return strings.ToUpper(codeFolder.Replace(name)) }

// codeFrom understands the eight codes in any spelling, the names of gRPC, the codes of well-known APIs,
// HTTP statuses and the codes of JSON-RPC, the last two also as text. Of a list the first entry counts.
func codeFrom(v any) (Code, bool) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return "", false
		}
		if _, nested := v[0].([]any); nested {
			return "", false
		}
		return codeFrom(v[0])
	case string:
		if len(v) > maxForeignCode {
			return "", false
		}
		if c, ok := codeNames[foldCode(strings.TrimSpace(v))]; ok {
			return c, true
		}
		if c, ok := apiCodeOf[strings.TrimSpace(v)]; ok {
			return c, true
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

// foreignDelay reads milliseconds, seconds, a duration or a date, also below "retry", or Google's advice
// in a list of details.
func foreignDelay(m map[string]any) (time.Duration, bool) {
	if inner, ok := m[foreignRetry].(map[string]any); ok {
		if d, ok := foreignDelay(fold(inner)); ok {
			return d, true
		}
	}
	if n, ok := firstNumber(m, foreignMillis); ok {
		return durationOf(n, time.Millisecond), true
	}
	if n, ok := firstNumber(m, foreignSeconds); ok {
		return durationOf(n, time.Second), true
	}
	for _, name := range foreignSeconds {
		text, _ := m[name].(string)
		if d, err := time.ParseDuration(strings.TrimSpace(text)); err == nil && d >= 0 {
			return min(d, maxDelay), true
		}
		if d, ok := parseRetryAfter(text, time.Now()); ok {
			return d, true
		}
	}
	return detailDelay(m["details"])
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
