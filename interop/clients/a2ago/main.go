// Command a2ago drives the client of a2a-go v2, which speaks A2A 1.0 and, by
// its compatibility transports, 0.3.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2aext"
	grpc03 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpc10 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

func main() {
	headers := &wire.Headers{}
	d := &driver{base: os.Args[1], http: &http.Client{Transport: headers}, clients: map[string]*a2aclient.Client{}}
	wire.Fatal(wire.Serve(d.call, headers))
}

type driver struct {
	base    string
	http    *http.Client
	clients map[string]*a2aclient.Client // by binding and extension
}

// client makes the client that a card with only this binding leads to.
func (d *driver) client(ctx context.Context, binding, extension string) (*a2aclient.Client, error) {
	if c, ok := d.clients[binding+extension]; ok {
		return c, nil
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
	dial := grpc.WithTransportCredentials(insecure.NewCredentials())
	c, err := a2aclient.NewFromCard(ctx, card,
		a2aclient.WithJSONRPCTransport(d.http), a2aclient.WithRESTTransport(d.http), grpc10.WithGRPCTransport(dial),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: d.http}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: d.http}), grpc03.WithGRPCTransport(dial),
		a2aclient.WithCallInterceptors(a2aext.NewActivator(extension)))
	if err == nil {
		d.clients[binding+extension] = c
	}
	return c, err
}

func (d *driver) call(ctx context.Context, req wire.Request, keep func(wire.Event)) error {
	c, err := d.client(ctx, req.Binding, req.Extension)
	if err != nil {
		return err
	}
	return wire.Name(perform(ctx, c, req, keep), map[string]error{"ErrTaskNotFound": a2a.ErrTaskNotFound})
}

func perform(ctx context.Context, c *a2aclient.Client, req wire.Request, keep func(wire.Event)) error {
	msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(req.Text))
	msg.TaskID, msg.ContextID = a2a.TaskID(req.TaskID), req.ContextID
	params := &a2a.SendMessageRequest{Message: msg}
	keepTask := func(t *a2a.Task, err error) error {
		if err == nil {
			keep(event(t))
		}
		return err
	}
	switch req.Op {
	case "submit":
		params.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
		fallthrough
	case "send":
		res, err := c.SendMessage(ctx, params)
		if err == nil {
			keep(event(res))
		}
		return err
	case "get":
		return keepTask(c.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(req.TaskID)}))
	case "cancel":
		return keepTask(c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(req.TaskID)}))
	case "stream":
		return stream(ctx, c, params, req.Cancel, keep)
	}
	return fmt.Errorf("no operation %q", req.Op)
}

func stream(ctx context.Context, c *a2aclient.Client, params *a2a.SendMessageRequest, cancel bool, keep func(wire.Event)) error {
	var canceling sync.WaitGroup
	var canceled error
	for ev, err := range c.SendStreamingMessage(ctx, params) {
		if err != nil {
			return err
		}
		keep(event(ev))
		if cancel {
			cancel = false
			id := ev.TaskInfo().TaskID
			canceling.Go(func() { _, canceled = c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id}) })
		}
	}
	canceling.Wait()
	return canceled
}

func event(ev a2a.Event) wire.Event {
	info := ev.TaskInfo()
	out := wire.Event{TaskID: string(info.TaskID), ContextID: info.ContextID}
	status := func(s a2a.TaskStatus) {
		out.State = string(s.State)
		if s.Message != nil {
			out.Parts = parts(s.Message.Parts)
		}
	}
	switch v := ev.(type) {
	case *a2a.Task:
		out.Kind = "task"
		status(v.Status)
		for _, a := range v.Artifacts {
			out.Artifacts = append(out.Artifacts, artifact(a))
		}
	case *a2a.TaskStatusUpdateEvent:
		out.Kind = "status"
		status(v.Status)
	case *a2a.TaskArtifactUpdateEvent:
		out.Kind, out.Append, out.LastChunk = "artifact", v.Append, v.LastChunk
		out.Artifacts = []wire.Artifact{artifact(v.Artifact)}
	case *a2a.Message:
		out.Kind, out.Parts = "message", parts(v.Parts)
	default:
		out.Kind = fmt.Sprintf("%T", ev)
	}
	return out
}

func artifact(a *a2a.Artifact) wire.Artifact {
	return wire.Artifact{ID: string(a.ID), Name: a.Name, Parts: parts(a.Parts)}
}

func parts(in []*a2a.Part) []wire.Part {
	out := []wire.Part{}
	for _, p := range in {
		switch v := p.Content.(type) {
		case a2a.Text:
			out = append(out, wire.TextPart(string(v), p.Metadata))
		case a2a.Data:
			data := wire.DataPart(v.Value, p.Metadata)
			data.MediaType = p.MediaType
			out = append(out, data)
		default:
			out = append(out, wire.Part{Other: fmt.Sprintf("%T", v)})
		}
	}
	return out
}
