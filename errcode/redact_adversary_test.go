package errcode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/errcode"
)

// Each of these let a part of the secret pass.
func TestRedactCredentialsWithTheirScheme(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"authorization=Bearer S3cret x":                               "authorization=[redacted] x",
		"token: Bearer S3cret":                                        "token: [redacted]",
		"x-auth-token: Bearer S3cret, b":                              "x-auth-token: [redacted], b",
		"access_token=Bearer S3cret&b=c":                              "access_token=[redacted]&b=c",
		"Authorization = Bearer S3cret":                               "Authorization = [redacted]",
		"authorization => Bearer S3cret":                              "authorization => [redacted]",
		"Authorization=Basic UzNjcmV0OlMzY3JldA== x":                  "Authorization=[redacted] x",
		`auth=Bearer "S3cret" x`:                                      `auth=[redacted]" x`,
		`bearer "S3cret" was refused`:                                 `bearer "[redacted]" was refused`,
		"authorization=Bearer%20S3cret&x=y":                           "authorization=[redacted]&x=y",
		`authorization = Digest username="S3cret", response="S3cret"`: "authorization = [redacted]",
		"token: Bearer [redacted] x":                                  "token: [redacted] x",
		"Cookie=sid=a; other=S3cret":                                  "Cookie=[redacted]",
		"Cookie: a=1; b=S3cret":                                       "Cookie: [redacted]",
		"cookies = a=1; b=\"S3cret 2\"; c=S3cret x":                   "cookies = [redacted] x",
		"auth_token%3DS3cret%26user%3Dbob":                            "auth_token%3D[redacted]%26user%3Dbob",
		"<password>S3cret two</password>":                             "<password>[redacted]</password>",
		"run cmd <token> <name>":                                      "run cmd <token> <name>",
	} {
		got := errcode.Redact(text)
		if got != want || errcode.Redact(got) != got {
			t.Errorf("Redact(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestRedactVendorKeys(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{
		"gsk_", "xai-", "SG.", "npm_", "pypi-", "ya29.", "shpat_", "whsec_", "glpat-", "hf_", "dop_v1_", "lin_api_", "GOCSPX-",
	} {
		key := prefix + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9"
		if got := errcode.Redact("key " + key + ", refused"); got != "key [redacted], refused" {
			t.Errorf("%s: %q", prefix, got)
		}
	}
}

// spelling draws a text that holds the secret in one of the ways in which logs and libraries write
// credentials.
func spelling(t *rapid.T, secret string) string {
	name := rapid.SampledFrom([]string{
		"authorization", "Authorization", "Proxy-Authorization", "token", "x-auth-token", "access_token", "refreshToken", "password",
		"DB_PASSWORD", "client_secret", "api_key", "X-Api-Key", "auth", "cookie", "Set-Cookie", "credentials",
	}).Draw(t, "name")
	sep := rapid.SampledFrom([]string{"=", ": ", ":", " = ", " => ", "=>", ":=", " := ", "%3D", "%3a"}).Draw(t, "separator")
	scheme := rapid.SampledFrom([]string{"", "Bearer ", "bearer ", "BEARER  ", "Basic ", "Token ", "ApiKey ", "Bearer%20"}).Draw(t, "scheme")
	switch rapid.IntRange(0, 8).Draw(t, "form") {
	case 0:
		return fmt.Sprintf(`{%q:%q,"a":1}`, name, scheme+secret)
	case 1:
		return name + sep + `"` + scheme + secret + `"`
	case 2:
		return fmt.Sprintf("map[%s:[%s%s] A:[b]]", name, scheme, secret)
	case 3:
		return "cookie" + sep + "a=1; b=" + secret + "; c=" + secret
	case 4:
		return "bearer " + secret
	case 5:
		return "postgres://app:" + secret + "@db:5432/x"
	case 6:
		return "<" + name + ">" + secret + "</" + name + ">"
	case 7:
		return fmt.Sprintf("body %q", fmt.Sprintf(`{%q:%q}`, name, scheme+secret))
	default:
		return name + sep + scheme + secret
	}
}

func TestRandomSecretsNeverSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{5,30}[0-9]`).Draw(t, "secret")
		words := rapid.SampledFrom([]string{"", "refused: ", "call failed, ", "GET /x?a=b&", "msg=x ", "(", "line\n"})
		text := words.Draw(t, "before") + spelling(t, secret) + rapid.SampledFrom([]string{"", " after", "\nHost: x", ", b=c", ")"}).Draw(t, "after")
		got := errcode.Redact(text)
		if strings.Contains(got, secret) {
			t.Fatalf("Redact(%q) = %q", text, got)
		}
		if again := errcode.Redact(got); again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
	})
}

// A client chooses the value that a validation error repeats.
func TestViolationIsCutBeforeItIsRedacted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("eyJ.", 256<<10)
	err := validator.New().Struct(struct {
		Mail string `validate:"email"`
	}{long})
	seen := 0
	b := errcode.Builder{Redact: func(s string) string { seen += len(s); return errcode.Redact(s) }}
	d, problem := b.Data(errcode.Default().Convert(err))
	if problem != nil || len(d.Violations) != 1 {
		t.Fatalf("%+v, %v", d, problem)
	}
	if actual, ok := d.Violations[0].Actual.(string); !ok || len(actual) > 9<<10 || !strings.HasSuffix(actual, "[cut, 1048576 bytes in all]") {
		t.Errorf("actual has %d bytes", len(actual))
	}
	if seen > 64<<10 {
		t.Errorf("%d bytes were redacted", seen)
	}
	// A secret across the cut is still seen whole.
	at := strings.Repeat("a ", (8<<10-10)/2) + "password=hunter2hunter2hunter2" + strings.Repeat(" b", 8<<10)
	d, _ = b.Data(errcode.New(errcode.InvalidInput, "x", errcode.Violations(errcode.Violation{Field: "/a", Actual: []any{at}})))
	if text := fmt.Sprint(d.Violations[0].Actual); strings.Contains(text, "hunter") || strings.Contains(text, "hunt") {
		t.Errorf("half a secret is left: %q", text[len(text)-80:])
	}
}

func TestKeysThatRedactAlikeAreNumbered(t *testing.T) {
	t.Parallel()
	details := map[string]any{"sk-abcdefgh11": 1, "sk-abcdefgh22": 2, "sk-abcdefgh33": 3, "[redacted] (2)": 4, "plain": 5}
	want := map[string]any{"[redacted]": 1.0, "[redacted] (2)": 4.0, "[redacted] (3)": 2.0, "[redacted] (4)": 3.0, "plain": 5.0}
	for range 20 {
		d, err := errcode.Builder{}.Data(errcode.New(errcode.InvalidInput, "x", errcode.Details(details)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, d.Details); diff != "" && len(d.Details) != len(details) {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		first, _ := json.Marshal(d.Details)
		again, _ := errcode.Builder{}.Data(errcode.New(errcode.InvalidInput, "x", errcode.Details(details)))
		if second, _ := json.Marshal(again.Details); string(first) != string(second) {
			t.Fatalf("%s and %s", first, second)
		}
	}
}

func TestAuthorsOwnFieldsAreRedacted(t *testing.T) {
	t.Parallel()
	d, err := errcode.Builder{}.Data(errcode.New(errcode.UpstreamUnavailable, "password=hunter2",
		errcode.Source("db:postgres://app:hunter22@db.internal/orders")))
	if err != nil {
		t.Fatal(err)
	}
	if d.ErrorReason != "password=[redacted]" || d.ErrorSource != "db:postgres://[redacted]@db.internal/orders" {
		t.Errorf("%+v", d)
	}
	d, err = errcode.Builder{}.Data(errcode.New(errcode.GuardrailBlocked, "x", errcode.Guardrail("pii: password=hunter2", nil)))
	if err != nil || d.ErrorSource != "guardrail:pii-password-redacted" || d.Guardrail["violationCategory"] != "pii: password=[redacted]" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, id := range []string{"Bearer abcdefghijklm", "two words", "a\nb", "ü", strings.Repeat("a", 257), "password=hunter2"} {
		e := errcode.New(errcode.UpstreamUnavailable, "down", errcode.CorrelationID(id))
		d, err := errcode.Builder{}.Data(e)
		if e.CorrelationID() != "" || d.CorrelationID != "" || d.ErrorReason != "down" || err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("correlation id %q: %+v, %v", id, d, err)
		}
	}
	// The redactor of the builder has the last word, and cannot make the data invalid.
	b := errcode.Builder{Redact: func(s string) string { return strings.ReplaceAll(s, "corp", "█") }}
	d, err = b.Data(errcode.New(errcode.UpstreamUnavailable, "corp_down", errcode.Source("corp:x"), errcode.CorrelationID("corp-1")))
	if d.ErrorReason != "error_data_build_failed" || err == nil {
		t.Errorf("an invalid source: %+v, %v", d, err)
	}
	d, err = b.Data(errcode.New(errcode.UpstreamUnavailable, "corp_down", errcode.Source("db:corp"), errcode.CorrelationID("corp-1")))
	if d.ErrorCode != errcode.UpstreamUnavailable || d.ErrorReason != "internal_error" || d.ErrorSource != "db:█" || d.CorrelationID != "" || err == nil {
		t.Errorf("%+v, %v", d, err)
	}
}
