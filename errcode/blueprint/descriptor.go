package blueprint

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// capabilities are what a skill may be.
var capabilities = []string{"plugin", "api", "knowledge", "task"}

// The messages of violations.
const (
	msgMissing = "Required field is missing"
	msgType    = "Invalid type"
	msgEnum    = "Invalid enum value"
	msgURI     = "Invalid URI"
	msgJSON    = "Invalid JSON"
)

// ValidateDescriptor checks a skill descriptor, nil if it is valid. All that is wrong is reported
// at once: the error is an [*errcode.Error] with INVALID_INPUT and [errcode.Violation] values in
// the order of the rules, whose envelope is the VALIDATION_ERROR of BLUEPRINT 9.4.
//
// The rules, which are those that chapter 9 names:
//
//	/capability_type  required, one of plugin, api, knowledge, task
//	/endpoint         an object, if present
//	/endpoint/url     required, an absolute URI (RFC 3986); http and https need a host
//
// required lists further members that must be there and not be null, as JSON Pointers (RFC 6901)
// that lead through objects. Members without a rule may be anything. A descriptor of more than
// [MaxBody] bytes, or that is not one JSON object, has one violation at "".
func ValidateDescriptor(descriptor []byte, required ...string) error {
	root, err := parseJSON(descriptor)
	if err != nil {
		return invalid([]errcode.Violation{{Expected: "JSON object", Message: msgJSON}}, errcode.Cause(err))
	}
	m, ok := root.(map[string]any)
	if !ok {
		return invalid([]errcode.Violation{{Expected: "JSON object", Actual: shown(root), Message: msgType}})
	}
	vs := checkCapability(m)
	vs = append(vs, checkEndpoint(m)...)
	vs = append(vs, checkRequired(m, required, vs)...)
	if len(vs) > 0 {
		return invalid(vs)
	}
	return nil
}

func invalid(vs []errcode.Violation, opts ...errcode.Option) error {
	return errcode.New(errcode.InvalidInput, ValidationError.reason(),
		errcode.Message("Skill descriptor validation failed"), errcode.Violations(vs...)).With(opts...)
}

func checkCapability(m map[string]any) []errcode.Violation {
	v := errcode.Violation{
		Field: "/capability_type", Expected: "one of: " + strings.Join(capabilities, ", "),
		Actual: shown(m["capability_type"]),
	}
	switch c := m["capability_type"].(type) {
	case nil:
		v.Message = msgMissing
	case string:
		if slices.Contains(capabilities, c) {
			return nil
		}
		v.Message = msgEnum
	default:
		v.Message = msgType
	}
	return []errcode.Violation{v}
}

func checkEndpoint(m map[string]any) []errcode.Violation {
	endpoint, ok := m["endpoint"].(map[string]any)
	if !ok && m["endpoint"] != nil {
		return []errcode.Violation{{
			Field: "/endpoint", Expected: "object", Actual: shown(m["endpoint"]), Message: msgType,
		}}
	}
	v := errcode.Violation{
		Field: "/endpoint/url", Expected: "string (URI format)", Actual: shown(endpoint["url"]),
	}
	switch u := endpoint["url"].(type) {
	case nil:
		v.Message = msgMissing
	case string:
		if isURI(u) {
			return nil
		}
		v.Message = msgURI
	default:
		v.Message = msgType
	}
	return []errcode.Violation{v}
}

// checkRequired looks for the members that the caller requires, unless they are reported already.
func checkRequired(m map[string]any, required []string, reported []errcode.Violation) []errcode.Violation {
	var vs []errcode.Violation
	for _, pointer := range required {
		known := func(v errcode.Violation) bool { return v.Field == pointer }
		if present(m, pointer) || slices.ContainsFunc(reported, known) || slices.ContainsFunc(vs, known) {
			continue
		}
		vs = append(vs, errcode.Violation{Field: pointer, Expected: "a value", Message: msgMissing})
	}
	return vs
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// present follows a JSON Pointer through objects.
func present(v any, pointer string) bool {
	for pointer != "" {
		token, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		v, pointer = m[unescape.Replace(token)], rest
		if more {
			pointer = "/" + rest
		}
	}
	return v != nil
}

// isURI reports whether s is an absolute URI. net/url is more generous than RFC 3986 with
// characters, less so with nothing.
func isURI(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r)
	}) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() || strings.Count(s, "#") > 1 {
		return false
	}
	if strings.ContainsAny(strings.Replace(s, u.Host, "", 1), "[]") {
		return false // brackets belong to the host
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Hostname() != ""
	}
	return u.Host != "" || u.Opaque != "" || u.Path != ""
}

// shown is what a violation tells about a value: scalars as they are, if they are short.
func shown(v any) any {
	const longest = 256
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		if len(v) <= longest {
			return v
		}
		return strings.ToValidUTF8(v[:longest], "") + "…"
	default:
		return v
	}
}
