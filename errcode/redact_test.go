package errcode_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2aexec/a2aexec/errcode"
)

const (
	jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
	pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC==\n-----END RSA PRIVATE KEY-----"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"bearer", "401 for Bearer abc.def-123: denied", "401 for Bearer [redacted]: denied"},
		{"bearer in lower case", "bearer abc", "bearer [redacted]"},
		{"bearer header", "Authorization: Bearer abc123 was refused", "Authorization: [redacted] was refused"},
		{"header map", "map[Authorization:[Bearer abc] Accept:[a/b]]", "map[Authorization:[redacted] Accept:[a/b]]"},
		{"header in JSON", `{"Authorization":"Bearer abc","a":1}`, `{"Authorization":"[redacted]","a":1}`},
		{"digest header", "Authorization: Digest username=\"a\", response=\"b\"\nHost: x", "Authorization: [redacted]\nHost: x"},
		{"basic", "sent Basic Ym9iOmh1bnRlcjI= to x", "sent Basic [redacted] to x"},
		{"OpenAI key", "key sk-proj-abc123DEF456 is invalid", "key [redacted] is invalid"},
		{"short sk key", "Incorrect API key provided: sk-1234.", "Incorrect API key provided: [redacted]."},
		{"Stripe key", "sk_live_abcdefgh", "[redacted]"},
		{"GitHub token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"},
		{"GitHub fine-grained", "(github_pat_11ABCDEFG0_abcdef)", "([redacted])"},
		{"AWS key", "AKIAIOSFODNN7EXAMPLE is unknown", "[redacted] is unknown"},
		{"Google key", "https://x/y?key=AIzaSyA-1234567890abcdefghijklmnopqrstu&z=1", "https://x/y?key=[redacted]&z=1"},
		{"Slack token", "xoxb-1234-5678-abcdef", "[redacted]"},
		{"URL", "dial postgres://bob:hunter2@db:5432/x: refused", "dial postgres://[redacted]@db:5432/x: refused"},
		{"URL with @ in the password", "redis://:p@ss@cache/0", "redis://[redacted]@cache/0"},
		{"URL with / in the password", "amqp://bob:p/ss@mq:5672/", "amqp://[redacted]@mq:5672/"},
		{"URL with a token as user", "https://0123456789abcdef0@github.com/x", "https://[redacted]@github.com/x"},
		{"MySQL DSN", "bob:hunter2@tcp(db:3306)/x", "bob:[redacted]@tcp(db:3306)/x"},
		{"DSN with a port", "connect bob:hunter2@db.example:5432/x", "connect bob:[redacted]@db.example:5432/x"},
		{"libpq DSN", "host=db user=bob password=hunter2 dbname=x", "host=db user=bob password=[redacted] dbname=x"},
		{"quoted DSN value", "password='hun ter2' dbname=x", "password='[redacted]' dbname=x"},
		{"ADO DSN", "Server=x;Pwd=hunter2;Database=y", "Server=x;Pwd=[redacted];Database=y"},
		{"spaces", "password = hunter2, retry", "password = [redacted], retry"},
		{"colon", "Password: hunter2", "Password: [redacted]"},
		{"Go assignment", `token := "hunter2"`, `token := "[redacted]"`},
		{"Ruby hash", `:password=>"hunter2"`, `:password=>"[redacted]"`},
		{"query", "GET /x?api_key=hunter2&access_token=abc&user=bob", "GET /x?api_key=[redacted]&access_token=[redacted]&user=bob"},
		{"JSON", `{"password":"hun\"ter2","user":"bob"}`, `{"password":"[redacted]","user":"bob"}`},
		{"JSON with spaces", `{"client_secret" : "hunter2"}`, `{"client_secret" : "[redacted]"}`},
		{"escaped JSON", `body "{\"password\":\"hunter2\",\"a\":1}"`, `body "{\"password\":\"[redacted]\",\"a\":1}"`},
		{"JSON number", `{"pwd":1234,"a":1}`, `{"pwd":[redacted],"a":1}`},
		{"JSON list", `{"tokens":["a"],"secrets":["a","b"],"x":1}`, `{"tokens":["a"],"secrets":[redacted],"x":1}`},
		{"cut JSON", `{"password":"hunt`, `{"password":"[redacted]`},
		{"environment", "AWS_SECRET_ACCESS_KEY=wJalr/XUtn", "AWS_SECRET_ACCESS_KEY=[redacted]"},
		{"header with a dash", "X-Api-Key: abc", "X-Api-Key: [redacted]"},
		{"camel case", "apiKey=abc refreshToken=def", "apiKey=[redacted] refreshToken=[redacted]"},
		{"JWT", "session " + jwt + " expired", "session [redacted] expired"},
		{"cut JWT", "session " + jwt[:30], "session [redacted]"},
		{"private key", "bad key " + pem + " in file", "bad key [redacted] in file"},
		{"private key, one line", "key \"" + strings.ReplaceAll(pem, "\n", `\n`) + "\" in file", "key \"[redacted]\" in file"},
		{"private key without its end", "bad key " + pem[:45], "bad key [redacted]"},
		{"private key without its beginning", "bad key " + pem[36:] + "!", "bad key [redacted]!"},
		{"cookie", "Cookie: a=b; c=d\nHost: x", "Cookie: [redacted]\nHost: x"},
		{"set-cookie", "got Set-Cookie: sid=1; Path=/; HttpOnly", "got Set-Cookie: [redacted]"},
		{"two secrets", "token=a token=b", "token=[redacted] token=[redacted]"},
		{"not UTF-8", "a\xffb password=\xfe", "a\uFFFDb password=[redacted]"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := errcode.Redact(tc.text)
			if got != tc.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", tc.text, got, tc.want)
			}
			if again := errcode.Redact(got); again != got {
				t.Errorf("redacting %q again gives %q", got, again)
			}
		})
	}
}

func TestRedactLeavesOrdinaryTextAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"look up account 4711: HTTP 502 Bad Gateway",
		"dial tcp 10.0.0.1:5432: connect: connection refused",
		"Get \"http://bank.example:8080/x?a=b\": EOF",
		"https://bob@example.com/@types/node",
		"write to mailto:bob@example.com or bob@example.com",
		"email:bob@example.com is unknown",
		"basic authentication is required",
		"Basic Auth is missing, bearer token required",
		"WWW-Authenticate: Bearer realm=\"x\"",
		"max_tokens: 100, total_tokens=7, tokenizer=bpe",
		"if token == nil",
		"scikit sk-learn, locale sk-SK, task-force-1234567",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"질의 본문이 비어있습니다: €5",
		"key=value; primary_key=7; passive=true; compass: north",
		"0198-6b2a-7c41-eyJ",
	} {
		if got := errcode.Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

// slowUnits make a text slow to scan when they are repeated.
var slowUnits = []string{
	"eyJ.", "eyJ-", ".eyJabcdefghij", "eyJabcde ", "<token>", "token%3D", "cookie=a; ", "bearer \"", "a=Bearer%20", "://", ":", "=", "a:", "-eyJ", "eyJ-", "bearer ", "basic a=/", "sk-", "-----BEGIN ", "-----END ", "-----END PRIVATE KEY",
	"-----BEGIN PRIVATE KEY", "cookie: [redacted] ", "password=[redacted] ", `password="`, `password=\"`, "password=[", "token=\"\" ",
	"a://b:c/", "x:y@", "password=)", "authorization: basic ", "cookie: a\n", `cookie: a\n`, "\xff", `\`, `token:\`,
}

// Text made to be slow to scan must take time in proportion to its length; if it did not, this
// test would not end.
func TestRedactHostileText(t *testing.T) {
	t.Parallel()
	for _, unit := range slowUnits {
		text := strings.Repeat(unit, (512<<10)/len(unit))
		if got := errcode.Redact(text); !utf8.ValidString(got) {
			t.Errorf("%q: not UTF-8", unit)
		}
	}
}

// Eight times the text may take eight times as long, not 64 times. Pairs of units are tried too; a
// slow machine slows both down, and the minima of many rounds are compared.
func TestRedactIsLinear(t *testing.T) { //nolint:paralleltest // it compares times
	if raceEnabled {
		t.Skip("the race detector makes the times too uneven")
	}
	took := func(text string) time.Duration {
		start := time.Now()
		errcode.Redact(text)
		return time.Since(start)
	}
	units := slices.Clone(slowUnits)
	for i, unit := range slowUnits {
		units = append(units, unit+slowUnits[(i*7+3)%len(slowUnits)])
	}
	for _, unit := range units {
		small, large := strings.Repeat(unit, (8<<10)/len(unit)), strings.Repeat(unit, (64<<10)/len(unit))
		short, long := time.Hour, time.Hour // the minima
		for round := 0; round < 5 || round < 50 && long > 40*short; round++ {
			short, long = min(short, took(small)), min(long, took(large))
		}
		if long > 40*short {
			t.Errorf("%q: eight times the text took %v instead of %v", unit, long, short)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"", "password=x", "a://b:c@d", "Bearer x", jwt, pem, `{"token":"a\"b"}`, "Cookie: a", "x:y@tcp(", "\xff=", "token::=\\\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := errcode.Redact(s)
		if !utf8.ValidString(got) {
			t.Errorf("Redact(%q) = %q is not UTF-8", s, got)
		}
		if again := errcode.Redact(got); again != got {
			t.Errorf("Redact(%q) = %q, and again %q", s, got, again)
		}
		if planted := errcode.Redact("password=hunter2 " + s); strings.HasPrefix(planted, "password=hunter2") {
			t.Errorf("the rest %q hides a secret before it", s)
		}
	})
}
