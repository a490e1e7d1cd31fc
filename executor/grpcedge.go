package executor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/internal/schema"
)

// grpcEdge stands in front of the host's gRPC bindings, as edge.go does in
// front of those for HTTP: the same refusals in the same order, but for paths
// and bodies, which are gRPC's own.
type grpcEdge struct {
	*config
	version string
}

// wrap gives the service's methods the edge.
func (e grpcEdge) wrap(desc grpc.ServiceDesc) *grpc.ServiceDesc {
	methods, streams := desc.Methods, desc.Streams
	desc.Methods = make([]grpc.MethodDesc, len(methods))
	for i, m := range methods {
		desc.Methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: e.unary(m)}
	}
	desc.Streams = make([]grpc.StreamDesc, len(streams))
	for i, st := range streams {
		desc.Streams[i] = st
		desc.Streams[i].Handler = e.stream(st)
	}
	return &desc
}

func (e grpcEdge) unary(m grpc.MethodDesc) grpc.MethodHandler {
	return func(srv any, ctx context.Context, dec func(any) error, in grpc.UnaryServerInterceptor) (res any, err error) {
		ctx, x, refused := e.admit(ctx)
		if refused != nil {
			return nil, e.status(ctx, x, refused)
		}
		err = e.contained(ctx, x, func() (err error) {
			res, err = m.Handler(srv, ctx, e.decoder(x, m.MethodName, dec), in)
			return err
		})
		nameNextPage(res, x.nextPage)
		return res, e.status(ctx, x, err)
	}
}

func (e grpcEdge) stream(d grpc.StreamDesc) grpc.StreamHandler {
	return func(srv any, ss grpc.ServerStream) (err error) {
		ctx, x, refused := e.admit(ss.Context())
		if refused != nil {
			return e.status(ctx, x, refused)
		}
		bound := &boundStream{ServerStream: ss, limit: e.writeTimeout}
		err = e.contained(ctx, x, func() error {
			return d.Handler(srv, edgeStream{bound, ctx, e.decoder(x, d.StreamName, ss.RecvMsg)})
		})
		if bound.late.Load() { // the binding has wrapped the error
			return e.tell(ctx, x.taskID, errTooSlow).GRPCStatus().Err()
		}
		return e.status(ctx, x, err)
	}
}

// nameNextPage restores what the host's binding drops of a list of configs.
func nameNextPage(res any, token string) {
	m, ok := res.(proto.Message)
	if !ok || token == "" {
		return
	}
	if field := m.ProtoReflect().Descriptor().Fields().ByName("next_page_token"); field != nil {
		m.ProtoReflect().Set(field, protoreflect.ValueOfString(token))
	}
}

// contained keeps a panic of the binding, into whose answer an interceptor can
// put anything, from ending the program, and runtime.Goexit from leaving the
// client without an answer for ever.
func (e grpcEdge) contained(ctx context.Context, x *exchange, call func() error) (err error) {
	returned := apart(func() {
		defer func() {
			if v := recover(); v != nil {
				err = e.status(ctx, x, e.panicked(ctx, v))
			}
		}()
		err = call()
	})
	if !returned {
		err = e.status(ctx, x, e.panicked(ctx, errExited))
	}
	return err
}

// edgeStream is a stream whose first message is checked.
type edgeStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // grpc.ServerStream has it as a method
	dec func(any) error
}

// Context implements grpc.ServerStream.
func (s edgeStream) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s edgeStream) RecvMsg(m any) error { return s.dec(m) }

// SendMsg implements grpc.ServerStream.
func (s edgeStream) SendMsg(m any) error {
	finalMessage(m)
	return s.ServerStream.SendMsg(m)
}

