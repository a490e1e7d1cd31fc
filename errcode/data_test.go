package errcode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

var update = flag.Bool("update", false, "write the golden files")

// mustData builds the data of an error that is fine.
func mustData(t *testing.T, e *errcode.Error) errcode.Data {
	t.Helper()
	d, err := errcode.Builder{}.Data(e)
	if err != nil {
		t.Fatalf("build data: %v", err)
	}
	return d
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return append(b, '\n')
}

func TestDataGolden(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  *errcode.Error
	}{
		{"full", fullError()},
		{"small", errcode.New(errcode.Internal, "internal_error")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := mustData(t, tc.err)
			got := mustJSON(t, d)
			golden := filepath.Join("testdata", "data_"+tc.name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			var fromStruct any
			if err := json.Unmarshal(got, &fromStruct); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fromStruct, any(d.Map())); diff != "" {
				t.Errorf("Map differs from encoding/json (-json +map):\n%s", diff)
			}
		})
	}
}

func TestInvalidDataFallsBack(t *testing.T) {
	t.Parallel()
	ok := []errcode.Option{errcode.Message("text"), errcode.CorrelationID("id-1"), errcode.Detail("k", "v")}
	tests := []struct {
		name   string
		err    *errcode.Error
		report string
	}{
		{"empty reason", errcode.New(errcode.NotFound, "", ok...), "errorReason"},
		{"reason that is not ASCII", errcode.New(errcode.NotFound, "fehlt_für", ok...), "errorReason"},
		{"unknown code", errcode.New("TEAPOT", "x", ok...), "errorCode"},
		{"empty code", errcode.New("", "x", ok...), "errorCode"},
		{"source without a system", errcode.New(errcode.NotFound, "x", append(ok, errcode.Source("accounts"))...), "errorSource"},
		{"source with an unknown system", errcode.New(errcode.NotFound, "x", append(ok, errcode.Source("ftp:x"))...), "errorSource"},
		{"domain with capitals", errcode.New(errcode.NotFound, "x", append(ok, errcode.Domain("Subject"))...), "domain"},
		{"negative delay", errcode.New(errcode.NotFound, "x", append(ok, errcode.RetryAfter(-1))...), "retryAfterMs"},
		{"negative retries", errcode.New(errcode.NotFound, "x", append(ok, errcode.Retried(-1))...), "retried"},
		{"guardrail on another code", errcode.New(errcode.NotFound, "x", append(ok, errcode.Guardrail("c", nil))...), "guardrail"},
	}
	want := errcode.Data{
		ErrorCode: errcode.Internal, ErrorReason: "error_data_build_failed",
		ErrorMessage: errcode.Internal.Text(), CorrelationID: "id-1",
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := errcode.Builder{}.Data(tc.err)
			if err == nil || !strings.Contains(err.Error(), tc.report) {
				t.Errorf("report = %v, want one about %s", err, tc.report)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("nil", func(t *testing.T) {
		t.Parallel()
		got, err := errcode.Builder{}.Data(nil)
		if err == nil || got.ErrorReason != "error_data_build_failed" {
			t.Errorf("data = %+v, report %v", got, err)
		}
	})
	t.Run("domain of the builder", func(t *testing.T) {
		t.Parallel()
		got, err := errcode.Builder{Domain: "Not Kebab"}.Data(errcode.New(errcode.NotFound, "x"))
		if err == nil || got.ErrorReason != "error_data_build_failed" {
			t.Errorf("data = %+v, report %v", got, err)
		}
	})
}

func TestWhatJSONCannotExpressIsDropped(t *testing.T) {
	t.Parallel()
	loop := map[string]any{"fine": true}
	loop["self"] = loop
	e := errcode.New(errcode.GuardrailBlocked, "x",
		errcode.Details(map[string]any{"ch": make(chan int), "nan": math.NaN(), "loop": loop, "list": []any{1, func() {}}}),
		errcode.Guardrail("c", map[string]any{"f": math.Inf(1)}),
		errcode.Violations(errcode.Violation{Field: "/a", Actual: complex(1, 2)}))
	d, err := errcode.Builder{}.Data(e)
	want := map[string]any{"loop": map[string]any{"fine": true}, "list": []any{1.0, nil}}
	if diff := cmp.Diff(want, d.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/details/ch", "/details/nan", "/details/loop/self", "/details/list/1", "/guardrail/f", "/violations"} {
		if err == nil || !strings.Contains(err.Error(), path+":") {
			t.Errorf("the report lacks %s: %v", path, err)
		}
	}
	if d.ErrorReason != "x" {
		t.Errorf("the payload was lost: %+v", d)
	}
}

func TestBuilderDomainAndDelay(t *testing.T) {
	t.Parallel()
	b := errcode.Builder{Domain: "accounts"}
	d, err := b.Data(errcode.New(errcode.RateLimited, "x", errcode.RetryAfter(1500*time.Microsecond)))
	if err != nil || d.Domain != "accounts" || *d.RetryAfterMs != 2 {
		t.Errorf("data %+v, report %v", d, err)
	}
	d, err = b.Data(errcode.New(errcode.RateLimited, "x", errcode.RetryAfter(0), errcode.Domain("own")))
	if err != nil || d.Domain != "own" || *d.RetryAfterMs != 0 {
		t.Errorf("data %+v, report %v", d, err)
	}
}

func TestHideInternal(t *testing.T) {
	t.Parallel()
	hide := errcode.Builder{HideInternal: true}
	table := errcode.NewTable(errcode.When("rule", func(err error) bool { return err.Error() == "ruled" },
		errcode.Internal, "ruled", errcode.Message("public")))
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"unclassified", errors.New("the dirty details"), errcode.Internal.Text()},
		{"classified", &errcode.RegistryTimeoutError{Registry: "r"}, "timeout at registry r"},
		{"author's message", errcode.New(errcode.Internal, "x", errcode.Message("public")), "public"},
		{"wrapped author's message", wrapped(errcode.New(errcode.Internal, "x", errcode.Message("public")), 2), "public"},
		{"message of a rule", errors.New("ruled"), "public"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, err := hide.Data(table.Convert(tc.err))
			if err != nil || d.ErrorMessage != tc.want {
				t.Errorf("message = %q, want %q (%v)", d.ErrorMessage, tc.want, err)
			}
		})
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	t.Parallel()
	const mark = "… [cut, "
	tests := []struct {
		name    string
		limit   int
		message string
		want    string // "" when only the general rules are checked
	}{
		{"at the limit", 10, "0123456789", "0123456789"},
		{"over the limit", 10, "0123456789x", "0123456789… [cut, 11 bytes in all]"},
		{"at a rune", 10, "012345678€uro", "012345678… [cut, 15 bytes in all]"},
		{"ten megabytes", 0, strings.Repeat("x", 10<<20), ""},
		{"ten megabytes of words", 0, strings.Repeat("€ and ¥ ", 1<<20), ""},
		{"not UTF-8", 0, strings.Repeat("\xff", 10<<20), ""},
		{"secret across the limit", 10, "01234 password=hunter2", "01234 pass… [cut, 22 bytes in all]"},
		{"secret at the limit", 20, "01234 password=" + strings.Repeat("hunter2", 10), "01234 password=[reda… [cut, 85 bytes in all]"},
		{"secret across the window", 0, strings.Repeat("x", 8<<10-10) + " http://bob:" + strings.Repeat("hunter2", 1000) + "@db " + strings.Repeat("y ", 9000), ""},
		{"cut key", 0, strings.Repeat("x ", 4090) + "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("hunter2\n", 1<<20), ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := errcode.New(errcode.NotFound, "x", errcode.Message(tc.message))
			d, err := errcode.Builder{MaxMessage: tc.limit}.Data(e)
			if err != nil {
				t.Fatal(err)
			}
			got := d.ErrorMessage
			if tc.want != "" {
				if got != tc.want {
					t.Errorf("message = %q, want %q", got, tc.want)
				}
				return
			}
			text, rest, ok := strings.Cut(got, mark)
			if !ok || !strings.HasSuffix(rest, " bytes in all]") || len(text) > 8<<10 || !utf8.ValidString(got) {
				t.Errorf("message of %d bytes is not cut and marked: …%q", len(got), got[max(0, len(got)-60):])
			}
			if strings.Contains(got, "hunter2") {
				t.Error("half a secret is shown")
			}
		})
	}
}

