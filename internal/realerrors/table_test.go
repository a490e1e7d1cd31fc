package realerrors_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// atLeast is how many different errors the table must hold.
const atLeast = 80

// sample is an error that a real library made.
type sample struct {
	name string
	err  error
	want want
}

// want is what errcode should say.
type want struct {
	code   errcode.Code
	reason string
	// final means that the error is not retriable although its code is.
	final bool
	// after is retryAfterMs, 0 when there is none.
	after int64
}

var sources = map[string]func(t *testing.T) []sample{
	"anthropic": anthropicErrors,
	"aws":       awsErrors,
	"azure":     azureErrors,
	"connect":   connectErrors,
	"gemini":    geminiErrors,
	"goog":      googleErrors,
	"grpc":      grpcErrors,
	"http":      httpErrors,
	"http2":     http2Errors,
	"mcp":       mcpErrors,
	"mysql":     mysqlErrors,
	"net":       netErrors,
	"openai":    openaiErrors,
	"os":        osErrors,
	"postgres":  postgresErrors,
	"redis":     redisErrors,
	"sql":       sqlErrors,
	"stream":    streamErrors,
	"tls":       tlsErrors,
}

func TestRealErrors(t *testing.T) {
	t.Parallel()
	total := 0
	for name, collect := range sources {
		samples := collect(t)
		total += len(samples)
		for _, s := range samples {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				check(t, s)
			})
		}
	}
	t.Logf("%d real errors", total)
	if total < atLeast {
		t.Errorf("only %d errors", total)
	}
}

func check(t *testing.T, s sample) {
	t.Helper()
	if s.err == nil {
		t.Fatal("the library made no error")
	}
	for _, err := range []error{
		s.err, fmt.Errorf("call: %w", &errcode.ComponentInvokeError{Err: s.err}),
		fmt.Errorf("both: %w", errors.Join(errors.New("first"), fmt.Errorf("second: %w", s.err))),
	} {
		data, problem := errcode.Builder{}.Data(errcode.Default().Convert(err))
		if problem != nil {
			t.Fatal(problem)
		}
		got := want{code: data.ErrorCode, reason: data.ErrorReason, final: data.ErrorCode.Retriable() && !data.Retriable}
		if data.RetryAfterMs != nil {
			got.after = *data.RetryAfterMs
		}
		if got.reason == "component_invoke_error" && (s.want.code == errcode.Internal || s.want.reason == "network_error") {
			continue // nothing below the carrier says more
		}
		if diff := cmp.Diff(s.want, got, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%T %v (-want +got):\n%s", s.err, s.err, diff)
		}
	}
}
