package errcode

import "log/slog"

// LogValue returns everything the error knows as a group, the private cause included: it is meant
// for the server's own log, not for clients.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.StringValue("<nil>")
	}
	attrs := []slog.Attr{
		slog.String("code", string(e.code)),
		slog.String("reason", e.reason),
		slog.String("message", e.Message()),
		slog.Bool("retriable", e.Retriable()),
	}
	attrs = appendSet(attrs, "source", e.source)
	attrs = appendSet(attrs, "domain", e.domain)
	attrs = appendSet(attrs, "domain_code", e.domainCode)
	attrs = appendSet(attrs, "correlation_id", e.correlationID)
	attrs = appendSet(attrs, "rule", e.row)
	if e.hasRetryAfter {
		attrs = append(attrs, slog.Duration("retry_after", e.retryAfter))
	}
	if e.retried != 0 {
		attrs = append(attrs, slog.Int("retried", e.retried))
	}
	attrs = e.appendPlace(attrs)
	attrs = e.appendData(attrs)
	attrs = e.appendCause(attrs)
	return slog.GroupValue(attrs...)
}

func appendSet(attrs []slog.Attr, key, value string) []slog.Attr {
	if value == "" {
		return attrs
	}
	return append(attrs, slog.String(key, value))
}

func (e *Error) appendPlace(attrs []slog.Attr) []slog.Attr {
	if e.hasNode {
		attrs = append(attrs, slog.GroupAttrs("node",
			slog.String("id", e.node.ID), slog.String("kind", e.node.Kind)))
	}
	if f, ok := e.Flow(); ok {
		attrs = append(attrs, slog.GroupAttrs("flow",
			slog.String("id", f.ID), slog.Any("completed_nodes", f.CompletedNodes)))
	}
	return attrs
}

func (e *Error) appendData(attrs []slog.Attr) []slog.Attr {
	if e.guardrail != nil {
		attrs = append(attrs, slog.Any("guardrail", e.Guardrail()))
	}
	if e.violations != nil {
		attrs = append(attrs, slog.Any("violations", e.Violations()))
	}
	if e.details != nil {
		attrs = append(attrs, slog.Any("details", e.Details()))
	}
	return attrs
}

// appendCause adds the text of the cause and, if the cause is a recovered panic, what the panic
// keeps from clients.
func (e *Error) appendCause(attrs []slog.Attr) []slog.Attr {
	if e.cause == nil {
		return attrs
	}
	attrs = append(attrs, slog.String("cause", errorText(e.cause)))
	if p := findPanic(e.cause); p != nil {
		attrs = append(attrs, slog.Attr{Key: "panic", Value: p.LogValue()})
	}
	return attrs
}
