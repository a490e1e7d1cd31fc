package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

const tracerName = "github.com/a2aexec/a2aexec/executor"

// TracerProvider sets who makes the runs' spans: one each, below the span in
// the request's context or, without one, below that of its traceparent (W3C
// Trace Context) in the HTTP headers or the gRPC metadata. It says what the log
// says of the run's end. Default: otel.GetTracerProvider() at the time of the
// run, which makes none unless the program sets another.
func TracerProvider(p trace.TracerProvider) Option {
	return Option{name: "TracerProvider", apply: func(c *config) error {
		if p == nil {
			return errors.New("expected a tracer provider, got nil")
		}
		c.tracers = p
		return nil
	}}
}

// startSpan begins the run's span. A tracer that panics makes none.
func (r *run) startSpan(ctx context.Context, params *a2asrv.ServiceParams) (traced context.Context) {
	defer func() {
		if v := recover(); v != nil {
			traced, r.span = ctx, noop.Span{}
			r.log(ctx, "the tracer panicked", errcode.NewPanicError(v, debug.Stack()))
		}
	}()
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = propagation.TraceContext{}.Extract(ctx, serviceParams{params})
	}
	p := r.tracers
	if p == nil {
		p = otel.GetTracerProvider()
	}
	traced, r.span = p.Tracer(tracerName).Start(ctx, "run "+r.agent.Name(),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(r.started),
		trace.WithAttributes(
			attribute.String("agent", r.agent.Name()),
			attribute.String("task_id", string(r.task.ID)),
			attribute.String("context_id", r.task.ContextID)))
	return traced
}

// endSpan tells the span what became of the run.
func (r *run) endSpan(ctx context.Context, o Outcome) {
	defer func() {
		if v := recover(); v != nil {
			r.log(ctx, "the tracer panicked", errcode.NewPanicError(v, debug.Stack()))
		}
	}()
	defer r.span.End()
	r.span.SetAttributes(attribute.String("state", string(o.State)))
	if o.State != Failed || !r.span.IsRecording() {
		return
	}
	d := o.Data
	r.span.SetAttributes(
		attribute.String("error_code", string(d.ErrorCode)),
		attribute.String("error_reason", d.ErrorReason),
		attribute.String("error_source", d.ErrorSource),
		attribute.String("correlation_id", d.CorrelationID),
		attribute.String("domain", d.Domain),
		attribute.String("domain_code", d.DomainCode),
		attribute.Bool("retriable", d.Retriable),
		attribute.Int("retried", d.Retried),
		attribute.StringSlice("cause", errtree.Causes(o.Err)))
	r.span.AddEvent("exception", trace.WithAttributes(
		attribute.String("exception.type", fmt.Sprintf("%T", o.Err)),
		attribute.String("exception.message", errtree.Text(o.Err))))
	r.span.SetStatus(codes.Error, d.ErrorMessage)
}

// serviceParams are a request's HTTP headers or gRPC metadata, to be read.
type serviceParams struct{ p *a2asrv.ServiceParams }

// Get implements propagation.TextMapCarrier.
func (s serviceParams) Get(key string) string {
	if s.p == nil {
		return ""
	}
	if values, _ := s.p.Get(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Set implements propagation.TextMapCarrier; it is never called.
func (serviceParams) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (s serviceParams) Keys() []string {
	if s.p == nil {
		return nil
	}
	var keys []string
	for k := range s.p.List() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
