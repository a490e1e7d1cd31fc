package executor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Card gives the agent card that the server would serve below base, the
// scheme and host that clients reach it by. The card is the caller's.
func (s *Server) Card(base string) *a2a.AgentCard {
	card, err := ownCard(s.config.card(base))
	if err != nil {
		return s.config.card(base) // not of what the options take
	}
	return card
}

// ownCard is a card that shares nothing with the server's.
func ownCard(card *a2a.AgentCard) (*a2a.AgentCard, error) {
	raw, err := json.Marshal(card)
	if err != nil {
		return nil, fmt.Errorf("copy card: %w", err)
	}
	out := &a2a.AgentCard{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("copy card: %w", err)
	}
	return out, nil
}

func (c *config) card(base string) *a2a.AgentCard {
	card := &a2a.AgentCard{
		Name:                c.agent.Name(),
		Description:         c.agent.Description(),
		Version:             c.version,
		Capabilities:        *c.capabilities(),
		SupportedInterfaces: c.interfaces(strings.TrimSuffix(base, "/") + c.prefix),
		DefaultInputModes:   slices.Clone(c.inputModes),
		DefaultOutputModes:  slices.Clone(c.outputModes),
		Skills:              c.cardSkills(),
	}
	if c.guards() {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{}
		for _, s := range c.schemes { // any one of them
			name := a2a.SecuritySchemeName(s.name)
			card.SecuritySchemes[name] = s.card
			card.SecurityRequirements = append(card.SecurityRequirements, a2a.SecurityRequirements{name: {}})
		}
	}
	return card
}

func (c *config) interfaces(base string) []*a2a.AgentInterface {
	iface := func(url string, p a2a.TransportProtocol, v a2a.ProtocolVersion) *a2a.AgentInterface {
		return &a2a.AgentInterface{URL: url, ProtocolBinding: p, ProtocolVersion: v}
	}
	out := []*a2a.AgentInterface{
		iface(base+c.paths.JSONRPC, a2a.TransportProtocolJSONRPC, a2a.Version),
		iface(base+c.paths.REST, a2a.TransportProtocolHTTPJSON, a2a.Version),
		iface(base+c.paths.JSONRPC03, a2a.TransportProtocolJSONRPC, a2av0.Version),
		iface(base+c.paths.REST03, a2a.TransportProtocolHTTPJSON, a2av0.Version),
	}
	if addr := c.grpcAt(base); addr != "" {
		out = append(out, iface(addr, a2a.TransportProtocolGRPC, a2a.Version), iface(addr, a2a.TransportProtocolGRPC, a2av0.Version))
	}
	return out
}

func (c *config) cardSkills() []a2a.AgentSkill {
	if len(c.skills) > 0 {
		return slices.Clone(c.skills)
	}
	return []a2a.AgentSkill{{
		ID: c.builder.Domain, Name: c.agent.Name(), Description: c.agent.Description(), Tags: []string{c.builder.Domain},
	}}
}

// serveCard serves the card, to any web page, with what caches need (A2A v1.0
// section 8.6).
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request) {
	c := s.config
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		c.answer(w, r).refuse(r, notAllowed(http.MethodGet, http.MethodHead))
		return
	}
	raw, err := cardJSON(r.Context(), c.card(c.baseOf(r)))
	if err != nil {
		c.answer(w, r).refuse(r, fmt.Errorf("encode card: %w", err))
		return
	}
	hash := sha256.Sum256(raw)
	h := w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int64(c.cardMaxAge.Seconds())))
	h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(hash[:12])+`"`)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag")
	if c.baseURL == "" {
		h.Add("Vary", "Host")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(raw))
}

// cardJSON is a card that clients of both generations can read.
func cardJSON(ctx context.Context, card *a2a.AgentCard) ([]byte, error) {
	producer, ok := a2av0.NewStaticAgentCardProducer(card).(a2asrv.AgentCardJSONProducer)
	if !ok {
		return nil, errors.New("the host's producer makes no JSON")
	}
	raw, err := producer.CardJSON(ctx)
	if err != nil {
		return nil, err
	}
	return bothGenerations(raw, card)
}

// bothGenerations completes the host's card, which has what is different in the
// form of 0.3: each security scheme is also what A2A 1.0 makes of it (section
// 4.5), a member named after its kind, which a parser of 0.3 passes over; and
// the main URL is among the additional interfaces, as 0.3 advises.
func bothGenerations(raw []byte, card *a2a.AgentCard) ([]byte, error) {
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	current, err := json.Marshal(card.SecuritySchemes)
	if err != nil {
		return nil, fmt.Errorf("security schemes: %w", err)
	}
	var schemes map[string]map[string]any
	if err := json.Unmarshal(current, &schemes); err != nil {
		return nil, fmt.Errorf("security schemes: %w", err)
	}
	both, _ := out["securitySchemes"].(map[string]any)
	for name, scheme := range both {
		if old, ok := scheme.(map[string]any); ok {
			maps.DeleteFunc(old, func(k string, v any) bool { // the host's own form of 1.0, under wrong names
				_, isObject := v.(map[string]any)
				return isObject && k != "flows"
			})
			maps.Copy(old, schemes[name])
		}
	}
	if url, ok := out["url"].(string); ok && url != "" {
		others, _ := out["additionalInterfaces"].([]any)
		out["additionalInterfaces"] = append([]any{map[string]any{"url": url, "transport": out["preferredTransport"]}}, others...)
	}
	return json.Marshal(out)
}
