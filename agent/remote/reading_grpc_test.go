package remote_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/executor"
)

// TestStreamBreaksOverGRPC: a real agent's stream breaks after its first text, and
// reading its task fails twice; nothing is lost, or cancelled.
func TestStreamBreaksOverGRPC(t *testing.T) {
	t.Parallel()
	bank := &slowBank{goOn: make(chan struct{})}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := executor.NewServer(streaming("bank", bank.run), quiet, executor.GRPCAddr(l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	away := grpcstatus.Error(codes.Unavailable, "no upstream")
	var reads, cancels, follows atomic.Int32
	gs := grpc.NewServer(
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			switch {
			case strings.HasSuffix(info.FullMethod, "/CancelTask"):
				cancels.Add(1)
			case strings.HasSuffix(info.FullMethod, "/GetTask") && reads.Add(1) <= 2:
				return nil, away
			}
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if strings.HasSuffix(info.FullMethod, "/SubscribeToTask") {
				follows.Add(1)
				close(bank.goOn)
				return next(srv, s)
			}
			_ = next(srv, &cutStream{ServerStream: s, err: away})
			return away
		}))
	srv.RegisterGRPC(gs)
	go func() { _ = gs.Serve(l) }()
	t.Cleanup(gs.Stop)
	a, err := remote.FromCard(&a2a.AgentCard{
		Name: "bank", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{{URL: l.Addr().String(), ProtocolBinding: a2a.TransportProtocolGRPC, ProtocolVersion: a2a.Version}},
	}, remote.GRPC(grpc.WithTransportCredentials(insecure.NewCredentials())), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	answer, err := a.Call(t.Context(), remote.Text("pay 100"))
	if err != nil || answer.Text() != `one two {"n":1}three` {
		t.Errorf("got %q, %v", answer.Text(), err)
	}
	if reads.Load() != 3 || follows.Load() != 1 || cancels.Load() != 0 || bank.runs.Load() != 1 {
		t.Errorf("%d reads, %d subscriptions, %d cancels, %d runs", reads.Load(), follows.Load(), cancels.Load(), bank.runs.Load())
	}
}

// cutStream fails after the first artifact.
type cutStream struct {
	grpc.ServerStream
	err error
	cut bool
}

func (s *cutStream) SendMsg(m any) error {
	if s.cut {
		return s.err
	}
	res, ok := m.(*a2apb.StreamResponse)
	s.cut = ok && res.GetArtifactUpdate() != nil
	err := s.ServerStream.SendMsg(m)
	if s.cut {
		return s.err
	}
	return err
}
