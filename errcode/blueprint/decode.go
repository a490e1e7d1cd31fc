package blueprint

import (
	"maps"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// reasonUnknown is the reason of a failure with a code that cannot be made into one.
const reasonUnknown = "unknown_blueprint_code"

// Err returns the failure as an [errcode.Error], with all that the sender's Error had. A code that
// is not one of the seven is taken for one of package errcode if it is that, else it gives
// INTERNAL_ERROR; it is then kept as the detail blueprint_code. What is malformed in the reserved
// details stays there as it is.
func (e Envelope) Err() *errcode.Error { return e.Error.data(errcode.Internal).Err() }

// data reverses [FromData]; other stands in for a code that nobody knows.
func (f Failure) data(other errcode.Code) errcode.Data {
	details := maps.Clone(f.Details)
	if details == nil {
		details = map[string]any{}
	}
	base := f.base(other, details)
	d, moved, ok := withApplicationError(base, details[keyApplicationError])
	if ok {
		delete(details, keyApplicationError)
	}
	if f.Code.Never() && codeFor(d.ErrorCode, d.ErrorReason) != f.Code {
		d.Retriable = false // the envelope's code is not the one of the rest
	}
	if vs, exact := violationsOf(details[keyViolations]); len(vs) > 0 {
		d.Violations = vs
		if exact {
			delete(details, keyViolations)
		}
	}
	maps.Copy(details, moved)
	d.Details = details
	return d
}

// base is the error data that the envelope's own members give, as a plain object. What has no field
// goes to the details.
func (f Failure) base(other errcode.Code, details map[string]any) map[string]any {
	m := map[string]any{
		"errorReason": f.Code.reason(), "errorMessage": f.Message, "retriable": f.retriable(),
	}
	switch r := f.Code.row(); {
	case r != nil:
		m["errorCode"] = string(r.ours)
	case errcode.Code(f.Code).Valid():
		m["errorCode"] = string(f.Code)
		m["retriable"] = f.Retry.allows(errcode.Code(f.Code))
	default:
		m["errorCode"] = string(other)
		m["errorReason"] = foreignReason(f.Code)
		m["retriable"] = f.Retry.allows(other)
		addDetail(details, keyCode, string(f.Code))
	}
	if f.Retry != nil && f.Retry.SuggestedDelayMS > 0 {
		m["retryAfterMs"] = f.Retry.SuggestedDelayMS
	}
	if f.Retry != nil && f.Retry.MaxAttempts > 0 {
		addDetail(details, keyMaxAttempts, f.Retry.MaxAttempts)
	}
	return m
}

// addDetail never replaces what the sender put there.
func addDetail(details map[string]any, key string, value any) {
	if _, taken := details[key]; !taken {
		details[key] = value
	}
}

func foreignReason(c Code) string {
	const longest = 64
	if c == "" || len(c) > longest || strings.ContainsFunc(string(c), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return reasonUnknown
	}
	return c.reason()
}

// withApplicationError lays the reserved object over base. ok is false, and only base counts, when
// there is none or it breaks the rules of its fields.
func withApplicationError(base map[string]any, v any) (d errcode.Data, moved map[string]any, ok bool) {
	if app, is := v.(map[string]any); is {
		full := maps.Clone(base)
		maps.Copy(full, app)
		full["errorMessage"] = base["errorMessage"]
		moved, is = full["details"].(map[string]any)
		is = is || full["details"] == nil
		delete(full, "details")
		delete(full, "violations")
		if d, err := errcode.ParseData(full); err == nil && is {
			return d, moved, true
		}
	}
	d, err := errcode.ParseData(base)
	if err != nil { // cannot happen, base is valid by construction
		d = errcode.Data{ErrorCode: errcode.Internal, ErrorReason: reasonUnknown, ErrorMessage: errcode.Internal.Text()}
	}
	return d, nil, false
}

// violationsOf reads the list of violations, nil if v is none. exact is false when v says more than
// violations can hold.
func violationsOf(v any) (vs []errcode.Violation, exact bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	exact = true
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		v, same := violationOf(m)
		vs, exact = append(vs, v), exact && same
	}
	return vs, exact
}

func violationOf(m map[string]any) (v errcode.Violation, exact bool) {
	exact = true
	for key, value := range m {
		var ok bool
		switch key {
		case "field":
			v.Field, ok = value.(string)
		case "expected":
			v.Expected, ok = value.(string)
		case "message":
			v.Message, ok = value.(string)
		case "actual":
			v.Actual, ok = value, true
		}
		exact = exact && ok
	}
	return v, exact
}
