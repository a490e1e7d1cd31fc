package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc/metadata"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

// recordSpans is a tracer provider whose spans the test reads, each sent to the
// channel when it has ended.
func recordSpans() (executor.Option, chan sdktrace.ReadOnlySpan) {
	ended := make(chan sdktrace.ReadOnlySpan, 10)
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(onEnd(ended)))
	return executor.TracerProvider(p), ended
}

type onEnd chan sdktrace.ReadOnlySpan

func (onEnd) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e onEnd) OnEnd(s sdktrace.ReadOnlySpan)                 { e <- s }
func (onEnd) Shutdown(context.Context) error                  { return nil }
func (onEnd) ForceFlush(context.Context) error                { return nil }

func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	out := map[string]string{}
	for _, kv := range s.Attributes() {
		out[string(kv.Key)] = kv.Value.String()
	}
	return out
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	traceparent  = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// traced sends a body with the trace context of a caller.
func (w *wire) traced(path, body string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", traceparent)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || strings.Contains(string(answer), `"error":`) {
			t.Fatalf("%s: %s %v %s", path, res.Status, err, answer)
		}
	}
}

// TestTraceOfAFailure: over each binding a run is a span below the caller's,
// with what the client is told and the cause that it is not.
func TestTraceOfAFailure(t *testing.T) {
	t.Parallel()
	provider, ended := recordSpans()
	secret := errors.New("the private cause")
	a := invoking(func(ctx context.Context, _ *agent.Request) (*agent.Result, error) {
		if got := trace.SpanContextFromContext(ctx).TraceID().String(); got != callersTrace {
			t.Errorf("the agent's code runs in trace %s", got)
		}
		return nil, errcode.New(errcode.RateLimited, "quota", errcode.Message("Too many."), errcode.Cause(secret),
			errcode.Source("llm:gpt/classify"), errcode.DomainCode("DOC_005"), errcode.CorrelationID("c-1"))
	})
	w := serve(t, a, provider)
	message := `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}`
	for name, send := range map[string]func(t *testing.T){
		"1.0 JSON-RPC":  w.traced("/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+message+`}}`),
		"1.0 HTTP+JSON": w.traced("/v1/message:send", `{"message":`+message+`}`),
		"0.3 JSON-RPC": w.traced("/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":
			{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}}`),
		"0.3 HTTP+JSON": w.traced("/v0.3/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"blocking":true}}`),
		"1.0 gRPC": func(t *testing.T) {
			t.Helper()
			ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", traceparent)
			if _, err := w.rpc.SendMessage(ctx, &a2apb.SendMessageRequest{Message: &a2apb.Message{
				MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}},
			}}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		send(t)
		s := <-ended
		if s.SpanContext().TraceID().String() != callersTrace || s.Parent().SpanID().String() != callersSpan {
			t.Errorf("%s: span %v below %v", name, s.SpanContext().TraceID(), s.Parent().SpanID())
		}
		if s.SpanKind() != trace.SpanKindServer || s.Name() != "run worst" || s.Status().Code != codes.Error || s.Status().Description != "Too many." {
			t.Errorf("%s: %v %q %+v", name, s.SpanKind(), s.Name(), s.Status())
		}
		got := attributes(s)
		for key, want := range map[string]string{
			"agent": "worst", "state": "failed", "error_code": "RATE_LIMITED", "error_reason": "quota",
			"error_source": "llm:gpt/classify", "correlation_id": "c-1", "domain_code": "DOC_005", "domain": "worst", "retriable": "true",
		} {
			if got[key] != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got[key], want)
			}
		}
		if len(s.Events()) != 1 || s.Events()[0].Attributes[0] != attribute.String("exception.type", "*errcode.Error") {
			t.Errorf("%s: events %+v", name, s.Events())
		}
	}
}

// textError is an error whose nil pointer is no nil error.
type textError struct{ text string }

func (e *textError) Error() string { return e.text }

