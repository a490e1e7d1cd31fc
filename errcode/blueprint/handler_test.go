package blueprint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func logTo(b *buffer) blueprint.Option {
	return blueprint.Logger(slog.New(slog.NewJSONHandler(b, nil)))
}

// serve runs the handler behind a real server and returns the answer to one request.
func serve(t *testing.T, h http.Handler) (*http.Response, error) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func TestHandlerOverTheNetwork(t *testing.T) {
	t.Parallel()
	var logged buffer
	quota := errcode.New(errcode.RateLimited, "quota", errcode.Message("Used up."),
		errcode.RetryAfter(1500*time.Millisecond), errcode.Cause(errors.New("tenant 7")))
	resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Length", "5")
		w.Header().Set("Content-Encoding", "gzip")
		return fmt.Errorf("run skill: %w", quota)
	}, blueprint.Build(errcode.Builder{Domain: "skills"}), logTo(&logged), nil))
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 503 || resp.Header.Get("Content-Type") != "application/json" ||
		resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
	}
	e := typed(t, blueprint.FromResponse(resp))
	if e.Code() != errcode.RateLimited || e.Reason() != "quota" || e.Domain() != "skills" || e.Message() != "Used up." {
		t.Errorf("got %v", e)
	}
	if d, _ := e.RetryAfter(); d != 1500*time.Millisecond {
		t.Errorf("retry after %v", d)
	}
	if s := logged.String(); e.CorrelationID() == "" || !strings.Contains(s, e.CorrelationID()) ||
		!strings.Contains(s, "tenant 7") || !strings.Contains(s, `"level":"WARN"`) {
		t.Errorf("log: %s", s)
	}
}

func TestHandlerOfSuccess(t *testing.T) {
	t.Parallel()
	var logged buffer
	resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, "fine")
		return err
	}, logTo(&logged)))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "fine" || resp.StatusCode != 200 || logged.String() != "" {
		t.Errorf("got %q with %d, log %s", body, resp.StatusCode, logged.String())
	}
}

func TestHandlerContainsPanics(t *testing.T) {
	t.Parallel()
	var logged buffer
	resp, err := serve(t, blueprint.Handler(func(http.ResponseWriter, *http.Request) error {
		panic("secret 42")
	}, logTo(&logged)))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 502 || bytes.Contains(body, []byte("secret")) || !bytes.Contains(body, []byte(`"errorReason":"panic"`)) {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	if s := logged.String(); !strings.Contains(s, "secret 42") || !strings.Contains(s, "handler_test.go") || !strings.Contains(s, `"level":"ERROR"`) {
		t.Errorf("log: %s", s)
	}
}

func TestHandlerWithoutFunction(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	blueprint.Handler(nil).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if rec.Code != 502 {
		t.Errorf("got %d", rec.Code)
	}
}

// plainWriter hides everything but the interface, as the middleware of others does.
type plainWriter struct{ http.ResponseWriter }

func (p plainWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func TestNothingIsAddedToABegunAnswer(t *testing.T) {
	t.Parallel()
	begin := map[string]func(w http.ResponseWriter){
		"header":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"body":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, "half") },
		"flush":      func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"flusher":    func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, //nolint:errcheck // the test is about it
		"middleware": func(w http.ResponseWriter) { plainWriter{w}.WriteHeader(http.StatusAccepted) },
	}
	for name, f := range begin {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged buffer
			resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, r *http.Request) error {
				f(w)
				blueprint.WriteError(plainWriter{w}, r, errors.New("too late"), logTo(&logged))
				return errors.New("too late again")
			}, logTo(&logged)))
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(resp.Body); bytes.Contains(body, []byte("error")) {
				t.Errorf("got %s", body)
			}
			if s := logged.String(); strings.Count(s, `"response_begun":true`) != 2 || !strings.Contains(s, "too late again") {
				t.Errorf("log: %s", s)
			}
		})
	}
}

func TestInformationalStatusDoesNotBegin(t *testing.T) {
	t.Parallel()
	resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusEarlyHints)
		return errcode.New(errcode.NotFound, "x")
	}))
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 404 || !errcode.Is(blueprint.FromResponse(resp), errcode.NotFound) {
		t.Errorf("got %d", resp.StatusCode)
	}
}

// TestHalfAnAnswerIsAborted: a client must not take what a panic cut short for the whole.
func TestHalfAnAnswerIsAborted(t *testing.T) {
	t.Parallel()
	var logged buffer
	resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic("boom")
	}, logTo(&logged)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client reads the half as the whole")
	}
	if !strings.Contains(logged.String(), "boom") {
		t.Errorf("log: %s", logged.String())
	}
}

func TestAbortIsLeftToTheServer(t *testing.T) {
	t.Parallel()
	var logged buffer
	_, err := serve(t, blueprint.Handler(func(http.ResponseWriter, *http.Request) error {
		panic(http.ErrAbortHandler)
	}, logTo(&logged)))
	if err == nil || logged.String() != "" {
		t.Errorf("got %v, log %s", err, logged.String())
	}
}

func TestHijackedConnectionIsLeftAlone(t *testing.T) {
	t.Parallel()
	var logged buffer
	resp, err := serve(t, blueprint.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		conn, rw, err := w.(http.Hijacker).Hijack() //nolint:errcheck // the test is about it
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_, _ = rw.WriteString("HTTP/1.1 204 No Content\r\n\r\n")
		_ = rw.Flush()
		return errors.New("afterwards")
	}, logTo(&logged)))
	if err != nil || resp.StatusCode != 204 {
		t.Fatalf("got %v, %v", resp, err)
	}
}

func TestWriteErrorByItself(t *testing.T) {
	t.Parallel()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	rec := httptest.NewRecorder()
	blueprint.WriteError(rec, req, nil)
	if rec.Body.Len() > 0 || len(rec.Header()) > 0 {
		t.Error("a nil error was written")
	}
	own := errcode.New(errcode.InvalidInput, "version_incompatible", errcode.CorrelationID("mine"),
		errcode.Retriable(true), errcode.RetryAfter(time.Second))
	blueprint.WriteError(rec, req, own)
	if rec.Code != 422 || !strings.Contains(rec.Body.String(), `"correlationId":"mine"`) || rec.Header().Get("Retry-After") != "" {
		t.Errorf("%d: %s %v", rec.Code, rec.Body, rec.Header())
	}
}

// deaf fails to write and panics when it logs.
type deaf struct{ httptest.ResponseRecorder }

func (*deaf) Write([]byte) (int, error) { return 0, errors.New("gone") }

type panicky struct{ slog.Handler }

func (panicky) Enabled(context.Context, slog.Level) bool  { return true }
func (panicky) Handle(context.Context, slog.Record) error { panic("logger") }

func TestNothingEscapesWriteError(t *testing.T) {
	t.Parallel()
	var logged buffer
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	blueprint.WriteError(&deaf{}, req, errors.New("x"), logTo(&logged))
	if !strings.Contains(logged.String(), "error response was not sent") {
		t.Errorf("log: %s", logged.String())
	}
	blueprint.WriteError(httptest.NewRecorder(), req, errors.New("x"), blueprint.Logger(slog.New(panicky{})))
	bad := errcode.New("NO_CODE", "", errcode.Detail("f", func() {}))
	rec := httptest.NewRecorder()
	blueprint.WriteError(rec, req, bad, logTo(&logged))
	if rec.Code != 502 || !strings.Contains(rec.Body.String(), "error_data_build_failed") || !strings.Contains(logged.String(), "data_problem") {
		t.Errorf("%d: %s", rec.Code, rec.Body)
	}
}
