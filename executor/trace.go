package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	if r.deaf {
		r.span.SetAttributes(attribute.Bool("abandoned", true))
	}
	if o.State != Failed || !r.span.IsRecording() {
		return
	}
	exception := []attribute.KeyValue{
		attribute.String("exception.type", fmt.Sprintf("%T", o.Err)),
		attribute.String("exception.message", errtree.Text(o.Err)),
	}
	for _, a := range failureAttrs(o) {
		if a.Key == stackKey {
			exception = append(exception, attribute.String("exception.stacktrace", a.Value.String()))
			continue
		}
		r.span.SetAttributes(spanAttribute(a))
	}
	r.span.AddEvent("exception", trace.WithAttributes(exception...))
	r.span.SetStatus(codes.Error, o.Data.ErrorMessage)
}

// spanAttribute is what the log tells as a span has it.
func spanAttribute(a slog.Attr) attribute.KeyValue {
	switch v := a.Value.Any().(type) {
	case bool:
		return attribute.Bool(a.Key, v)
	case int64:
		return attribute.Int64(a.Key, v)
	case []string:
		return attribute.StringSlice(a.Key, v)
	}
	return attribute.String(a.Key, a.Value.String())
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
