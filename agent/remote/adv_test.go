package remote_test

import (
	"context"
	"testing"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

func TestAdvAuthChain(t *testing.T) {
	back := serve(t, streaming("back", func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		v, err := hitl.Ask[map[string]any](ctx, "k", "Sign in.", hitl.Auth("oauth2", "read", "write"), hitl.AuthURL("https://login.example/"), hitl.AuthProvider("prov"), hitl.Payload(map[string]any{"extra": 1}))
		if err != nil {
			return nil, err
		}
		return nil, w.Text(v["token"].(string))
	}))
	b := to(t, back.url)
	middle := serve(t, streaming("middle", func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		_, err := b.Stream(ctx, remote.Text("x"))
		return nil, err
	}))
	front := serve(t, agent.New("front", agent.Stream(to(t, middle.url).Handle)))
	for _, s := range []served{back, middle, front} {
		k := s.talk(t)
		task := k.say("x")
		t.Log(task.Status.State)
		for _, p := range task.Status.Message.Parts {
			t.Logf("   %v %v %v", p.Content, p.Metadata, p.MediaType)
		}
	}
}
