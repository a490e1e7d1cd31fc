package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
)

// BearerAuth authenticates requests by a token in the Authorization header (in
// the authorization metadata over gRPC), and declares it in the card as the
// HTTP scheme "bearer". With several such options a request needs one of the
// credentials; of two that are good, both must be of one user. One without any is refused with 401 and a challenge that names
// them all. The public card and the health endpoint need none. Default: callers
// are anonymous, unless an interceptor says who they are.
func BearerAuth(v Verifier) Option {
	return Option{name: "BearerAuth", apply: func(c *config) error {
		return c.addScheme(scheme{
			name: "bearer", header: "Authorization", prefix: "Bearer ", challenge: "Bearer", verifier: v,
			card: a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"},
		})
	}}
}

// APIKeyAuth authenticates requests by a key in a header of that name, such as
// "X-API-Key" (in the metadata of that name over gRPC), and declares it in the
// card as the scheme "apiKey". See [BearerAuth].
func APIKeyAuth(header string, v Verifier) Option {
	return Option{name: "APIKeyAuth", apply: func(c *config) error {
		if header == "" || strings.ContainsFunc(header, func(r rune) bool { return r <= ' ' || r == ':' || r > '~' }) {
			return fmt.Errorf("%q: expected the name of a header, such as %q", header, "X-API-Key")
		}
		return c.addScheme(scheme{
			name: "apiKey", header: header, challenge: "ApiKey", verifier: v,
			card: a2a.APIKeySecurityScheme{Location: a2a.APIKeySecuritySchemeLocationHeader, Name: header},
		})
	}}
}

func (c *config) addScheme(s scheme) error {
	if s.verifier == nil {
		return errors.New("expected a verifier, got nil")
	}
	if slices.ContainsFunc(c.schemes, func(o scheme) bool { return o.name == s.name }) {
		return errors.New("given twice")
	}
	c.schemes = append(c.schemes, s)
	return nil
}

// RequireScope refuses the operations, all when none is named, to a caller
// without the scope: 403 that names the scope. Operations are those of A2A 1.0,
// "SendMessage", "CancelTask"; those of 0.3 count as the ones they became.
// Default: none is required.
func RequireScope(scope string, operations ...string) Option {
	return Option{name: "RequireScope", apply: func(c *config) error {
		if scope == "" || strings.ContainsAny(scope, " \"\\") {
			return fmt.Errorf("%q: expected a scope without spaces and quotes", scope)
		}
		for _, o := range operations {
			if !knownOperation(o) {
				return fmt.Errorf("%q: expected an operation of A2A 1.0, such as %q", o, opSendMessage)
			}
		}
		c.scopes = append(c.scopes, scopeRule{scope, slices.Clone(operations)})
		return nil
	}}
}

// Authorize asks f before each operation whether the caller may do it, before
// anything is looked up. [MissingScope] as its error names the scope that is
// missing. An [errcode.Error] of the code RATE_LIMITED, UPSTREAM_UNAVAILABLE or
// UPSTREAM_TIMEOUT is told as 429 or 503 with its text and its delay, which makes
// f a rate limiter. The client of any other gets 403 and no reason, the log the error.
// Default: everything is allowed.
func Authorize(f func(ctx context.Context, caller agent.User, operation string) error) Option {
	return Option{name: "Authorize", apply: func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.authorizers = append(c.authorizers, f)
		return nil
	}}
}
