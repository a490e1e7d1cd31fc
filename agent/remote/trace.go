package remote

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

const tracerName = "github.com/a2aexec/a2aexec/agent/remote"

// startSpan begins the call's span, whose context goes along with its requests.
func (c *call) startSpan(ctx context.Context) context.Context {
	p := c.tracers
	if p == nil {
		p = otel.GetTracerProvider()
	}
	ctx, c.span = p.Tracer(tracerName).Start(ctx, "call "+c.identity(), trace.WithSpanKind(trace.SpanKindClient))
	return carrying(ctx)
}

// carrying has the trace context go along with requests.
func carrying(ctx context.Context) context.Context {
	carried := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carried)
	return withParams(ctx, carried)
}

func (c *call) endSpan(err error) {
	defer c.span.End()
	if !c.span.IsRecording() {
		return
	}
	c.span.SetAttributes(
		attribute.String("remote", c.Source()), attribute.String("task_id", c.task),
		attribute.String("context_id", c.context), attribute.Int("attempts", c.attempts))
	switch ask := hitl.Find(err); {
	case ask.Auth():
		c.span.SetAttributes(attribute.String("state", "auth-required"))
	case ask != nil:
		c.span.SetAttributes(attribute.String("state", "input-required"))
	case err != nil:
		e := c.table.Convert(err)
		c.span.SetAttributes(
			attribute.String("state", "failed"),
			attribute.String("error_code", string(e.Code())), attribute.String("error_reason", e.Reason()),
			attribute.String("correlation_id", e.CorrelationID()), attribute.Bool("retriable", e.Retriable()),
			attribute.StringSlice("cause", errtree.Causes(err)))
		c.span.SetStatus(codes.Error, e.Message())
	default:
		c.span.SetAttributes(attribute.String("state", "completed"))
	}
}

// noteCancel tells that the remote task may go on: it could not be cancelled.
func (c *call) noteCancel(err error) {
	c.span.AddEvent("remote task not cancelled", trace.WithAttributes(attribute.String("cause", errtree.Text(err))))
}