func TestTextsAreCleaned(t *testing.T) {
	t.Parallel()
	const dirty = "token=hunter2 \xff"
	const clean = "token=[redacted] \uFFFD"
	e := errcode.New(errcode.GuardrailBlocked, "x", errcode.Message(dirty),
		errcode.Guardrail(dirty, map[string]any{"a": []any{dirty}}), errcode.Source("internal:x"),
		errcode.Violations(errcode.Violation{Field: "/a", Expected: dirty, Actual: dirty, Message: dirty},
			errcode.Violation{Field: "/db/password", Actual: "hunter2"}),
		errcode.Details(map[string]any{
			"a": map[string]any{"b": dirty}, "apiKey": 7, "Set-Cookie": []any{"hunter2"}, "user_password": "hunter2",
			"Authorization": "hunter2", "client_secret": "hunter2", "max_tokens": 5, "token": nil,
		}))
	d := mustData(t, e)
	want := errcode.Data{
		ErrorCode: errcode.GuardrailBlocked, ErrorReason: "x", ErrorMessage: clean, ErrorSource: "internal:x",
		Guardrail: map[string]any{"a": []any{clean}, "violationCategory": clean},
		Violations: []errcode.Violation{
			{Field: "/a", Expected: clean, Actual: clean, Message: clean},
			{Field: "/db/password", Actual: "[redacted]"},
		},
		Details: map[string]any{
			"a": map[string]any{"b": clean}, "apiKey": "[redacted]", "Set-Cookie": "[redacted]", "user_password": "[redacted]",
			"Authorization": "[redacted]", "client_secret": "[redacted]", "max_tokens": 5.0, "token": nil,
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if b := mustJSON(t, d); bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("a secret crosses the wire: %s", b)
	}
}

func TestRedactorOfTheBuilder(t *testing.T) {
	t.Parallel()
	e := errcode.New(errcode.NotFound, "x", errcode.Message("hunter2"), errcode.Detail("k", "hunter2"))
	b := errcode.Builder{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***\xff") }}
	d, err := b.Data(e)
	if err != nil || d.ErrorMessage != "***\uFFFD" || d.Details["k"] != "***\uFFFD" {
		t.Errorf("data %+v, report %v", d, err)
	}
	b.Redact = func(string) string { panic("boom") }
	d, err = b.Data(e)
	if err != nil || d.ErrorMessage != errcode.NotFound.Text() || strings.Contains(string(mustJSON(t, d)), "hunter2") {
		t.Errorf("a panicking redactor: data %+v, report %v", d, err)
	}
	b.Redact = func(string) string { return "" }
	if d, err = b.Data(e); err != nil || d.ErrorMessage != errcode.NotFound.Text() {
		t.Errorf("a redactor that leaves nothing: data %+v, report %v", d, err)
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Subject Management": "subject-management", "billingAgent": "billing-agent", "HTTP2 Proxy!": "http2-proxy",
		"  a -- b__c ": "a-b-c", "Агент 7": "7", "질의": "", "": "",
	} {
		got := errcode.DomainFrom(name)
		if got != want || got != "" && !errcode.ValidDomain(got) {
			t.Errorf("DomainFrom(%q) = %q, want %q", name, got, want)
		}
	}
	for _, bad := range []string{"", "-a", "a-", "a--b", "A", "a_b", "a b", "ä", "a\n", "\x00"} {
		if errcode.ValidDomain(bad) {
			t.Errorf("ValidDomain(%q)", bad)
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"mcp:MCP-001/check_account_owner", "http:GET /x", "rag:문서", "db:a:b", "internal:executor"} {
		if !errcode.ValidSource(good) {
			t.Errorf("ValidSource(%q) = false", good)
		}
	}
	for _, bad := range []string{"", "mcp", "mcp:", "mcp: x", "mcp:x ", "MCP:x", ":x", "smtp:x", "db:a\nb", "db:\xff"} {
		if errcode.ValidSource(bad) {
			t.Errorf("ValidSource(%q) = true", bad)
		}
	}
}
