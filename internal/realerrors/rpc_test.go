package realerrors_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/a2aexec/a2aexec/errcode"
)

// rpcSamples are the codes of gRPC and connect, which have the same numbers.
var rpcSamples = []struct {
	grpc  codes.Code
	code  errcode.Code
	delay time.Duration
}{
	{codes.DeadlineExceeded, errcode.UpstreamTimeout, 0},
	{codes.Unavailable, errcode.UpstreamUnavailable, 0},
	{codes.ResourceExhausted, errcode.RateLimited, 0},
	{codes.ResourceExhausted, errcode.RateLimited, 1500 * time.Millisecond},
	{codes.Unauthenticated, errcode.AuthRequired, 0},
	{codes.PermissionDenied, errcode.AuthRequired, 0},
	{codes.NotFound, errcode.NotFound, 0},
	{codes.InvalidArgument, errcode.Internal, 0},
	{codes.Aborted, errcode.Internal, 0},
	{codes.Canceled, errcode.Internal, 0},
}

func retryInfo(d time.Duration) *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(d)}
}

func grpcErrors(t *testing.T) []sample {
	t.Helper()
	var samples []sample
	for i, s := range rpcSamples {
		st := status.New(s.grpc, "m")
		if s.delay > 0 {
			var err error
			if st, err = st.WithDetails(retryInfo(s.delay)); err != nil {
				t.Fatal(err)
			}
		}
		err := invoke(t.Context(), t, serveGRPC(t, func(any, grpc.ServerStream) error { return st.Err() }))
		samples = append(samples, sample{
			fmt.Sprintf("%d %s", i, s.grpc), err, want{s.code, "grpc_error", false, s.delay.Milliseconds()},
		})
	}
	hang := serveGRPC(t, func(_ any, s grpc.ServerStream) error { <-s.Context().Done(); return nil })
	return append(samples,
		sample{"refused", invoke(t.Context(), t, refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "grpc_error"}},
		sample{"deadline of the client", invoke(soon(t), t, hang), want{code: errcode.UpstreamTimeout, reason: "grpc_error"}},
	)
}

func serveGRPC(t *testing.T, handler grpc.StreamHandler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnknownServiceHandler(handler))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func invoke(ctx context.Context, t *testing.T, addr string) error {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.Invoke(ctx, "/s.S/M", &emptypb.Empty{}, &emptypb.Empty{})
}

func connectErrors(t *testing.T) []sample {
	t.Helper()
	var samples []sample
	for i, s := range rpcSamples {
		url := serveConnect(t, func(context.Context) error {
			err := connect.NewError(connect.Code(s.grpc), fmt.Errorf("m"))
			if s.delay > 0 {
				detail, problem := connect.NewErrorDetail(retryInfo(s.delay))
				if problem != nil {
					return problem
				}
				err.AddDetail(detail)
			}
			return err
		})
		samples = append(samples, sample{
			fmt.Sprintf("%d %s", i, s.grpc), callConnect(t.Context(), url), want{s.code, "connect_error", false, s.delay.Milliseconds()},
		})
	}
	stop := make(chan struct{})
	hang := serveConnect(t, func(ctx context.Context) error { <-stop; return ctx.Err() })
	t.Cleanup(func() { close(stop) })
	busy := serveConnect(t, func(context.Context) error {
		err := connect.NewError(connect.CodeUnavailable, fmt.Errorf("m"))
		err.Meta().Set("Retry-After", "9")
		return err
	})
	return append(samples,
		sample{"header", callConnect(t.Context(), busy), want{errcode.UpstreamUnavailable, "connect_error", false, 9000}},
		sample{"refused", callConnect(t.Context(), "http://"+refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "connect_error"}},
		sample{"deadline of the client", callConnect(soon(t), hang), want{code: errcode.UpstreamTimeout, reason: "connect_error"}},
	)
}

func serveConnect(t *testing.T, fail func(context.Context) error) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/s.S/M", connect.NewUnaryHandler("/s.S/M",
		func(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
			return nil, fail(ctx)
		}))
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func callConnect(ctx context.Context, url string) error {
	client := connect.NewClient[emptypb.Empty, emptypb.Empty](http.DefaultClient, url+"/s.S/M")
	_, err := client.CallUnary(ctx, connect.NewRequest(&emptypb.Empty{}))
	return err
}
