package errcode

import "slices"

// Code says what kind of failure happened. The set is closed: clients branch on it, so new kinds
// of failure get a new reason, never a new code. There is no code for success, and a Code is no
// error: it takes [New] and a reason to make one.
//
// The zero value "" is not a code; [CodeOf] returns it for a nil error.
type Code string

// The eight codes.
const (
	// InvalidInput says that what the caller sent is missing, malformed or against the schema.
	InvalidInput Code = "INVALID_INPUT"
	// AuthRequired says that a credential or a permission is missing, or that one has expired.
	AuthRequired Code = "AUTH_REQUIRED"
	// NotFound says that a task has expired or that a resource does not exist.
	NotFound Code = "NOT_FOUND"
	// UpstreamUnavailable says that something the agent depends on is down. Retriable.
	UpstreamUnavailable Code = "UPSTREAM_UNAVAILABLE"
	// UpstreamTimeout says that a dependency, or the run itself, ran out of time. Retriable.
	UpstreamTimeout Code = "UPSTREAM_TIMEOUT"
	// RateLimited says that a quota or a rate limit is exhausted: back off. Retriable.
	RateLimited Code = "RATE_LIMITED"
	// GuardrailBlocked says that the request or the answer was blocked for safety or
	// compliance. The artifacts of the task are discarded.
	GuardrailBlocked Code = "GUARDRAIL_BLOCKED"
	// Internal says that something else went wrong.
	Internal Code = "INTERNAL_ERROR"
)

var codes = [...]Code{
	InvalidInput, AuthRequired, NotFound, UpstreamUnavailable,
	UpstreamTimeout, RateLimited, GuardrailBlocked, Internal,
}

// Codes returns the eight codes in the order in which they are documented. The slice is the
// caller's.
func Codes() []Code { return slices.Clone(codes[:]) }

// Valid reports whether c is one of the eight codes.
func (c Code) Valid() bool { return slices.Contains(codes[:], c) }

// Retriable reports whether a failure with this code may be retried when its author says nothing
// else. It is false for a code that is not valid.
func (c Code) Retriable() bool {
	return c == UpstreamUnavailable || c == UpstreamTimeout || c == RateLimited
}

// Never reports whether a failure with this code must not be retried, not even when its author calls
// it retriable: somebody has to change the input, the credentials or the policy first.
func (c Code) Never() bool {
	return c == InvalidInput || c == AuthRequired || c == GuardrailBlocked
}

// Text returns a short English sentence for people. It is what a client reads when an error has
// no message of its own. A code that is not valid has the text of [Internal].
func (c Code) Text() string {
	switch c {
	case InvalidInput:
		return "The request is missing something or is malformed."
	case AuthRequired:
		return "Authentication or permission is required."
	case NotFound:
		return "The requested resource was not found."
	case UpstreamUnavailable:
		return "A service this agent depends on is unavailable."
	case UpstreamTimeout:
		return "A service this agent depends on did not answer in time."
	case RateLimited:
		return "Too many requests; try again later."
	case GuardrailBlocked:
		return "The request was blocked by a policy."
	default:
		return "Something went wrong inside the agent."
	}
}
