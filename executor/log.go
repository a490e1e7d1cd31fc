package executor

import (
	"context"
	"log/slog"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Everything the executor logs goes through here, to the guarded logger.

// log writes a warning about the run.
func (r *run) log(ctx context.Context, msg string, err error) {
	attrs := append(r.attrs(), causeAttrs(err)...)
	emit(ctx, r.logger, slog.LevelWarn, msg, attrs...)
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
	attrs := append(r.attrs(),
		slog.String("correlation_id", o.Data.CorrelationID),
		slog.String("error_code", string(o.Data.ErrorCode)),
		slog.String("error_reason", o.Data.ErrorReason),
		slog.String("error_source", o.Data.ErrorSource),
		slog.String("domain", o.Data.Domain),
		slog.Bool("retriable", o.Data.Retriable),
		slog.Duration("elapsed", o.Elapsed),
	)
	attrs = append(attrs, causeAttrs(o.Err)...)
	if o.problem != nil {
		attrs = append(attrs, slog.String("data_problem", errtree.Text(o.problem)))
	}
	emit(ctx, r.logger, slog.LevelError, "run failed", attrs...)
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
		attrs = append(attrs, slog.String("panic", panicText(p.Value())), slog.String("stack", string(p.Stack())))
		return false
	})
	return attrs
}

func emit(ctx context.Context, l *slog.Logger, level slog.Level, msg string, attrs ...slog.Attr) {
	l.LogAttrs(ctx, level, msg, attrs...) //nolint:sloglint // static at every caller
}
