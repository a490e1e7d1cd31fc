// Command adk drives a remote agent of adk-go, which hides A2A behind the
// events of a session: what it replies is what an author who uses the remote
// agent sees. It is a module of its own, outside the workspace, since it asks
// for a newer Go than the rest.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2aext"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/remoteagent/v2"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/server/adka2a/v2"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

func main() {
	headers := &wire.Headers{}
	d := &driver{
		base: os.Args[1], http: &http.Client{Transport: headers},
		runners: map[string]*runner.Runner{}, sessions: map[string]string{},
	}
	wire.Fatal(wire.Serve(d.call, headers))
}

type driver struct {
	base     string
	http     *http.Client
	runners  map[string]*runner.Runner // by binding and extension
	sessions map[string]string         // by context
	begun    int                       // sessions
}

// runner makes a runner of the remote agent that a card with only this binding
// leads to.
func (d *driver) runner(ctx context.Context, binding, extension string) (*runner.Runner, error) {
	if r, ok := d.runners[binding+extension]; ok {
		return r, nil
	}
	card, err := agentcard.DefaultResolver.Resolve(ctx, d.base)
	if err != nil {
		return nil, err
	}
	version, name, _ := strings.Cut(binding, " ")
	protocol := map[string]a2a.TransportProtocol{
		"JSON-RPC": a2a.TransportProtocolJSONRPC, "HTTP+JSON": a2a.TransportProtocolHTTPJSON, "gRPC": a2a.TransportProtocolGRPC,
	}[name]
	card.SupportedInterfaces = slices.DeleteFunc(card.SupportedInterfaces, func(i *a2a.AgentInterface) bool {
		return i.ProtocolBinding != protocol || string(i.ProtocolVersion) != version
	})
	remote, err := remoteagent.NewA2A(remoteagent.A2AConfig{
		Name: "remote", AgentCard: card,
		ClientProvider: remoteagent.NewA2AClientProvider(a2aclient.NewFactory(
			a2aclient.WithJSONRPCTransport(d.http), a2aclient.WithRESTTransport(d.http),
			a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())),
			a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: d.http}),
			a2aclient.WithCallInterceptors(a2aext.NewActivator(extension)))),
	})
	if err != nil {
		return nil, err
	}
	r, err := runner.NewInMemory("interop", remote)
	if err == nil {
		d.runners[binding+extension] = r
	}
	return r, err
}

func (d *driver) call(ctx context.Context, req wire.Request, keep func(wire.Event)) error {
	r, err := d.runner(ctx, req.Binding, req.Extension)
	if err != nil {
		return err
	}
	cfg := agent.RunConfig{StreamingMode: agent.StreamingModeNone}
	switch req.Op {
	case "send":
	case "stream":
		cfg.StreamingMode = agent.StreamingModeSSE
	default:
		return fmt.Errorf("a remote agent has no operation %q", req.Op)
	}
	sessionID, ok := d.sessions[req.ContextID]
	if !ok {
		d.begun++
		sessionID = fmt.Sprintf("session-%d", d.begun)
	}
	for ev, err := range r.Run(ctx, "user", sessionID, genai.NewContentFromText(req.Text, genai.RoleUser), cfg) {
		if err != nil {
			return err
		}
		out := event(ev)
		if out.ContextID != "" {
			d.sessions[out.ContextID] = sessionID
		}
		if out.Kind != "piece" {
			keep(out)
		}
		if req.Cancel {
			break // the remote agent cancels a task that its caller leaves
		}
	}
	return nil
}

// event is what a session's event says: "session" for one of the conversation,
// "thought" for a status on the way, "piece" for a piece of an artifact that
// comes again as a whole. The task's state is only in the A2A event that it
// came of, kept in the metadata.
func event(ev *session.Event) wire.Event {
	taskID, contextID := adka2a.GetA2ATaskInfo(ev)
	out := wire.Event{Kind: "session", TaskID: string(taskID), ContextID: contextID, Failure: ev.ErrorMessage}
	response, _ := ev.CustomMetadata[adka2a.ToADKMetaKey("response")].(map[string]any)
	status, isStatus := response["status"].(map[string]any)
	out.State, _ = status["state"].(string)
	switch {
	case ev.Partial && isStatus:
		out.Kind = "thought"
	case ev.Partial:
		out.Kind = "piece"
	}
	if ev.Content == nil {
		return out
	}
	for _, p := range ev.Content.Parts {
		out.Parts = append(out.Parts, part(p))
	}
	return out
}

var opening, closing = []byte("<a2a_datapart_json>"), []byte("</a2a_datapart_json>")

func part(p *genai.Part) wire.Part {
	if p.InlineData == nil {
		return wire.TextPart(p.Text, nil)
	}
	data, wrapped := bytes.CutPrefix(p.InlineData.Data, opening)
	if !wrapped {
		return wire.Part{Other: p.InlineData.MIMEType}
	}
	return wire.Part{Data: bytes.TrimSuffix(data, closing), Other: "inline " + p.InlineData.MIMEType}
}
