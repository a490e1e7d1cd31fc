package executor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
)

// Paths says where a server answers, below its prefix. An empty field has its
// default.
type Paths struct {
	JSONRPC   string // JSON-RPC 1.0; default "/"
	REST      string // HTTP+JSON 1.0, which is below it; default "/v1"
	JSONRPC03 string // JSON-RPC 0.3; default "/v0.3"
	REST03    string // HTTP+JSON 0.3, which is below it and its own "/v1"; default "/v0.3"
	Health    string // default "/healthz"
}

var defaultPaths = Paths{JSONRPC: "/", REST: "/v1", JSONRPC03: "/v0.3", REST03: "/v0.3", Health: "/healthz"}

// URLPaths moves the paths of a server; the card lists where they are. Server
// only.
func URLPaths(p Paths) Option {
	return Option{name: "URLPaths", scope: scopeServer, apply: func(c *config) error {
		var faults []error
		set := func(to *string, from string, mayBeRoot bool) {
			switch {
			case from == "":
			case from == "/" && mayBeRoot:
				*to = from
			case !cleanPath(from):
				faults = append(faults, fmt.Errorf("%q: expected a clean path such as %q", from, "/a2a"))
			default:
				*to = from
			}
		}
		set(&c.paths.JSONRPC, p.JSONRPC, true)
		set(&c.paths.REST, p.REST, false)
		set(&c.paths.JSONRPC03, p.JSONRPC03, true)
		set(&c.paths.REST03, p.REST03, false)
		set(&c.paths.Health, p.Health, false)
		seen := map[string]bool{pathCard: true}
		for _, one := range []string{c.paths.JSONRPC, c.paths.JSONRPC03, c.paths.Health} {
			if seen[one] {
				faults = append(faults, fmt.Errorf("%q: used twice", one))
			}
			seen[one] = true
		}
		if c.paths.REST == c.paths.REST03+pathREST03 {
			faults = append(faults, fmt.Errorf("%q: used for HTTP+JSON of both generations", c.paths.REST))
		}
		return errors.Join(faults...)
	}}
}

func cleanPath(p string) bool {
	return strings.HasPrefix(p, "/") && p != "/" && path.Clean(p) == p && !strings.ContainsAny(p, "?#%{} \"")
}

// MaxBodyBytes bounds the body of an HTTP request, and with Serve a message
// over gRPC; what is larger is refused with 413. Server only. Default: 10 MiB.
func MaxBodyBytes(n int64) Option {
	return Option{name: "MaxBodyBytes", scope: scopeServer, apply: func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("%d: expected more than 0", n)
		}
		c.maxBody = n
		return nil
	}}
}

// KeepAlive is how often a stream that has nothing to say sends a comment, so
// that no proxy takes it for dead. Server only. Default: 15 s; 0 sends none.
func KeepAlive(every time.Duration) Option {
	return Option{name: "KeepAlive", scope: scopeServer, apply: func(c *config) error {
		c.keepAlive = every
		return notNegative(every)
	}}
}

// CardMaxAge is how long clients may keep the agent card without asking again;
// then its ETag tells them whether it has changed. Server only. Default: 5 min;
// 0 lets them ask each time.
func CardMaxAge(d time.Duration) Option {
	return Option{name: "CardMaxAge", scope: scopeServer, apply: func(c *config) error {
		c.cardMaxAge = d
		return notNegative(d)
	}}
}

// CORS lets web pages of these origins, "https://app.example.com", call the
// server from a browser; "*" lets all. Server only. Default: only the card can
// be read from other origins.
//
// What a page of another origin may not do its browser keeps from it: a
// preflight is answered without permission, and so is what needs none, a GET. The server
// itself refuses nothing for its Origin, which programs that are no browsers,
// and pages of the server's own origin behind a proxy, send too.
func CORS(origins ...string) Option {
	return Option{name: "CORS", scope: scopeServer, apply: func(c *config) error {
		for _, o := range origins {
			if o == "*" {
				continue
			}
			u, err := url.Parse(o)
			if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
				return fmt.Errorf("%q: expected an origin such as %q, or %q", o, "https://app.example.com", "*")
			}
		}
		c.origins = append(c.origins, origins...)
		return nil
	}}
}

// Extensions declares A2A extensions in the card. One that a request names is
// told to be activated; the agent's code finds out by a2asrv.ExtensionsFrom. A
// request that does not name a required one is refused. Default: only that of
// application errors, which is always declared and never required.
func Extensions(es ...a2a.AgentExtension) Option {
	return Option{name: "Extensions", apply: func(c *config) error {
		for _, e := range es {
			if strings.TrimSpace(e.URI) == "" || strings.ContainsAny(e.URI, ", ") {
				return fmt.Errorf("%q: expected a URI without commas and spaces", e.URI)
			}
		}
		c.extensions = append(c.extensions, es...)
		return nil
	}}
}

// ExtendedCardFunc gives a caller the card that is meant for them, made of the
// public one, which is its own to change. A nil card says that there is none
// for this caller.
type ExtendedCardFunc func(ctx context.Context, caller agent.User, public *a2a.AgentCard) (*a2a.AgentCard, error)

// ExtendedCard declares an extended agent card, for authenticated callers. Over
// gRPC the public card that f gets has addresses for HTTP only with [BaseURL] or
// [Serve]. Default: none; the operation is not supported.
func ExtendedCard(f ExtendedCardFunc) Option {
	return Option{name: "ExtendedCard", apply: func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.extendedCard = f
		return nil
	}}
}
