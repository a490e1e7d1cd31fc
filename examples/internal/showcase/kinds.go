package showcase

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/stream"
)

// Secrets are the texts that "error secret" and "error panic" hold and that no
// client may ever receive.
func Secrets() []string {
	return []string{"eyJhbGciOiJIUzI1NiJ9", "hunter2", "the panic's own text", "goroutine "}
}

// kinds are the errors of "error KIND".
var kinds = map[string]func(context.Context) error{
	"timeout": func(context.Context) error {
		return fmt.Errorf("ask the index: %w", context.DeadlineExceeded)
	},
	"registry-timeout": func(context.Context) error {
		return &errcode.RegistryTimeoutError{Registry: "skills"}
	},
	"invoke": func(context.Context) error {
		return &errcode.ComponentInvokeError{Component: "bank", Err: errors.New("the ledger is closed")}
	},
	"load": func(context.Context) error {
		return &errcode.ComponentLoadError{Component: "bank", Err: errors.New("no such plugin")}
	},
	"dial":     dial,
	"http-429": status(http.StatusTooManyRequests, "30"),
	"http-401": status(http.StatusUnauthorized, ""),
	"http-403": status(http.StatusForbidden, ""),
	"http-404": status(http.StatusNotFound, ""),
	"http-503": status(http.StatusServiceUnavailable, "5"),
	"http-504": status(http.StatusGatewayTimeout, ""),
	"missing-api-key": func(context.Context) error {
		return &errcode.MissingAPIKeyError{Name: "BANK_API_KEY"}
	},
	"missing-field": func(context.Context) error {
		return &errcode.MissingFieldError{Field: "account_id"}
	},
	"config": func(context.Context) error {
		return &errcode.ConfigValidationError{Field: "/retries", Expected: "a number of 0 or more", Message: "retries is negative"}
	},
	"registry-not-found": func(context.Context) error {
		return &errcode.RegistryNotFoundError{Registry: "skills", Name: "translate"}
	},
	"registry-unauthorized": func(context.Context) error {
		return &errcode.RegistryUnauthorizedError{Registry: "skills"}
	},
	"guardrail": func(context.Context) error {
		return &errcode.GuardrailBlockedError{Category: "personal_data", Message: "The answer held personal data."}
	},
	"recursion":     func(context.Context) error { return &errcode.MaxToolIterationsError{Limit: 25} },
	"max-iteration": func(context.Context) error { return &errcode.MaxIterationError{Limit: 10} },
	"merge": func(context.Context) error {
		return &errcode.MergeStrategyError{Key: "documents", Err: errors.New("two writers")}
	},
	"routing":  func(context.Context) error { return &errcode.RoutingError{Node: "classify", Route: "nowhere"} },
	"protocol": func(context.Context) error { return &errcode.A2AProtocolError{Message: "a stream without a task"} },
	"panic": func(context.Context) error {
		panic("the panic's own text, with password=hunter2")
	},
	"unknown": func(context.Context) error { return errors.New("something odd happened") },
	"secret": func(context.Context) error {
		return errors.New("refused: Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl" +
			" by postgres://admin:hunter2@db.internal:5432/accounts")
	},
}

// Kinds lists what may follow "error", sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

func fail(ctx context.Context, arg string, _ *stream.Writer) (*agent.Result, error) {
	kind, known := kinds[arg]
	if !known {
		return nil, unknown("error " + arg)
	}
	return nil, kind(ctx)
}

func status(code int, retryAfter string) func(context.Context) error {
	return func(context.Context) error {
		h := http.Header{}
		if retryAfter != "" {
			h.Set("Retry-After", retryAfter)
		}
		return fmt.Errorf("look up the account: %w",
			&errcode.HTTPStatusError{StatusCode: code, Header: h, Method: http.MethodGet, URL: "http://bank.internal/accounts"})
	}
}

// dial meets a connection that is really refused: nobody listens on a port
// that was just given back.
func dial(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("reach the bank: %w", err)
	}
	_ = conn.Close()
	return errors.New("somebody took the port")
}
