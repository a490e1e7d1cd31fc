package executor

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/errcode"
)

// exchange is what the two ends of the stack tell each other about one request,
// past the host's bindings in the middle: the edge (edge.go for HTTP,
// grpcedge.go) what it found out before the request was decoded, the handler
// which error became of it.
type exchange struct {
	edge      bool         // there is one, which tells the error by itself
	base      string       // by which address the client came, for the extended card
	caller    *a2asrv.User // nil where nobody has been authenticated
	checked   bool         // the fields of the request are known to be valid
	taskID    a2a.TaskID   // that the request names
	pageSize  int
	pageToken string
	nextPage  string         // that the answer is to name
	activated []string       // extensions
	whole     string         // JSON Pointer by which to name all of the parameters
	old       bool           // it is one of A2A 0.3
	card      *a2a.AgentCard // that is the answer

	reached atomic.Bool // the binding has decoded the request and called the handler
	failure atomic.Pointer[protocolError]
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeFrom gives the request's exchange, an empty one where no edge of ours
// has seen it.
func exchangeFrom(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// Extensions (A2A v1.0 section 4.6): a client names those it wants, one that
// the card declares is activated by being named, and the answer says which were.

// splitList takes the values of a header that may hold several, separated by
// commas, apart.
func splitList(values []string) []string {
	var out []string
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// activate gives those of the extensions asked for that the card declares. A
// required one that is not among them is refused.
func (c *config) activate(asked []string) ([]string, *protocolError) {
	var active, missing []string
	for _, e := range c.capabilities().Extensions {
		switch {
		case slices.Contains(asked, e.URI):
			active = append(active, e.URI)
		case e.Required:
			missing = append(missing, e.URI)
		}
	}
	if len(missing) > 0 {
		return nil, refuse(a2a.ErrExtensionSupportRequired,
			"The agent requires extensions that the request does not name: "+strings.Join(missing, ", ")+".")
	}
	return active, nil
}

// enter is where every request comes into the handler: it gives the host's call
// context what the edge found out, or finds it out where there was none.
func (c *config) enter(ctx context.Context, empty bool) (context.Context, error) {
	x := exchangeFrom(ctx)
	x.reached.Store(true)
	if empty {
		return ctx, refuse(a2a.ErrInvalidParams, "")
	}
	call, ok := a2asrv.CallContextFrom(ctx)
	switch {
	case !ok && x.caller == nil:
		return ctx, nil // a call within the process; the host makes one
	case !ok: // the host's gRPC binding makes none for the extended card
		ctx, call = a2asrv.NewCallContext(ctx, nil)
		call.User = x.caller
		return ctx, nil
	case x.caller == nil && c.guards():
		caller, err := c.authenticate(ctx, func(name string) []string {
			values, _ := call.ServiceParams().Get(name)
			return values
		})
		if err != nil {
			return ctx, err
		}
		x.caller = caller
	}
	if x.caller != nil {
		call.User = x.caller
	}
	active, refused := c.activate(splitList(call.Extensions().RequestedURIs()))
	if refused != nil {
		return ctx, refused
	}
	for _, uri := range active {
		call.Extensions().Activate(&a2a.AgentExtension{URI: uri})
	}
	return ctx, nil
}

// capabilities is what this server does, as the agent card says it.
func (c *config) capabilities() *a2a.AgentCapabilities {
	codes := make([]any, 0, len(errcode.Codes()))
	for _, code := range errcode.Codes() {
		codes = append(codes, string(code))
	}
	own := a2a.AgentExtension{
		URI:         errcode.ExtensionURI,
		Description: "A failed task's status message has a data part that names the failure's code, reason and whether to retry.",
		Params:      map[string]any{"schema": errcode.Schema, "errorCodes": codes},
	}
	return &a2a.AgentCapabilities{
		Streaming:         true,
		PushNotifications: c.push != nil,
		ExtendedAgentCard: c.extendedCard != nil,
		Extensions:        append([]a2a.AgentExtension{own}, c.extensions...),
	}
}
