package executor

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
)

// Where a server answers, below its prefix. The path decides the generation of
// the protocol; without an A2A-Version header, / also takes the method names of
// 0.3.
const (
	pathJSONRPC   = "/"     // JSON-RPC, A2A 1.0
	pathREST      = "/v1"   // HTTP+JSON, A2A 1.0
	pathJSONRPC03 = "/v0.3" // JSON-RPC, A2A 0.3
	pathREST03    = "/v0.3" // HTTP+JSON, A2A 0.3, which adds its own /v1
	pathCard      = "/.well-known/agent-card.json"
)

// Server serves one agent over HTTP: JSON-RPC 1.0 at /, HTTP+JSON 1.0 at /v1,
// JSON-RPC 0.3 at /v0.3, HTTP+JSON 0.3 at /v0.3/v1, and the agent card for both
// generations at /.well-known/agent-card.json. [Server.RegisterGRPC] adds
// gRPC 1.0. It is an http.Handler and safe for concurrent use; several can
// share one mux by [Prefix].
type Server struct {
	*Handler
	config *config
	mux    *http.ServeMux
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
	s := &Server{Handler: newHandler(c), config: c, mux: http.NewServeMux()}
	contain := a2asrv.WithTransportPanicHandler(c.hostPanic)
	handle := func(pattern string, h http.Handler) { s.mux.Handle(c.prefix+pattern, boundWrites(h, c.writeTimeout)) }
	below := func(path string, h http.Handler) http.Handler { return http.StripPrefix(c.prefix+path, h) }

	current := tidy(a2asrv.NewJSONRPCHandler(s.Handler, contain))
	old := tidy(a2av0.NewJSONRPCHandler(s.Handler, contain))
	handle(pathJSONRPC+"{$}", byMethod(current, old))
	handle(pathREST+"/", below(pathREST, tidy(a2asrv.NewRESTHandler(s.Handler, contain))))
	handle(pathJSONRPC03, old)
	handle(pathJSONRPC03+"/{$}", old)
	handle(pathREST03+"/v1/", below(pathREST03, protoNames(tidy(a2av0.NewRESTHandler(s.Handler, contain)))))
	handle(pathCard, http.HandlerFunc(s.serveCard))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Card gives the agent card that the server would serve below base, the
// scheme and host that clients reach it by. The card is the caller's.
func (s *Server) Card(base string) *a2a.AgentCard {
	c := s.config
	base = strings.TrimSuffix(base, "/") + c.prefix
	iface := func(url string, p a2a.TransportProtocol, v a2a.ProtocolVersion) *a2a.AgentInterface {
		return &a2a.AgentInterface{URL: url, ProtocolBinding: p, ProtocolVersion: v}
	}
	interfaces := []*a2a.AgentInterface{
		iface(base+pathJSONRPC, a2a.TransportProtocolJSONRPC, a2a.Version),
		iface(base+pathREST, a2a.TransportProtocolHTTPJSON, a2a.Version),
		iface(base+pathJSONRPC03, a2a.TransportProtocolJSONRPC, a2av0.Version),
		iface(base+pathREST03, a2a.TransportProtocolHTTPJSON, a2av0.Version),
	}
	if c.grpcAddr != "" {
		interfaces = append(interfaces, iface(c.grpcAddr, a2a.TransportProtocolGRPC, a2a.Version))
	}
	return &a2a.AgentCard{
		Name:                c.agent.Name(),
		Description:         c.agent.Description(),
		Version:             c.version,
		Capabilities:        *c.capabilities(),
		SupportedInterfaces: interfaces,
		DefaultInputModes:   slices.Clone(c.inputModes),
		DefaultOutputModes:  slices.Clone(c.outputModes),
		Skills:              c.cardSkills(),
	}
}

func (c *config) cardSkills() []a2a.AgentSkill {
	if len(c.skills) > 0 {
		return slices.Clone(c.skills)
	}
	return []a2a.AgentSkill{{
		ID: c.builder.Domain, Name: c.agent.Name(), Description: c.agent.Description(), Tags: []string{c.builder.Domain},
	}}
}

// serveCard serves the card with the addresses by which the client came,
// unless the server was told its own.
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request) {
	base := s.config.baseURL
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil {
			base = "https://" + r.Host
		}
		w.Header().Add("Vary", "Host")
	}
	a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(s.Card(base))).ServeHTTP(w, r)
}
