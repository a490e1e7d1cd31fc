// Command trpc drives the client of trpc-a2a-go, which speaks A2A 0.3 over
// JSON-RPC.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"go.uber.org/zap"
	"trpc.group/trpc-go/trpc-a2a-go/client"
	trpclog "trpc.group/trpc-go/trpc-a2a-go/log"
	"trpc.group/trpc-go/trpc-a2a-go/protocol"
	"trpc.group/trpc-go/trpc-a2a-go/server"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

func main() {
	trpclog.Default = zap.NewNop().Sugar() // which writes to standard output
	headers := &wire.Headers{}
	httpClient := &http.Client{Transport: headers}
	address, err := address(httpClient, os.Args[1])
	wire.Fatal(err)
	c, err := client.NewA2AClient(address, client.WithHTTPClient(httpClient))
	wire.Fatal(err)
	wire.Fatal(wire.Serve(driver{c}.call, headers))
}

// address reads the agent's own from its card, in the library's type of it:
// the client has no resolver.
func address(c *http.Client, base string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+protocol.AgentCardPath, nil)
	if err != nil {
		return "", err
	}
	res, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	var card server.AgentCard
	if err := json.NewDecoder(res.Body).Decode(&card); err != nil {
		return "", fmt.Errorf("decode the card: %w", err)
	}
	return card.URL, nil
}

type driver struct{ *client.A2AClient }

func (d driver) call(ctx context.Context, req wire.Request, keep func(wire.Event)) error {
	params := protocol.SendMessageParams{
		Message: protocol.NewMessage(protocol.MessageRoleUser, []protocol.Part{protocol.NewTextPart(req.Text)}),
	}
	if req.TaskID != "" {
		params.Message.TaskID, params.Message.ContextID = &req.TaskID, &req.ContextID
	}
	var opts []client.RequestOption
	if req.Extension != "" {
		opts = append(opts, client.WithRequestHeader("X-A2A-Extensions", req.Extension))
	}
	keepTask := func(t *protocol.Task, err error) error {
		if err == nil {
			keep(event(t))
		}
		return named(err)
	}
	switch req.Op {
	case "send", "submit":
		blocking := req.Op == "send"
		params.Configuration = &protocol.SendMessageConfiguration{Blocking: &blocking}
		res, err := d.SendMessage(ctx, params, opts...)
		if err == nil {
			keep(event(res.Result))
		}
		return named(err)
	case "get":
		return keepTask(d.GetTasks(ctx, protocol.TaskQueryParams{ID: req.TaskID}, opts...))
	case "cancel":
		return keepTask(d.CancelTasks(ctx, protocol.TaskIDParams{ID: req.TaskID}, opts...))
	case "stream":
		return d.stream(ctx, params, req.Cancel, opts, keep)
	}
	return fmt.Errorf("no operation %q", req.Op)
}

// named recognises the error as a program must: its type is internal, so only
// its text has the code.
func named(err error) error {
	if err != nil && strings.Contains(err.Error(), "jsonrpc error -32001") {
		return wire.NamedError{Name: "jsonrpc error -32001", Err: err}
	}
	return err
}

func (d driver) stream(
	ctx context.Context, params protocol.SendMessageParams, cancel bool, opts []client.RequestOption, keep func(wire.Event),
) error {
	events, err := d.StreamMessage(ctx, params, opts...)
	if err != nil {
		return err
	}
	var canceling sync.WaitGroup
	var canceled error
	for ev := range events {
		e := event(ev.Result)
		keep(e)
		if cancel {
			cancel = false
			canceling.Go(func() { _, canceled = d.CancelTasks(ctx, protocol.TaskIDParams{ID: e.TaskID}) })
		}
	}
	canceling.Wait()
	return canceled
}

func event(result any) wire.Event {
	var out wire.Event
	status := func(s protocol.TaskStatus) {
		out.State = string(s.State)
		if s.Message != nil {
			out.Parts = parts(s.Message.Parts)
		}
	}
	switch v := result.(type) {
	case *protocol.Task:
		out.Kind, out.TaskID, out.ContextID = "task", v.ID, v.ContextID
		status(v.Status)
		for _, a := range v.Artifacts {
			out.Artifacts = append(out.Artifacts, artifact(a))
		}
	case *protocol.TaskStatusUpdateEvent:
		out.Kind, out.TaskID, out.ContextID, out.Final = "status", v.TaskID, v.ContextID, &v.Final
		status(v.Status)
	case *protocol.TaskArtifactUpdateEvent:
		out.Kind, out.TaskID, out.ContextID = "artifact", v.TaskID, v.ContextID
		out.Append, out.LastChunk = v.Append != nil && *v.Append, v.LastChunk != nil && *v.LastChunk
		out.Artifacts = []wire.Artifact{artifact(v.Artifact)}
	case *protocol.Message:
		out.Kind, out.Parts = "message", parts(v.Parts)
	default:
		out.Kind = fmt.Sprintf("%T", result)
	}
	return out
}

func artifact(a protocol.Artifact) wire.Artifact {
	out := wire.Artifact{ID: a.ArtifactID, Parts: parts(a.Parts)}
	if a.Name != nil {
		out.Name = *a.Name
	}
	return out
}

func parts(in []protocol.Part) []wire.Part {
	out := []wire.Part{}
	for _, p := range in {
		switch v := p.(type) {
		case *protocol.TextPart:
			out = append(out, wire.TextPart(v.Text, v.Metadata))
		case *protocol.DataPart:
			out = append(out, wire.DataPart(v.Data, v.Metadata))
		default:
			out = append(out, wire.Part{Other: fmt.Sprintf("%T", v)})
		}
	}
	return out
}
