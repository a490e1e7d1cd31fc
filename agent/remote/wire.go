package remote

// How agents are reached. Only this file and bridge.go know a2a types.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// FromCard is [New] for a card that the caller has. It must not be changed.
func FromCard(card *a2a.AgentCard, opts ...Option) (*Agent, error) {
	cfg, err := newConfig(opts)
	if card == nil {
		err = errors.Join(errors.New("card: expected a card, got nil"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("remote agent: %w", err)
	}
	a := newAgent(cfg, hostOf(card))
	a.guess = tidyName(card.Name)
	a.dial = func(ctx context.Context) (*wire, error) { return a.connect(ctx, card) }
	a.offer()
	return a, nil
}

// FromClient makes an agent of a client of the caller's, who keeps it. The name
// is what its failures' source is made of, "agents.example.com/bank". Limits and
// errors of HTTP are the client's: of the options, HTTPClient, GRPC and
// ClientOptions have no effect.
func FromClient(c *a2aclient.Client, name string, opts ...Option) (*Agent, error) {
	cfg, err := newConfig(opts)
	if c == nil {
		err = errors.Join(errors.New("client: expected a client, got nil"), err)
	}
	if name == "" || tidyName(name) != name {
		err = errors.Join(fmt.Errorf("name %q: expected printable text of at most %d bytes", name, maxName), err)
	}
	if err != nil {
		return nil, fmt.Errorf("remote agent: %w", err)
	}
	a := newAgent(cfg, name)
	w := &wire{client: c, given: true, streams: true}
	a.dial = func(context.Context) (*wire, error) { return w, nil }
	a.offer()
	return a, nil
}

func hostOf(card *a2a.AgentCard) string {
	for _, i := range card.SupportedInterfaces {
		if i == nil {
			continue
		}
		if host := hostIn(i.URL); host != "" {
			return host
		}
	}
	return "unknown"
}

// hostIn gives the host of a URL, or of a target of gRPC, which may have no scheme.
func hostIn(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	target := address[strings.LastIndex(address, "/")+1:]
	if host, _, err := net.SplitHostPort(target); err != nil || host == "" {
		return ""
	}
	return tidyName(target)
}

// wire is a way to a remote agent.
type wire struct {
	client  *a2aclient.Client
	name    string // the card's
	given   bool   // the caller's own client
	streams bool
}

// errCard says what is wrong with a card.
var errCard = errors.New("the agent's card cannot be used")

func (a *Agent) fetchCard(ctx context.Context, address string) (*wire, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch card: unexpected HTTP status: %s", res.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxCard+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxCard {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errCard, maxCard)
	}
	card, err := parseCard(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCard, err)
	}
	return a.connect(ctx, card)
}

const maxCard = 4 << 20

// parseCard reads a card of either generation.
func parseCard(raw []byte) (*a2a.AgentCard, error) {
	card, err := a2av0.NewAgentCardParser()(raw)
	if err != nil {
		return nil, err
	}
	if len(card.SupportedInterfaces) > 0 {
		return card, nil
	}
	var old struct{ URL string } // 0.3: without a preferred transport it is JSON-RPC
	if err := json.Unmarshal(raw, &old); err == nil && old.URL != "" {
		card.SupportedInterfaces = []*a2a.AgentInterface{{
			URL: old.URL, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version,
		}}
	}
	return card, nil
}

// connect makes a client for the card.
func (a *Agent) connect(ctx context.Context, card *a2a.AgentCard) (*wire, error) {
	usable := *card
	usable.SupportedInterfaces = slices.DeleteFunc(slices.Clone(card.SupportedInterfaces), func(i *a2a.AgentInterface) bool { return i == nil })
	opts := []a2aclient.FactoryOption{
		a2aclient.WithJSONRPCTransport(a.client), a2aclient.WithRESTTransport(a.client),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: a.client}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: a.client}),
	}
	if a.withGRPC {
		opts = append(opts, a2agrpc.WithGRPCTransport(append([]grpc.DialOption{
			grpc.WithChainUnaryInterceptor(noteUnary), grpc.WithChainStreamInterceptor(noteStream),
			grpc.WithStatsHandler(deliveries{}),
		}, a.grpc...)...))
	}
	client, err := a2aclient.NewFromCard(ctx, &usable, append(opts, a.factory...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCard, err)
	}
	return &wire{client: client, name: tidyName(card.Name), streams: card.Capabilities.Streaming}, nil
}

// withParams adds what goes along with each request of a call.
func withParams(ctx context.Context, params map[string]string) context.Context {
	sent := a2aclient.ServiceParams{}
	for k, v := range params {
		sent[k] = []string{v}
	}
	return a2aclient.AttachServiceParams(ctx, sent)
}

// send sends a message, to the task where it has an id, and gives what follows.
func (w *wire) send(ctx context.Context, m outgoing) iter.Seq2[event, error] {
	return events(w.client.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: m.message()}))
}

// start sends a message and gives the first of what follows, for [wire.get] to
// go on with. Nobody looks at a task's history here, which may be long.
func (w *wire) start(ctx context.Context, m outgoing) (event, error) {
	return contained(func() (event, error) {
		res, err := w.client.SendMessage(ctx, &a2a.SendMessageRequest{
			Message: m.message(), Config: &a2a.SendMessageConfig{ReturnImmediately: true, HistoryLength: new(int)},
		})
		if err != nil {
			return event{}, err
		}
		return eventOf(res)
	})
}

// follow gives what follows of a task that is at work.
func (w *wire) follow(ctx context.Context, task string) iter.Seq2[event, error] {
	return events(w.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(task)}))
}

func (w *wire) get(ctx context.Context, task string) (event, error) {
	return contained(func() (event, error) {
		t, err := w.client.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(task), HistoryLength: new(int)})
		if err != nil {
			return event{}, err
		}
		return eventOf(t)
	})
}

func (w *wire) cancel(ctx context.Context, task string) error {
	_, err := contained(func() (*a2a.Task, error) {
		return w.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(task)})
	})
	return err
}

// unsupported reports whether the agent says that it cannot do what was asked
// of it, such as to stream.
func unsupported(err error) bool {
	return errors.Is(err, a2a.ErrUnsupportedOperation) || errors.Is(err, a2a.ErrMethodNotFound)
}

// hasEnded reports whether the agent says that a task has ended.
func hasEnded(err error) bool { return errors.Is(err, a2a.ErrTaskNotCancelable) }

// speaksA2A reports whether the remote itself said what err is.
func speaksA2A(err error) bool {
	if fromA2A(err) {
		return true
	}
	_, ok := errtree.As[*errcode.Error](err)
	return ok
}

// fromA2A reports whether err came as an error of the protocol.
func fromA2A(err error) bool {
	_, ok := errtree.As[*a2a.Error](err)
	return ok
}
