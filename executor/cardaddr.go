package executor

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"google.golang.org/grpc/metadata"
)

// The card tells the addresses by which its reader came, unless the server was
// told its own ([BaseURL]): a listener knows its port, but not the names of its
// machine, nor what stands before it.

// baseOf is the address by which a client came over HTTP.
func (c *config) baseOf(r *http.Request) string {
	host := r.Host
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && host == "" { // HTTP/1.0
		host = at.String()
	}
	switch {
	case c.baseURL != "":
		return c.baseURL
	case r.TLS != nil:
		return "https://" + host
	default:
		return "http://" + host
	}
}

// baseOfRPC is the address by HTTP for a client that came over gRPC: the host is
// the same, the port that of Serve's listener. Empty where none is known.
func (c *config) baseOfRPC(ctx context.Context) string {
	if c.baseURL != "" || c.httpAddr == nil {
		return c.baseURL
	}
	host, port, err := net.SplitHostPort(c.httpAddr.String())
	if err != nil {
		return ""
	}
	if anyHost(host) {
		host = "localhost"
		md, _ := metadata.FromIncomingContext(ctx)
		if u, err := url.Parse("//" + strings.Join(md.Get(":authority"), "")); err == nil && u.Hostname() != "" {
			host = u.Hostname()
		}
	}
	return "http://" + net.JoinHostPort(host, port)
}

// grpcAt is the address of gRPC for a client that reaches HTTP at base: where
// the server has no host of its own for it, the host is the same. Empty without
// gRPC.
func (c *config) grpcAt(base string) string {
	host, port, err := net.SplitHostPort(c.grpcAddr)
	if err != nil || !anyHost(host) {
		return c.grpcAddr
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return c.grpcAddr
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// anyHost reports whether who listens on a host listens on all of the
// machine's.
func anyHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.Unmap().IsUnspecified()
}
