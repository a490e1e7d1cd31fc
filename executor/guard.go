package executor

import (
	"context"
	"fmt"
	"log/slog"
)

// guardedLog is the user's slog handler, which may panic, and is called from
// goroutines of the host's that nobody recovers in. A record that it panics on
// is lost; nothing else is.
type guardedLog struct{ next slog.Handler }

func guardLogger(l *slog.Logger) *slog.Logger { return slog.New(guardedLog{l.Handler()}) }

// Enabled implements slog.Handler.
func (g guardedLog) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() { _ = recover() }()
	return g.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (g guardedLog) Handle(ctx context.Context, r slog.Record) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("log handler panicked: %s", panicText(v))
		}
	}()
	return g.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (g guardedLog) WithAttrs(attrs []slog.Attr) (h slog.Handler) {
	defer func() {
		if recover() != nil {
			h = g
		}
	}()
	return guardedLog{g.next.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (g guardedLog) WithGroup(name string) (h slog.Handler) {
	defer func() {
		if recover() != nil {
			h = g
		}
	}()
	return guardedLog{g.next.WithGroup(name)}
}
