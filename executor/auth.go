package executor

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Verifier tells who presents a credential: a bearer token, an API key. It must
// be safe for concurrent use.
//
// Any error refuses the request with 401, its text goes to the log only. An
// [errcode.Error] of the code UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT or
// RATE_LIMITED says that the credential could not be checked: the client gets
// 503 or 429 and may try again.
type Verifier interface {
	Verify(ctx context.Context, credential string) (Identity, error)
}

// VerifierFunc is a function as a [Verifier].
type VerifierFunc func(ctx context.Context, credential string) (Identity, error)

// Verify implements Verifier.
func (f VerifierFunc) Verify(ctx context.Context, credential string) (Identity, error) {
	return f(ctx, credential)
}

// Identity is who made a request. The zero value is nobody, which no verifier
// may return without an error.
type Identity struct {
	// User is a stable name. Tasks belong to it: nobody else finds them.
	User string
	// Scopes are what the credential permits, for [RequireScope].
	Scopes []string
	// Attributes are for the agent's code, see agent.User.
	Attributes map[string]any
}

// scheme is one way to authenticate.
type scheme struct {
	name      string // in the card
	header    string
	prefix    string // of the header's value, "Bearer "
	verifier  Verifier
	card      a2a.SecurityScheme
	challenge string // for WWW-Authenticate
}

// scopeRule is a scope and the operations that need it, all of them when none
// is named.
type scopeRule struct {
	scope      string
	operations []string
}

// guards reports whether requests are authenticated at all.
func (c *config) guards() bool { return len(c.schemes) > 0 }

// authenticate tells who makes a request by the credentials it carries, of which
// one must be good: the card says that they are alternatives. Good ones must be
// of one user; the scopes are those of the first. values gives the values of a
// header.
func (c *config) authenticate(ctx context.Context, values func(name string) []string) (*a2asrv.User, error) {
	var caller *Identity
	var refused error
	for _, s := range c.schemes {
		credential, ok := s.find(values(s.header))
		if !ok {
			continue
		}
		who, err := s.verify(ctx, credential)
		switch {
		case err != nil && refused == nil:
			refused = c.unverified(ctx, s, err)
		case err != nil:
		case caller == nil:
			caller = &who
		case caller.User != who.User:
			return nil, refuse(a2a.ErrUnauthenticated, "The credentials are those of different users; send one of them.").challenging(c)
		}
	}
	switch {
	case caller != nil:
		return userFrom(*caller), nil
	case refused != nil:
		return nil, refused
	default:
		return nil, c.unauthenticated("")
	}
}

func (e *protocolError) challenging(c *config) *protocolError {
	e.challenge = c.challenges("")
	return e
}

func (s scheme) find(values []string) (credential string, ok bool) {
	for _, v := range values {
		if len(v) > len(s.prefix) && strings.EqualFold(v[:len(s.prefix)], s.prefix) {
			return strings.TrimSpace(v[len(s.prefix):]), true
		}
	}
	return "", false
}

func (s scheme) verify(ctx context.Context, credential string) (who Identity, err error) {
	returned := apart(func() {
		defer func() {
			if v := recover(); v != nil {
				err = errcode.NewPanicError(v, debug.Stack())
			}
		}()
		who, err = s.verifier.Verify(ctx, credential)
	})
	switch {
	case !returned:
		err = errcode.NewPanicError(errExited, nil)
	case err == nil && who.User == "":
		err = fmt.Errorf("the verifier of %s returned nobody and no error", s.name)
	}
	return who, err
}

// unverified is the answer to a credential that is no good, or could not be
// checked.
func (c *config) unverified(ctx context.Context, s scheme, err error) error {
	if out := c.comeBack(err); out != nil {
		return fmt.Errorf("%w: %w", out, err)
	}
	if p, ok := errtree.As[*errcode.PanicError](err); ok {
		return c.panicked(ctx, p.Value())
	}
	return fmt.Errorf("verify %s: %w: %w", s.name, c.unauthenticated(s.name), err)
}

// unauthenticated names every way to authenticate, and says of the one that was
// tried that the credential is no good.
func (c *config) unauthenticated(tried string) *protocolError {
	out := refuse(a2a.ErrUnauthenticated, "")
	out.challenge = c.challenges(tried)
	return out
}

func (c *config) challenges(tried string) string {
	if !c.guards() { // an interceptor of the user's does it
		return fmt.Sprintf("Bearer realm=%q", c.builder.Domain)
	}
	var out []string
	for _, s := range c.schemes {
		challenge := s.challenge + fmt.Sprintf(" realm=%q", c.builder.Domain)
		if s.prefix == "" {
			challenge += fmt.Sprintf(", header=%q", s.header)
		}
		if s.name == tried {
			challenge += `, error="invalid_token"`
		}
		out = append(out, challenge)
	}
	return strings.Join(out, ", ")
}

const scopesAttribute = "scopes"

func userFrom(who Identity) *a2asrv.User {
	attributes := make(map[string]any, len(who.Attributes)+1)
	maps.Copy(attributes, who.Attributes)
	if len(who.Scopes) > 0 {
		attributes[scopesAttribute] = slices.Clone(who.Scopes)
	}
	return a2asrv.NewAuthenticatedUser(who.User, attributes)
}

// authorizing is the interceptor that asks whether the caller may do it.
type authorizing struct {
	a2asrv.PassthroughCallInterceptor
	*config
}

// Before implements a2asrv.CallInterceptor.
func (a authorizing) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	return ctx, nil, a.authorize(ctx, operationOf(call.Method()))
}

// authorize refuses an operation for which the caller lacks a scope, or that
// the user's hook does not allow.
func (c *config) authorize(ctx context.Context, operation string) error {
	caller := callerOf(ctx)
	for _, rule := range c.scopes {
		if len(rule.operations) > 0 && !slices.Contains(rule.operations, operation) {
			continue
		}
		held, _ := caller.Attributes[scopesAttribute].([]string)
		if !slices.Contains(held, rule.scope) {
			return missingScope(rule.scope)
		}
	}
	for _, f := range c.authorizers {
		if err := c.ask(ctx, f, caller, operation); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) ask(ctx context.Context, f authorizer, caller agent.User, operation string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.panicked(ctx, v)
		}
	}()
	err = f(ctx, caller, operation)
	if err == nil {
		return nil
	}
	if own, ok := errtree.As[*protocolError](err); ok {
		return own
	}
	if out := c.comeBack(err); out != nil {
		return fmt.Errorf("%w: %w", out, err)
	}
	return fmt.Errorf("%w: %w", refuse(a2a.ErrUnauthorized, ""), err)
}

type authorizer func(ctx context.Context, caller agent.User, operation string) error

// MissingScope is the error by which a function of [Authorize] refuses for want
// of a scope: the client gets 403 and the name of the scope, nothing else.
func MissingScope(scope string) error { return missingScope(scope) }

func missingScope(scope string) *protocolError {
	out := refuse(a2a.ErrUnauthorized, fmt.Sprintf("The scope %s is missing.", scope))
	out.challenge = fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, scope)
	return out
}
