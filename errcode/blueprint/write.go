package blueprint

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// WriteError answers a request with the envelope for err (BLUEPRINT 9.3): classified by the table
// in the request's context and made public by the builder, see [FromError]. It gives the failure a
// correlation id unless it has one. A nil err does nothing.
//
// Content-Type is application/json; Retry-After tells the delay, if one is known and clients should
// come back, in whole seconds rounded up; headers that described another body are removed. If w
// comes from [Handler], also wrapped, and the handler has begun to answer, nothing is written. The
// failure goes to the log in any case.
func WriteError(w http.ResponseWriter, r *http.Request, err error, opts ...Option) {
	newConfig(opts).write(w, r, err)
}

func (c *config) write(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	ctx := r.Context()
	e := convert(ctx, err)
	if e.CorrelationID() == "" {
		e = e.With(errcode.CorrelationID(rand.Text()))
	}
	d, problem := c.builder.Data(e)
	late := begun(w)
	c.logFailure(ctx, err, d, problem, late)
	if late {
		return
	}
	if err := send(w, d); err != nil {
		c.log(ctx, slog.LevelWarn, "error response was not sent",
			slog.String("cause", errtree.Text(err)), slog.String("correlation_id", d.CorrelationID))
	}
}

func send(w http.ResponseWriter, d errcode.Data) error {
	env := FromData(d)
	body, err := json.Marshal(env)
	if err != nil {
		return err
	}
	h := w.Header()
	for _, stale := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified", "Retry-After"} {
		h.Del(stale)
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if d.Retriable && !env.Error.Code.Never() && d.RetryAfterMs != nil {
		h.Set("Retry-After", seconds(*d.RetryAfterMs))
	}
	w.WriteHeader(env.Status())
	_, err = w.Write(body)
	return err
}

// seconds rounds up, so that nobody comes back too early.
func seconds(ms int64) string {
	s := ms / 1000
	if ms%1000 > 0 {
		s++
	}
	return strconv.FormatInt(s, 10)
}

func (c *config) logFailure(ctx context.Context, err error, d errcode.Data, problem error, late bool) {
	level := slog.LevelWarn
	if d.ErrorCode == errcode.Internal {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("correlation_id", d.CorrelationID),
		slog.String("error_code", string(d.ErrorCode)),
		slog.String("error_reason", d.ErrorReason),
		slog.Bool("response_begun", late),
		slog.Any("cause", errtree.Causes(err)),
	}
	if p, ok := errtree.As[*errcode.PanicError](err); ok && p != nil {
		attrs = append(attrs, slog.Any("panic", p))
	}
	if problem != nil {
		attrs = append(attrs, slog.String("data_problem", errtree.Text(problem)))
	}
	c.log(ctx, level, "request failed", attrs...)
}

func (c *config) log(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	defer func() { _ = recover() }()             // the handler is the user's
	c.logger.LogAttrs(ctx, level, msg, attrs...) //nolint:sloglint // static at every caller
}