// admit is what all requests have in common.
func (e grpcEdge) admit(ctx context.Context) (context.Context, *exchange, error) {
	x := &exchange{edge: true, base: e.baseOfRPC(ctx), old: e.version == version03}
	ctx = e.transportLog(withExchange(ctx, x))
	md, _ := metadata.FromIncomingContext(ctx)
	if e.guards() {
		var err error
		if x.caller, err = e.authenticate(ctx, md.Get); err != nil {
			return ctx, x, err
		}
	}
	if _, refused := negotiate(md.Get(a2a.SvcParamVersion), []string{e.version}); refused != nil {
		return ctx, x, refused
	}
	extensions := splitList(append(md.Get(a2a.SvcParamExtensions), md.Get(oldExtensions)...))
	active, refused := e.activate(extensions)
	if refused != nil {
		return ctx, x, refused
	}
	if len(extensions) > 0 {
		md = md.Copy()
		md.Set(a2a.SvcParamExtensions, extensions...)
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	if len(active) > 0 {
		name := a2a.SvcParamExtensions
		if e.version == version03 {
			name = oldExtensions
		}
		_ = grpc.SetHeader(ctx, metadata.Pairs(name, strings.Join(active, ", "))) // a client that has gone
	}
	x.activated = active
	return ctx, x, nil
}

// decoder decodes a request and checks its fields.
func (e grpcEdge) decoder(x *exchange, method string, dec func(any) error) func(any) error {
	return func(v any) error {
		if err := dec(v); err != nil {
			return undecoded(err)
		}
		m, ok := v.(proto.Message)
		if ok {
			deepest, values := schema.MeasureProto(m.ProtoReflect())
			switch {
			case deepest > schema.MaxDepth:
				return refuse(a2a.ErrInvalidRequest, tooDeepMessage)
			case !e.affordable(values):
				return e.tooManyValues("/message")
			}
		}
		if create, ok := v.(*oldpb.CreateTaskPushNotificationConfigRequest); ok {
			if err := nameConfig(create); err != nil {
				return err
			}
		}
		op := byRPC(method, false)
		var rule schema.Rule
		if op != nil {
			rule = op.params
		}
		if x.old {
			op, rule = byGRPC03(method)
		}
		if !ok || op == nil {
			return nil
		}
		tree := schema.FromProto(m.ProtoReflect())
		_, err := e.checkOperation(x, op, rule, tree, noObjects(tree))
		return err
	}
}

// undecoded is the answer to bytes that are no message.
func undecoded(err error) error {
	if status.Code(err) == codes.ResourceExhausted {
		return refuse(errExhausted, "The request is larger than the server takes.")
	}
	return refuse(a2a.ErrParseError, "The request could not be decoded.")
}

// noObjects finds the data parts that are no objects: the host's binding would
// make them empty ones.
func noObjects(tree map[string]any) []errcode.Violation {
	message, _ := tree["message"].(map[string]any)
	parts, _ := message["parts"].([]any)
	var out []errcode.Violation
	for i, p := range parts {
		m, _ := p.(map[string]any)
		data, has := m["data"]
		if _, ok := data.(map[string]any); has && data != nil && !ok {
			out = append(out, errcode.Violation{
				Field: fmt.Sprintf("/message/parts/%d/data", i), Message: "expected an object: this binding carries no other data",
			})
		}
	}
	return out
}

// status gives an error its final form: the one that the handler made, the
// edge's own, or one of the host's binding, which has no details and the text of
// its decoder.
func (e grpcEdge) status(ctx context.Context, x *exchange, err error) error {
	if err == nil {
		return nil
	}
	out := x.failure.Load()
	if out == nil {
		out = e.told(ctx, x, err)
	}
	if out == nil {
		return err
	}
	if out.challenge != "" {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("www-authenticate", out.challenge)) // a client that has gone
	}
	return out.GRPCStatus().Err()
}

func (e grpcEdge) told(ctx context.Context, x *exchange, err error) *protocolError {
	_, isStatus := status.FromError(err)
	if _, ok := errtree.As[*protocolError](err); ok || !isStatus {
		return e.tell(ctx, x.taskID, err)
	}
	switch status.Code(err) {
	case codes.InvalidArgument:
		return e.tell(ctx, x.taskID, refuse(a2a.ErrInvalidParams, ""))
	case codes.Internal:
		emit(ctx, e.logger, slog.LevelError, "gRPC binding failed", causeAttrs(err)...)
		return e.tell(ctx, x.taskID, refuse(a2a.ErrInternalError, ""))
	default:
		return nil // gRPC's own
	}
}
