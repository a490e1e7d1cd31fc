package executor

import (
	oldpb "github.com/a2aproject/a2a-go/a2apb"
	oldgrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
)

// RegisterGRPC adds the services of A2A 1.0 and 0.3 to a gRPC server, which the
// caller serves and stops. What is larger than that server's own limit for a
// message, 4 MiB by default, gRPC refuses by itself, with RESOURCE_EXHAUSTED and
// without details: give it grpc.MaxRecvMsgSize of [MaxBodyBytes], as [Serve]
// does, where clients may send as much.
func (s *Server) RegisterGRPC(g *grpc.Server) {
	h := objectData{s.Handler}
	g.RegisterService(grpcEdge{s.config, version10}.wrap(a2apb.A2AService_ServiceDesc), a2agrpc.NewHandler(h))
	g.RegisterService(grpcEdge{s.config, version03}.wrap(oldpb.A2AService_ServiceDesc), oldgrpc.NewHandler(h))
}
