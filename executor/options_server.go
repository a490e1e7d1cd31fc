package executor

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// BaseURL sets the address under which clients reach the server, as the agent
// card tells it: "https://agents.example.com/loans". Server only. Default:
// what the request for the card was addressed to, with Serve too; set it behind
// a proxy that changes the host or ends TLS.
func BaseURL(base string) Option {
	return Option{name: "BaseURL", scope: scopeServer, apply: func(c *config) error {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") ||
			u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return errors.New("expected an absolute http or https URL without user, query and fragment")
		}
		c.baseURL = strings.TrimSuffix(base, "/")
		return nil
	}}
}

// GRPCAddr is the address, host:port, of the gRPC binding. Serve listens on
// it; with NewServer it is only listed in the card, and RegisterGRPC adds the
// service to a server of yours. Where the host is that of all interfaces, as in
// ":9090", the card has the host by which its reader came, or that of [BaseURL].
// Server only. Default: no gRPC.
func GRPCAddr(addr string) Option {
	return Option{name: "GRPCAddr", scope: scopeServer, apply: func(c *config) error {
		_, port, err := net.SplitHostPort(addr)
		if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
			return fmt.Errorf("%q: expected host:port with a numeric port", addr)
		}
		c.grpcAddr = addr
		return nil
	}}
}

// WriteTimeout bounds how long the server waits, at each write, for a client
// that does not read. After it the client's stream or answer is cut off; its
// task goes on, and the client can subscribe to it. Server only. Default: 30 s;
// 0 waits for ever.
func WriteTimeout(d time.Duration) Option {
	return Option{name: "WriteTimeout", scope: scopeServer, apply: func(c *config) error {
		c.writeTimeout = d
		return notNegative(d)
	}}
}

// ReadTimeout bounds how long the server waits for the body of an HTTP request
// to arrive, all of it; what takes longer is refused with 408. Who is not
// authenticated is refused before. Server only. Default: 30 s; 0 waits for ever.
func ReadTimeout(d time.Duration) Option {
	return Option{name: "ReadTimeout", scope: scopeServer, apply: func(c *config) error {
		c.readTimeout = d
		return notNegative(d)
	}}
}

// Version sets the agent's own version in its card. Server only. Default:
// "0.0.0".
func Version(v string) Option {
	return Option{name: "Version", scope: scopeServer, apply: func(c *config) error {
		if strings.TrimSpace(v) == "" {
			return errors.New("expected a non-empty version")
		}
		c.version = v
		return nil
	}}
}

// Skills sets the skills that the card lists. Server only. Default: one skill
// of the agent's name and description.
func Skills(skills ...a2a.AgentSkill) Option {
	return Option{name: "Skills", scope: scopeServer, apply: func(c *config) error {
		for i, s := range skills {
			if s.ID == "" || s.Name == "" {
				return fmt.Errorf("skill %d: expected an id and a name", i)
			}
		}
		c.skills = append(c.skills, skills...)
		return nil
	}}
}

// Modes sets the media types that the card lists for input and output. Server
// only. Default: text/plain and application/json for both.
func Modes(input, output []string) Option {
	return Option{name: "Modes", scope: scopeServer, apply: func(c *config) error {
		if len(input) == 0 || len(output) == 0 {
			return errors.New("expected at least one input and one output mode")
		}
		for _, m := range slices.Concat(input, output) {
			if t, _, err := mime.ParseMediaType(m); err != nil || !strings.Contains(t, "/") {
				return fmt.Errorf("%q: expected a media type, such as %q", m, "text/plain")
			}
		}
		c.inputModes, c.outputModes = slices.Clone(input), slices.Clone(output)
		return nil
	}}
}

// ShutdownTimeout is how long running tasks may go on after Serve's context is
// done. What still runs then ends as failed, UPSTREAM_UNAVAILABLE, reason
// server_shutdown. Serve only. Default: 10 s; 0 ends them at once.
func ShutdownTimeout(d time.Duration) Option {
	return Option{name: "ShutdownTimeout", scope: scopeServe, apply: func(c *config) error {
		c.shutdownTimeout = d
		return notNegative(d)
	}}
}

// OnListen calls f once Serve answers, with the addresses it listens on;
// grpcAddr is nil without gRPC. Serve only.
func OnListen(f func(httpAddr, grpcAddr net.Addr)) Option {
	return Option{name: "OnListen", scope: scopeServe, apply: func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.onListen = append(c.onListen, f)
		return nil
	}}
}

// Prefix mounts the server below a path, "/loans", so that several agents can
// share one mux: mux.Handle("/loans/", server). Server only. Default: none.
func Prefix(prefix string) Option {
	return Option{name: "Prefix", scope: scopeServer, apply: func(c *config) error {
		if !cleanPath(prefix) {
			return fmt.Errorf("%q: expected a clean path such as %q", prefix, "/loans")
		}
		c.prefix = prefix
		return nil
	}}
}
