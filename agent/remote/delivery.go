package remote

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/errcode"
)

// ErrOutcomeUnknown is in the chain of failures of calls whose message was, or
// may have been, sent, and whose remote did not say what came of it. It may have
// done all it was asked or nothing. Such a failure is not retriable.
var ErrOutcomeUnknown = errors.New("it is not known whether the agent did what it was asked")

// delivery is what is known of an attempt's message on its way.
type delivery struct {
	begun atomic.Bool // it was handed to the client
	tried atomic.Bool // a connection for it was asked for
	got   atomic.Bool // there was one: it may have been written
}

type deliveryKey struct{}

// watch returns the context for the request that carries the message.
func (d *delivery) watch(ctx context.Context) context.Context {
	d.begun.Store(true)
	ctx = context.WithValue(ctx, deliveryKey{}, d)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.tried.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { d.got.Store(true) },
	})
}

// unsent reports whether it is sure that the remote has not received the
// message. err is what the attempt came to.
func (d *delivery) unsent(err error) bool {
	if !d.begun.Load() || d.tried.Load() && !d.got.Load() {
		return true
	}
	var op *net.OpError // of a client that cannot be watched
	return !d.got.Load() && errors.As(err, &op) && op.Op == "dial"
}

// deliveries tells what gRPC did with a message.
type deliveries struct{}

// TagRPC implements stats.Handler.
func (deliveries) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (deliveries) HandleRPC(ctx context.Context, s stats.RPCStats) {
	d, ok := ctx.Value(deliveryKey{}).(*delivery)
	if !ok {
		return
	}
	switch s.(type) {
	case *stats.Begin:
		d.tried.Store(true)
	case *stats.OutHeader:
		d.got.Store(true)
	}
}

// TagConn implements stats.Handler.
func (deliveries) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (deliveries) HandleConn(context.Context, stats.ConnStats) {}

// weigh decides whether the call may be repeated after a failure that was not
// the remote's word on a task, and says so where it may not: once the message
// may have been received, only the remote's own refusal allows that.
func (c *call) weigh(failure *errcode.Error, err error, n *notes) *errcode.Error {
	if !c.begun && (isBusy(err) || c.delivery.unsent(err)) {
		c.again = true
		return failure
	}
	code, _, rpc := n.last()
	said := fromA2A(err)
	if rpc != nil {
		said = saysGRPC(rpc)
	}
	switch {
	case c.begun:
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		c.again = true
		return failure
	case said && code < http.StatusInternalServerError:
		c.again = failure.Code() == errcode.UpstreamUnavailable || failure.Code() == errcode.RateLimited
		return failure
	}
	definite := said || code >= http.StatusMultipleChoices && code < http.StatusInternalServerError
	if definite && (!c.begun || !failure.Retriable()) {
		return failure
	}
	return unknown(failure)
}

// saysGRPC reports whether a status is the server's word. One that the client
// may have made by itself is so only with details, which that never has.
func saysGRPC(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch s.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown, codes.ResourceExhausted:
		return len(s.Details()) > 0
	default:
		return true
	}
}

// unknown says of a failure that the message may have been received.
func unknown(failure *errcode.Error) *errcode.Error {
	return failure.With(errcode.Retriable(false), errcode.Cause(&unknownError{failure}),
		errcode.Message("The agent did not say how its work ended; whether it did what it was asked is not known."))
}

type unknownError struct{ failure *errcode.Error }

func (e *unknownError) Error() string { return ErrOutcomeUnknown.Error() + ": " + e.failure.Error() }

func (e *unknownError) Unwrap() []error {
	if cause := errors.Unwrap(e.failure); cause != nil {
		return []error{ErrOutcomeUnknown, cause}
	}
	return []error{ErrOutcomeUnknown}
}
