package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"
	"unicode"
)

// Agent is another agent, to be called. It is safe for concurrent use by any
// number of runs.
type Agent struct {
	config
	host    string // of the source
	guess   string // at the agent's name, until its card is known
	dial    func(ctx context.Context) (*wire, error)
	circuit *circuit

	mu   sync.Mutex
	wire *wire // nil until it is known how to reach the agent
}

// New makes an agent of the address of its card, or of the address below which
// its card is at /.well-known/agent-card.json. The card is fetched with the
// first call, and with each until it is there, so agents can start in any
// order; then it is kept until [Agent.Close]. The error names every fault of the
// arguments.
func New(address string, opts ...Option) (*Agent, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		err = errors.New("address: expected an absolute http or https URL")
	}
	cfg, optErr := newConfig(opts)
	if err := errors.Join(err, optErr); err != nil {
		return nil, fmt.Errorf("remote agent: %w", err)
	}
	a := newAgent(cfg, u.Host)
	card := *u
	if !strings.HasSuffix(card.Path, ".json") {
		a.guess = tidyName(baseName(card.Path))
		card.Path = strings.TrimSuffix(card.Path, "/") + cardPath
		card.RawPath = ""
	}
	a.dial = func(ctx context.Context) (*wire, error) { return a.fetchCard(ctx, card.String()) }
	a.offer()
	return a, nil
}

const cardPath = "/.well-known/agent-card.json"

func newAgent(cfg config, host string) *Agent {
	return &Agent{config: cfg, host: host, circuit: newCircuit(cfg.failures, cfg.cooldown)}
}

// Close forgets the agent's card and lets go of connections that are idle. It is
// called when no call is under way; the next one begins anew.
func (a *Agent) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.wire
	if w == nil || w.given {
		return nil
	}
	a.wire = nil
	a.client.CloseIdleConnections()
	return w.client.Destroy()
}

// reach gives the way to the agent. One that was not found is looked for again
// with the next call. Of calls that look for it at once each does so by itself, and
// all keep to what the first has found.
func (a *Agent) reach(ctx context.Context) (*wire, error) {
	a.mu.Lock()
	w := a.wire
	a.mu.Unlock()
	if w != nil {
		return w, nil
	}
	w, err := a.dial(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wire == nil {
		a.wire = w
		return w, nil
	}
	_ = w.client.Destroy() // another call was faster
	return a.wire, nil
}

// Source is where the agent's failures happen: http:HOST/AGENT, by the name of
// the option [Name], else that of its card, else the end of its address.
func (a *Agent) Source() string {
	name := a.label()
	if name == "" {
		return "http:" + a.host
	}
	return "http:" + a.host + "/" + name
}

// identity is what the agent is called where that must never change, as the
// card's name may.
func (a *Agent) identity() string {
	if name := cmp.Or(a.name, a.guess); name != "" {
		return a.host + "/" + name
	}
	return a.host
}

// label is what the agent is called here.
func (a *Agent) label() string {
	if a.name != "" {
		return a.name
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wire != nil && a.wire.name != "" {
		return a.wire.name
	}
	return a.guess
}

func baseName(p string) string {
	if b := path.Base(p); b != "." && b != "/" {
		return b
	}
	return ""
}

const maxName = 100

// tidyName makes a name of a card's, which is anybody's, fit for a source.
func tidyName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	for len(name) > maxName {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:maxName], ""))
	}
	return name
}
