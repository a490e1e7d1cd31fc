package remote_test

import (
	"context"
	"errors"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/stream"
)

// labelled writes what has metadata, and tells what its request had.
func labelled(_ context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	a := w.NewArtifact("report", stream.Description("of today"), stream.Metadata(map[string]any{"lang": "en", "pages": 2}))
	err := errors.Join(
		a.Text("draft: "), a.Text("of "),
		a.Part(stream.TextPart("today").WithMetadata(map[string]any{"bold": true})),
		a.Part(stream.DataPart([]any{"x"}).WithMetadata(map[string]any{"unit": "EUR"})),
		a.Part(stream.FilePart(stream.File{Name: "f", URI: "https://files.example/f"}).WithMetadata(map[string]any{"ttl": 5})),
		a.Text("."), a.Close())
	told := map[string]any{"message": req.Message().Metadata["trace"], "part": req.Message().Parts[0].Metadata["from"]}
	return agent.Artifacts(agent.Artifact{Name: "told", Metadata: told, Parts: []stream.Part{stream.TextPart("x")}}), err
}

// seen is what a client can see of a task's artifacts.
func seen(task *a2a.Task) []any {
	var out []any
	for _, a := range task.Artifacts {
		var parts []any
		for _, p := range a.Parts {
			parts = append(parts, []any{p.Content, p.Metadata})
		}
		out = append(out, []any{a.Name, a.Description, a.Metadata, parts})
	}
	return out
}

// TestMetadataPassesThrough: a client of an agent that stands in front of another
// sees the metadata that it would see of that, and so does the other of its client.
func TestMetadataPassesThrough(t *testing.T) {
	t.Parallel()
	back := serve(t, streaming("back", labelled))
	ask := func(t *testing.T, s served) *a2a.Task {
		t.Helper()
		k := s.talk(t)
		part := a2a.NewTextPart("go")
		part.Metadata = map[string]any{"from": "phone"}
		m := k.message(part)
		m.Message.Metadata = map[string]any{"trace": "7"}
		res, err := k.client.SendMessage(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		task, _ := res.(*a2a.Task)
		return task
	}
	want := seen(ask(t, back))
	if len(want) != 2 {
		t.Fatalf("got %v", want)
	}
	polled := behind(t, &balancer{url: back.url}, false)
	overRPC := to(t, back.url, remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials())), only(a2a.TransportProtocolGRPC))
	old, err := remote.FromCard(&a2a.AgentCard{Name: "old", Capabilities: a2a.AgentCapabilities{Streaming: true}, SupportedInterfaces: []*a2a.AgentInterface{
		{URL: back.url + "/v0.3", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
	}}, remote.HTTPClient(newClient(t)))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*remote.Agent{
		"JSON-RPC": to(t, back.url), "HTTP+JSON": to(t, back.url, only(a2a.TransportProtocolHTTPJSON)), "gRPC": overRPC, "polled": polled, "0.3": old,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, seen(ask(t, serve(t, streaming("front", a.Handle))))); diff != "" {
				t.Errorf("through one hop (-want +got):\n%s", diff)
			}
			collecting := invoking("front", func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
				part := stream.TextPart("go").WithMetadata(map[string]any{"from": "phone"})
				answer, err := a.Call(ctx, remote.Message{Parts: []stream.Part{part}, Metadata: req.Message().Metadata})
				return answer.Result(), err
			})
			if diff := cmp.Diff(want, seen(ask(t, serve(t, collecting)))); diff != "" {
				t.Errorf("of a call (-want +got):\n%s", diff)
			}
		})
	}
}

// only has the agent called by one protocol.
func only(p a2a.TransportProtocol) remote.Option {
	return remote.ClientOptions(a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{p}}))
}

// TestMetadataOfOddAnswers: a message's metadata is that of its artifact; what
// comes late is in the answer; a text that is told again keeps its own.
func TestMetadataOfOddAnswers(t *testing.T) {
	t.Parallel()
	const labelled = `{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a","metadata":{"n":1},"parts":[{"text":"one","metadata":{"b":1}}]}}}`
	const snapshot = `{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","metadata":{"n":1,"late":true},"parts":[{"text":"one two","metadata":{"b":1}}]}]}}`
	for name, tc := range map[string]struct {
		events []string
		want   agent.Artifact
	}{
		"a message": {
			[]string{`{"message":{"messageId":"m","role":"ROLE_AGENT","metadata":{"k":"v"},"parts":[{"text":"hi"}]}}`},
			agent.Artifact{Parts: []stream.Part{stream.TextPart("hi")}, Metadata: map[string]any{"k": "v"}},
		},
		"what comes late": {[]string{atWork, labelled, snapshot}, agent.Artifact{
			Parts: []stream.Part{
				stream.TextPart("one").WithMetadata(map[string]any{"b": 1}), stream.TextPart(" two").WithMetadata(map[string]any{"b": 1}),
			},
			Metadata: map[string]any{"n": 1.0, "late": true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := to(t, answering(t, streams(tc.events...)).url).Call(t.Context(), remote.Text("x"))
			if diff := cmp.Diff([]agent.Artifact{tc.want}, answer.Artifacts, cmp.AllowUnexported(stream.Part{})); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
