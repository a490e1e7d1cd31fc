package blueprint_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

func TestFromResponseOfSuccess(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 204, 299} {
		if err := blueprint.FromResponse(response(status, nil, seedTimeout)); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestFromResponseWithoutEnvelope: whatever the body is, the status gives a typed error.
func TestFromResponseWithoutEnvelope(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"empty": "", "HTML": "<html>Bad Gateway</html>", "cut": `{"error":{"code":"AUTH_`,
		"two values": seedTimeout + seedTimeout, "an array": "[]", "null": "null", "a string": `"error"`,
		"no error": `{}`, "error is text": `{"error":"AUTH_REQUIRED"}`, "no code": `{"error":{}}`,
		"empty code": `{"error":{"code":""}}`, "numeric code": `{"error":{"code":401}}`,
		"not UTF-8": "\xff\xfe", "too deep": strings.Repeat("[", 20_000),
		"huge": `{"error":{"code":"AUTH_REQUIRED","message":"` + strings.Repeat("a", blueprint.MaxBody) + `"}}`,
	}
	statuses := map[int]errcode.Code{
		401: errcode.AuthRequired, 403: errcode.AuthRequired, 404: errcode.NotFound, 408: errcode.UpstreamTimeout,
		429: errcode.RateLimited, 502: errcode.UpstreamUnavailable, 503: errcode.UpstreamUnavailable,
		504: errcode.UpstreamTimeout, 302: errcode.Internal, 400: errcode.Internal, 0: errcode.Internal, 999: errcode.Internal,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for status, want := range statuses {
				err := blueprint.FromResponse(response(status, nil, body))
				e := typed(t, err)
				var h *errcode.HTTPStatusError
				if e.Code() != want || e.Reason() != "http_status_error" || !errors.As(err, &h) || h.StatusCode != status || h.Err == nil {
					t.Errorf("%d: got %v", status, err)
				}
			}
		})
	}
}

// endless is a body of the given size, and counts what is read of it.
type endless struct{ left, read int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	e.left, e.read = e.left-n, e.read+n
	return int(n), nil
}

func (*endless) Close() error { return nil }

func TestHugeBodyIsRefusedEarly(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	for _, tc := range []struct {
		name      string
		announced int64
		most      int64
	}{{"announced", size, 0}, {"not announced", -1, blueprint.MaxBody + 1}} {
		body := &endless{left: size}
		err := blueprint.FromResponse(&http.Response{StatusCode: 503, ContentLength: tc.announced, Body: body})
		if !errcode.Is(err, errcode.UpstreamUnavailable) || body.read > tc.most {
			t.Errorf("%s: read %d bytes, got %v", tc.name, body.read, err)
		}
	}
	if _, err := blueprint.Parse(make([]byte, size)); typed(t, err).Reason() != "invalid_error_envelope" {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("connection lost")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }
func (broken) Close() error             { return nil }

func TestFromResponseOddities(t *testing.T) {
	t.Parallel()
	if err := blueprint.FromResponse(nil); typed(t, err).Reason() != "no_response" {
		t.Errorf("nil response: %v", err)
	}
	if err := blueprint.FromResponse(&http.Response{StatusCode: 404}); !errcode.Is(err, errcode.NotFound) {
		t.Errorf("nil body: %v", err)
	}
	err := blueprint.FromResponse(&http.Response{StatusCode: 504, ContentLength: -1, Body: broken{}})
	if !errcode.Is(err, errcode.UpstreamTimeout) || !errors.Is(err, errBroken) {
		t.Errorf("broken body: %v", err)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	header := http.Header{"Retry-After": {"7"}}
	cases := []struct {
		name, body string
		status     int
		want       time.Duration
		known      bool
	}{
		{"the envelope suggests less", seedTimeout, 503, 7 * time.Second, true},
		{"the envelope suggests more", `{"error":{"code":"ENDPOINT_UNREACHABLE","retry":{"suggested_delay_ms":60000}}}`, 503, time.Minute, true},
		{"the header is the envelope's delay rounded up", `{"error":{"code":"ENDPOINT_UNREACHABLE","retry":{"suggested_delay_ms":6001}}}`, 503, 6001 * time.Millisecond, true},
		{"the envelope says nothing", `{"error":{"code":"ENDPOINT_UNREACHABLE"}}`, 503, 7 * time.Second, true},
		{"not retriable", `{"error":{"code":"AUTH_REQUIRED"}}`, 401, 0, false},
		{"no envelope", "busy", 429, 7 * time.Second, true},
	}
	for _, tc := range cases {
		e := typed(t, blueprint.FromResponse(response(tc.status, header, tc.body)))
		if d, ok := e.RetryAfter(); d != tc.want || ok != tc.known {
			t.Errorf("%s: got %v, %t", tc.name, d, ok)
		}
	}
}

// TestDelayInMilliseconds: the header of OpenAI and Azure counts too, with an envelope and without.
func TestDelayInMilliseconds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		for _, body := range []string{"busy", `{"error":{"code":"ENDPOINT_UNREACHABLE","retry":{"suggested_delay_ms":0}}}`} {
			e := typed(t, blueprint.FromResponse(response(503, http.Header{name: {"250"}}, body)))
			if d, ok := e.RetryAfter(); !ok || d != 250*time.Millisecond {
				t.Errorf("%s with %s: got %v, %t", name, body, d, ok)
			}
		}
	}
}

