package executor

import (
	"context"
	"log/slog"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Everything the executor logs goes through here, to the guarded logger.

// log writes a warning about the run.
func (r *run) log(ctx context.Context, msg string, err error) {
	attrs := append(r.attrs(), causeAttrs(err)...)
	emit(ctx, r.logger, slog.LevelWarn, msg, attrs...)
}

// logUnheard writes what the code of a run came to that was stopped before: where
// it was, or that it panicked on its way out. A canceled task is no trouble, and
// what its code returns for that reason is for who looks for it.
func (r *run) logUnheard(ctx context.Context, err error) {
	if err == nil || hitl.Find(err) != nil {
		return
	}
	level := slog.LevelWarn
	if _, panicked := errtree.As[*errcode.PanicError](err); context.Cause(ctx) == errTaskCanceled && !panicked { //nolint:errorlint // our own sentinel, never wrapped
		level = slog.LevelDebug
	}
	emit(ctx, r.logger, level, "stopped code failed", append(r.attrs(), causeAttrs(err)...)...)
}

// logDeaf tells that the code of a run is left behind, see [Handler.Abandoned].
func (r *run) logDeaf(ctx context.Context) {
	if r.deaf {
		r.log(ctx, "the agent's code did not return within the grace period and may still be running", nil)
	}
}

func (r *run) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("agent", r.agent.Name()),
		slog.String("task_id", string(r.task.ID)),
		slog.String("context_id", r.task.ContextID),
	}
}

// logOutcome writes a failed run's full cause under the correlation id that
// the client receives, and what kept its data from being sent as it was.
func (r *run) logOutcome(ctx context.Context, o Outcome) {
	if o.State != Failed {
		emit(ctx, r.logger, slog.LevelDebug, "run ended", append(r.attrs(), slog.String("state", string(o.State)))...)
		return
	}
	attrs := append(r.attrs(), slog.Duration("elapsed", o.Elapsed))
	emit(ctx, r.logger, slog.LevelError, "run failed", append(attrs, failureAttrs(o)...)...)
}

// failureAttrs is what the log and the span tell of a failed run: what the client
// is told, the cause, and what is wrong with the data.
func failureAttrs(o Outcome) []slog.Attr {
	d := o.Data
	attrs := []slog.Attr{
		slog.String("correlation_id", d.CorrelationID),
		slog.String("error_code", string(d.ErrorCode)),
		slog.String("error_reason", d.ErrorReason),
		slog.String("error_source", d.ErrorSource),
		slog.String("domain", d.Domain),
		slog.String("domain_code", d.DomainCode),
		slog.Bool("retriable", d.Retriable),
		slog.Int("retried", d.Retried),
	}
	if d.Node != nil {
		attrs = append(attrs, slog.String("node", d.Node.ID))
	}
	if d.Flow != nil {
		attrs = append(attrs, slog.String("flow", d.Flow.ID))
	}
	attrs = append(attrs, causeAttrs(o.Err)...)
	if o.problem != nil {
		attrs = append(attrs, slog.String("data_problem", errtree.Text(o.problem)))
	}
	return attrs
}

// logLost tells what the run's output held that cannot be sent.
func (r *run) logLost(ctx context.Context, o Outcome) {
	if dropped := append(r.lost.take(), o.interrupt.Dropped()...); len(dropped) > 0 {
		emit(ctx, r.logger, slog.LevelWarn, "values that JSON cannot express were left out",
			append(r.attrs(), slog.Any("dropped", dropped))...)
	}
}

// causeAttrs tells everything about an error that its public text does not.
func causeAttrs(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	attrs := []slog.Attr{slog.Any("cause", errtree.Causes(err))}
	errtree.Walk(err, func(e error) bool {
		p, ok := e.(*errcode.PanicError) //nolint:errorlint // each node of the tree is looked at by itself
		if !ok || p == nil {
			return true
		}
		attrs = append(attrs, slog.String("panic", panicText(p.Value())), slog.String(stackKey, string(p.Stack())))
		return false
	})
	return attrs
}

// stackKey names a panic's stack, which a span has where OpenTelemetry looks for it.
const stackKey = "stack"

func emit(ctx context.Context, l *slog.Logger, level slog.Level, msg string, attrs ...slog.Attr) {
	l.LogAttrs(ctx, level, msg, attrs...) //nolint:sloglint // static at every caller
}
