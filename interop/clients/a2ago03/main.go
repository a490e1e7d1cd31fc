// Command a2ago03 drives the client of a2a-go v0.3, which speaks A2A 0.3.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/a2aext"
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

// client makes a client that speaks this binding only; it finds the address in
// the card by itself.
func (d *driver) client(ctx context.Context, binding, extension string) (*a2aclient.Client, error) {
	if c, ok := d.clients[binding+extension]; ok {
		return c, nil
	}
	card, err := agentcard.DefaultResolver.Resolve(ctx, d.base)
	if err != nil {
		return nil, err
	}
	transport := a2aclient.WithJSONRPCTransport(d.http)
	if strings.HasSuffix(binding, "gRPC") {
		transport = a2aclient.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	c, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(), transport,
		a2aclient.WithInterceptors(a2aext.NewActivator(extension)))
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
	msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: req.Text})
	msg.TaskID, msg.ContextID = a2a.TaskID(req.TaskID), req.ContextID
	params := &a2a.MessageSendParams{Message: msg}
	keepTask := func(t *a2a.Task, err error) error {
		if err == nil {
			keep(event(t))
		}
		return err
	}
	switch req.Op {
	case "send", "submit":
		blocking := req.Op == "send"
		params.Config = &a2a.MessageSendConfig{Blocking: &blocking}
		res, err := c.SendMessage(ctx, params)
		if err == nil {
			keep(event(res))
		}
		return err
	case "get":
		return keepTask(c.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(req.TaskID)}))
	case "cancel":
		return keepTask(c.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(req.TaskID)}))
	case "stream":
		return stream(ctx, c, params, req.Cancel, keep)
	}
	return fmt.Errorf("no operation %q", req.Op)
}

func stream(ctx context.Context, c *a2aclient.Client, params *a2a.MessageSendParams, cancel bool, keep func(wire.Event)) error {
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
			canceling.Go(func() { _, canceled = c.CancelTask(ctx, &a2a.TaskIDParams{ID: id}) })
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
		out.Kind, out.Final = "status", &v.Final
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

func parts(in a2a.ContentParts) []wire.Part {
	out := []wire.Part{}
	for _, p := range in {
		switch v := p.(type) {
		case a2a.TextPart:
			out = append(out, wire.TextPart(v.Text, v.Metadata))
		case a2a.DataPart:
			out = append(out, wire.DataPart(v.Data, v.Metadata))
		default:
			out = append(out, wire.Part{Other: fmt.Sprintf("%T", v)})
		}
	}
	return out
}