// TestSuggestedDelay: whatever form the number has, nobody comes back too early.
func TestSuggestedDelay(t *testing.T) {
	t.Parallel()
	const longest = math.MaxInt64 / time.Millisecond * time.Millisecond
	for number, want := range map[string]time.Duration{
		`250`: 250 * time.Millisecond, `"250"`: 250 * time.Millisecond, `0.5`: time.Millisecond, `"1.25"`: 2 * time.Millisecond,
		`99999999999999999999`: longest, `"99999999999999999999"`: longest, `1e300`: longest, `1e999`: longest,
		`-1`: 0, `"soon"`: 0, `null`: 0, `[]`: 0, `"NaN"`: 0,
	} {
		body := `{"error":{"code":"ENDPOINT_UNREACHABLE","retry":{"suggested_delay_ms":` + number + `}}}`
		e := typed(t, blueprint.FromResponse(response(503, nil, body)))
		if d, ok := e.RetryAfter(); d != want || ok != (want > 0) {
			t.Errorf("%s: got %v, %t, want %v", number, d, ok, want)
		}
	}
}

// TestNeverMeansOnce: what must never be retried is called exactly once, whatever else the answer says.
func TestNeverMeansOnce(t *testing.T) {
	t.Parallel()
	const hopeful = `"retry":{"suggested_delay_ms":1,"max_attempts":9}`
	app := func(code, reason string) string {
		return `"details":{"application_error":{"errorCode":"` + code + `","errorReason":"` + reason + `","retriable":true,"retryAfterMs":1}},`
	}
	cases := []struct {
		name, body string
		status     int
		calls      int
	}{
		{"version and an outage", `{"error":{"code":"VERSION_INCOMPATIBLE",` + app("UPSTREAM_UNAVAILABLE", "down") + hopeful + `}}`, 422, 1},
		{"validation and a rate limit", `{"error":{"code":"VALIDATION_ERROR",` + app("RATE_LIMITED", "quota") + hopeful + `}}`, 400, 1},
		{"credentials and a timeout", `{"error":{"code":"AUTH_REQUIRED",` + app("UPSTREAM_TIMEOUT", "late") + hopeful + `}}`, 401, 1},
		{"permission and an internal fault", `{"error":{"code":"PERMISSION_DENIED",` + app("INTERNAL_ERROR", "x") + hopeful + `}}`, 403, 1},
		{"validation that is called retriable", `{"error":{"code":"VALIDATION_ERROR",` + app("INVALID_INPUT", "x") + hopeful + `}}`, 400, 1},
		{"guardrail that is called retriable", `{"error":{"code":"PERMISSION_DENIED",` + app("GUARDRAIL_BLOCKED", "pii") + hopeful + `}}`, 403, 1},
		{"a never row inside", `{"error":{"code":"ENDPOINT_UNREACHABLE",` + app("AUTH_REQUIRED", "x") + hopeful + `}}`, 503, 1},
		{"a code of errcode", `{"error":{"code":"INVALID_INPUT",` + hopeful + `}}`, 400, 1},
		{"an unknown code and 401", `{"error":{"code":"TOKEN_STALE",` + hopeful + `}}`, 401, 1},
		{"an outage", `{"error":{"code":"ENDPOINT_UNREACHABLE",` + hopeful + `}}`, 503, 3},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			_, err := retry.Do(t.Context(), func(context.Context) (int, error) {
				calls++
				return 0, blueprint.FromResponse(response(tc.status, nil, tc.body))
			}, retry.WithClock(patient{}))
			if calls != tc.calls || err == nil {
				t.Errorf("%d calls, want %d: %v", calls, tc.calls, err)
			}
		})
	}
}

// patient is a clock on which every wait is over at once.
type patient struct{}

func (patient) Now() time.Time                                   { return time.Time{} }
func (patient) Sleep(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }

func TestUnknownCodeTakesTheStatus(t *testing.T) {
	t.Parallel()
	e := typed(t, blueprint.FromResponse(response(429, nil, `{"error":{"code":"SLOW_DOWN","message":"m"}}`)))
	if e.Code() != errcode.RateLimited || !e.Retriable() || e.Reason() != "slow_down" || e.Details()["blueprint_code"] != "SLOW_DOWN" {
		t.Errorf("got %v, %v", e, e.Details())
	}
}

func TestURLCarriesNoSecrets(t *testing.T) {
	t.Parallel()
	resp := response(503, http.Header{"Set-Cookie": {"a=b"}}, "")
	resp.Request = &http.Request{Method: http.MethodPost, URL: &url.URL{
		Scheme: "https", User: url.UserPassword("u", "p"), Host: "api.example.com", Path: "/skills", RawQuery: "key=k", Fragment: "f",
	}}
	var h *errcode.HTTPStatusError
	if err := blueprint.FromResponse(resp); !errors.As(err, &h) || h.URL != "https://api.example.com/skills" || h.Method != "POST" || len(h.Header) != 0 {
		t.Errorf("got %+v", h)
	}
}

// The delay in the header counts with every status that is retriable, with an envelope or without.
func TestDelayOfEveryRetriableStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{408, 429, 500, 502, 503, 504, 529, 404} {
		for _, body := range []string{"", `{"error":{"code":"SOMETHING","message":"m"}}`} {
			resp := &http.Response{
				StatusCode: status, Header: http.Header{"Retry-After": {"30"}}, Body: io.NopCloser(strings.NewReader(body)),
			}
			class := errcode.Default().Classify(blueprint.FromResponse(resp))
			if class.HasRetryAfter != (status != 404) || class.HasRetryAfter && class.RetryAfter != 30*time.Second {
				t.Errorf("%d %q: %+v", status, body, class)
			}
		}
	}
}
