package executor

import (
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/rs/cors"

	"github.com/a2aexec/a2aexec/agent"
)

// Server serves one agent over HTTP: JSON-RPC 1.0 at /, HTTP+JSON 1.0 at /v1 (and
// for a tenant at /v1/{tenant}),
// JSON-RPC 0.3 at /v0.3, HTTP+JSON 0.3 at /v0.3/v1, the agent card for both
// generations at /.well-known/agent-card.json, and /healthz; see [URLPaths]. The
// path decides the generation, a client's A2A-Version is checked against it;
// the path of JSON-RPC 1.0 also takes 0.3, by that version or, where a request
// names none, by the method's name. [Server.RegisterGRPC] adds gRPC 1.0 and
// 0.3. It is an http.Handler and safe for concurrent use; several can share one
// mux by [Prefix].
type Server struct {
	*Handler
	config  *config
	handler http.Handler
}

// NewServer makes the server of an agent. The error names every fault of the
// agent and the options.
func NewServer(a *agent.Agent, opts ...Option) (*Server, error) {
	c, err := newConfig(a, opts, scopeServer)
	if err != nil {
		return nil, err
	}
	return newServer(c), nil
}

func newServer(c *config) *Server {
	s := &Server{Handler: newHandler(c), config: c}
	s.handler = c.crossOrigins(s.dispatcher())
	return s
}

// dispatcher sends each path to its edge. It is no http.ServeMux, which would
// answer a path that is not clean, or a method that is not allowed, in HTML and
// plain text.
func (s *Server) dispatcher() http.Handler {
	c, p := s.config, s.config.paths
	transport := []a2asrv.TransportOption{a2asrv.WithTransportPanicHandler(c.hostPanic), a2asrv.WithTransportKeepAlive(c.keepAlive)}
	old := a2av0.NewJSONRPCHandler(s.Handler, transport...)
	exact := map[string]http.Handler{
		c.prefix + p.JSONRPC03: rpcEdge{config: c, old: old},
		c.prefix + p.JSONRPC:   rpcEdge{config: c, old: old, current: a2asrv.NewJSONRPCHandler(s.Handler, transport...)},
		c.prefix + p.Health:    http.HandlerFunc(s.serveHealth),
		c.prefix + pathCard:    http.HandlerFunc(s.serveCard),
	}
	rest := restEdge{
		config: c, root: c.prefix + p.REST, table: operations, next: a2asrv.NewRESTHandler(s.Handler, transport...),
		tenants: a2asrv.NewTenantRESTHandler("/{*}", s.Handler, transport...),
	}
	rest03 := restEdge{config: c, root: c.prefix + p.REST03, table: operations03(), next: a2av0.NewRESTHandler(s.Handler, transport...), old: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		h, ok := exact[path]
		if !ok && len(path) > 1 {
			h, ok = exact[strings.TrimSuffix(path, "/")]
		}
		if !ok && path == c.prefix {
			h, ok = exact[path+"/"]
		}
		switch {
		case ok:
		case strings.HasPrefix(path, rest03.root+pathREST03+"/"):
			h = rest03
		case strings.HasPrefix(path, rest.root+"/"):
			h = rest
		default:
			h = http.HandlerFunc(c.serveNothing)
		}
		awaitBody(w, r, c.readTimeout)
		boundWrites(h, c.writeTimeout).ServeHTTP(w, r.WithContext(c.transportLog(r.Context())))
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// serveNothing answers where nothing is.
func (c *config) serveNothing(w http.ResponseWriter, r *http.Request) {
	c.hurry(w, r)
	c.answer(w, r).refuse(r, notFound())
}

// serveHealth says that the server is up, and 503 once it goes down, so that a
// load balancer sends no more. It needs no authentication.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	a := s.config.answer(w, r)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		a.refuse(r, notAllowed(http.MethodGet, http.MethodHead))
	case s.exec.isDraining():
		a.refuse(r, errDraining)
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", mediaJSON)
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // a prober that has gone
	}
}

// crossOrigin lets web pages of the origins call the server.
func (c *config) crossOrigin() cors.Options {
	headers := []string{"Content-Type", "Accept", "Accept-Language", "Authorization", "Last-Event-ID", a2a.SvcParamVersion, a2a.SvcParamExtensions, oldExtensions}
	for _, s := range c.schemes {
		headers = append(headers, s.header)
	}
	return cors.Options{
		AllowedOrigins: c.origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders: headers,
		ExposedHeaders: []string{a2a.SvcParamExtensions, oldExtensions, "WWW-Authenticate", "Retry-After", "ETag"},
		MaxAge:         originMaxAge,
	}
}