// TestLogAndSpanSayTheSame: whoever has the id that the client was told finds the
// whole cause in the log and in the span: what a panic was about, an error that has
// no text, where in a flow it was, why the error data could not be made.
func TestLogAndSpanSayTheSame(t *testing.T) {
	t.Parallel()
	expired := errcode.New(errcode.InvalidInput, "document_expired", errcode.DomainCode("DOC_005"), errcode.Retried(2))
	inFlow := agent.Flow(line(t, fixed("Ann"), failing(expired)), begin, finish)
	returning := func(err error) agent.Option {
		return agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, err })
	}
	cases := map[string]struct {
		agent agent.Option
		want  map[string]string // parts of what both say
	}{
		"panic": {
			agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) { panic("index 7 of ledger 4711") }),
			map[string]string{"panic": "index 7 of ledger 4711", "cause": "unexpected fault"},
		},
		"typed nil": {returning((*textError)(nil)), map[string]string{"cause": "*executor_test.textError, whose method Error panics: "}},
		"no text":   {returning(&textError{}), map[string]string{"cause": "*executor_test.textError without a text"}},
		"flow":      {inFlow, map[string]string{"node": "size", "flow": "line", "domain_code": "DOC_005", "retried": "2"}},
		"bad data":  {returning(errcode.New("WRONG", "")), map[string]string{"data_problem": "errorCode"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, ended := recordSpans()
			var log syncBuffer
			h := newHandler(t, agent.New("worst", c.agent), provider, executor.Logger(slog.New(slog.NewJSONHandler(&log, nil))))
			failed, _ := errcode.FromTask(sent(call(t), t, h, userMessage("x")))
			span := <-ended
			said := map[string]any{}
			if err := json.Unmarshal([]byte(log.String()), &said); err != nil {
				t.Fatalf("expected one record: %v\n%s", err, log.String())
			}
			if id := failed.CorrelationID(); id == "" || said["correlation_id"] != id {
				t.Errorf("the client has the id %q, the log %v", id, said["correlation_id"])
			}
			got := attributes(span)
			for key, part := range c.want {
				if !strings.Contains(got[key], part) {
					t.Errorf("%s is %q, want %q", key, got[key], part)
				}
			}
			if stack, panicked := said["stack"].(string); panicked {
				trace := span.Events()[0].Attributes[2]
				if trace != attribute.String("exception.stacktrace", stack) {
					t.Errorf("the span has another stack: %v", trace)
				}
			}
			for _, key := range []string{"time", "level", "msg", "elapsed", "stack"} {
				delete(said, key)
			}
			for key, v := range said {
				text, isText := v.(string)
				if !isText {
					b, _ := json.Marshal(v) //nolint:errchkjson // was JSON
					text = string(b)
				}
				if got[key] != text {
					t.Errorf("%s: the log says %q, the span %q", key, text, got[key])
				}
			}
		})
	}
}

// TestTraceOfOtherEndings: what is no failure has no error status, and a span
// in the context, of middleware around the server, is the parent.
func TestTraceOfOtherEndings(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ctx, outer := p.Tracer("test").Start(call(t), "outer")
	done := make(chan executor.Outcome, 1)
	h := newHandler(t, asker(), executor.TracerProvider(p),
		executor.OnOutcome(func(_ context.Context, o executor.Outcome) { done <- o }))
	if _, err := h.SendMessage(ctx, userMessage("x")); err != nil {
		t.Fatal(err)
	}
	<-done // the span has ended before
	spans := recorder.Ended()
	if len(spans) != 1 {
		t.Fatalf("%d spans, want 1", len(spans))
	}
	if s := spans[0]; s.Parent().SpanID() != outer.SpanContext().SpanID() || s.Status().Code != codes.Unset || attributes(s)["state"] != "input-required" {
		t.Errorf("below %v, %+v, %v", s.Parent().SpanID(), s.Status(), attributes(s))
	}
}

// panickingTracer is a fault of the program's own.
type panickingTracer struct{ noop.TracerProvider }

func (panickingTracer) Tracer(string, ...trace.TracerOption) trace.Tracer { panic("no tracer") }

type panickingSpan struct{ noop.TracerProvider }

func (panickingSpan) Tracer(string, ...trace.TracerOption) trace.Tracer { return spanPanics{} }

type spanPanics struct{ noop.Tracer }

func (spanPanics) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	return ctx, endPanics{}
}

type endPanics struct{ noop.Span }

func (endPanics) End(...trace.SpanEndOption) { panic("no end") }

// TestTracerPanics: a tracer that panics costs its spans and nothing else.
func TestTracerPanics(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]trace.TracerProvider{"at the start": panickingTracer{}, "at the end": panickingSpan{}} {
		h := newHandler(t, echo("a"), executor.TracerProvider(p))
		res, err := h.SendMessage(call(t), userMessage("x"))
		if err != nil || firstText(res) != "a: x" {
			t.Errorf("%s: got %v, %v", name, res, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	if _, err := executor.NewHandler(echo("a"), executor.TracerProvider(nil)); err == nil {
		t.Error("a nil provider is accepted")
	}
}
