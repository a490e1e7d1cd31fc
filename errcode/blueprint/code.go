package blueprint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// Code is the "code" of an envelope. Seven are known (BLUEPRINT 9.2); another server may send more,
// which are kept as they are.
type Code string

// The seven codes.
const (
	// ValidationError says that a schema validator found a skill descriptor invalid.
	ValidationError Code = "VALIDATION_ERROR"
	// AuthRequired says that there are no valid credentials.
	AuthRequired Code = "AUTH_REQUIRED"
	// PermissionDenied says that the credentials are valid but do not suffice.
	PermissionDenied Code = "PERMISSION_DENIED"
	// SkillNotFound says that the requested id or URL does not exist.
	SkillNotFound Code = "SKILL_NOT_FOUND"
	// ExecutionTimeout says that the execution took too long. See [Timeout].
	ExecutionTimeout Code = "EXECUTION_TIMEOUT"
	// EndpointUnreachable says that no connection can be made.
	EndpointUnreachable Code = "ENDPOINT_UNREACHABLE"
	// VersionIncompatible says that the versions of the protocol do not go together.
	VersionIncompatible Code = "VERSION_INCOMPATIBLE"
)

// row is one line of the table in BLUEPRINT 9.2 and 9.5.
type row struct {
	code   Code
	status int
	ours   errcode.Code
	// retried is what clients do when nothing else is said; never means whatever is said.
	retried, never bool
}

var rows = [...]row{
	{code: ValidationError, status: http.StatusBadRequest, ours: errcode.InvalidInput, never: true},
	{code: AuthRequired, status: http.StatusUnauthorized, ours: errcode.AuthRequired, never: true},
	{code: PermissionDenied, status: http.StatusForbidden, ours: errcode.AuthRequired, never: true},
	{code: SkillNotFound, status: http.StatusNotFound, ours: errcode.NotFound},
	{code: ExecutionTimeout, status: http.StatusGatewayTimeout, ours: errcode.UpstreamTimeout, retried: true},
	{code: EndpointUnreachable, status: http.StatusBadGateway, ours: errcode.UpstreamUnavailable, retried: true},
	{code: VersionIncompatible, status: http.StatusUnprocessableEntity, ours: errcode.InvalidInput, never: true},
}

// Codes returns the seven codes in the order of the chapter. The slice is the caller's.
func Codes() []Code {
	out := make([]Code, len(rows))
	for i, r := range rows {
		out[i] = r.code
	}
	return out
}

// Valid reports whether c is one of the seven codes.
func (c Code) Valid() bool { return c.row() != nil }

// Never reports whether a failure with this code must not be retried, whatever else is said
// (BLUEPRINT 9.5). It is false for a code that is not valid.
func (c Code) Never() bool {
	r := c.row()
	return r != nil && r.never
}

// row is nil for a code that is not valid.
func (c Code) row() *row {
	i := slices.IndexFunc(rows[:], func(r row) bool { return r.code == c })
	if i < 0 {
		return nil
	}
	return &rows[i]
}

// reason is the reason of an [errcode.Error] that goes without saying for the code.
func (c Code) reason() string { return strings.ToLower(string(c)) }

// codeFor is the code that comes nearest.
func codeFor(code errcode.Code, reason string) Code {
	switch code {
	case errcode.InvalidInput:
		if reason == VersionIncompatible.reason() {
			return VersionIncompatible
		}
		return ValidationError
	case errcode.AuthRequired:
		if reason == PermissionDenied.reason() {
			return PermissionDenied
		}
		return AuthRequired
	case errcode.GuardrailBlocked:
		return PermissionDenied
	case errcode.NotFound:
		return SkillNotFound
	case errcode.UpstreamTimeout:
		return ExecutionTimeout
	default:
		return EndpointUnreachable
	}
}
