package executor

import (
	"context"
	"log/slog"
	"strings"

	hostlog "github.com/a2aproject/a2a-go/v2/log"
)

// transportLog has the host's bindings log to the server's logger, in the place
// of slog.Default().
func (c *config) transportLog(ctx context.Context) context.Context {
	return hostlog.AttachLogger(ctx, slog.New(quieter{c.logger.Handler()}))
}

// quieter makes what the bindings call an error and is a client that has left,
// that an event could not be written, a message for debugging.
type quieter struct{ slog.Handler }

// Handle implements slog.Handler.
func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "failed to write") || r.Message == "failed to send error response" {
		r.Level = slog.LevelDebug
		if !q.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }
