package errcode

import (
	"strings"
	"unicode/utf8"
)

// Redact masks credentials in text with [redacted] and leaves the rest readable. It knows bearer
// and basic authentication, common API keys (sk-…, ghp_…, AKIA…, AIza…, xox… and many others), user:password@ in
// URLs and connection strings, assignments such as password=… in many spellings including JSON,
// JSON Web Tokens, PEM private keys even when cut, and cookies. It is a safety net: what
// looks like ordinary text passes.
//
// The result is valid UTF-8, and redacting it again changes nothing. The work is in proportion to the
// length of the text.
func Redact(s string) string {
	s = validText(s)
	for range maxPasses {
		next := redactOnce(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// validText is s with what is not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// maxPasses bounds the passes over a text. What one pass masks can bring two pieces together that
// the next one recognises; text without a secret takes a single pass.
const maxPasses = 16

// span is the part of a text to mask.
type span struct{ start, end int }

// finder looks for a secret that is announced by the byte at i. done is where the last one
// ended; a span must not begin before.
type finder func(s string, i, done int) (span, bool)

// finders are indexed by the byte that announces a secret, so that the scan of ordinary text is
// one table look-up for each byte.
var finders = func() (f [256]finder) {
	f['='], f[':'] = findAssigned, findAfterColon
	f['b'], f['B'] = findScheme, findScheme
	f['-'] = findPEM
	f['e'] = findJWT
	f['%'], f['>'] = findEncoded, findElement
	for first := range prefixesBy {
		if len(prefixesBy[first]) > 0 {
			f[first] = findKey
		}
	}
	return f
}()

func redactOnce(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		find := finders[s[i]]
		if find == nil || i > 0 && isWord(s[i]) && isWord(s[i-1]) {
			continue // nothing begins here, or only within a word
		}
		sp, ok := find(s, i, done)
		if !ok || sp.start < done || sp.end <= sp.start {
			continue
		}
		b.WriteString(s[done:sp.start])
		b.WriteString(mask)
		done = sp.end
		i = done - 1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// keyPrefix is how an API key begins, with the least number of characters that must follow.
type keyPrefix struct {
	text string
	rest int
}

var keyPrefixes = []keyPrefix{
	{"sk-", 4},
	{"sk_live_", 4},
	{"sk_test_", 4},
	{"rk_live_", 4},
	{"rk_test_", 4},
	{"ghp_", 6},
	{"gho_", 6},
	{"ghu_", 6},
	{"ghs_", 6},
	{"ghr_", 6},
	{"github_pat_", 6},
	{"glpat-", 6},
	{"AKIA", 12},
	{"ASIA", 12},
	{"AIza", 12},
	{"xoxa-", 6},
	{"xoxb-", 6},
	{"xoxe-", 6},
	{"xoxo-", 6},
	{"xoxp-", 6},
	{"xoxr-", 6},
	{"xoxs-", 6},
	{"xapp-", 6},
	{"hf_", 16},
	{"gsk_", 16},
	{"xai-", 16},
	{"npm_", 16},
	{"pypi-", 16},
	{"SG.", 16},
	{"ya29.", 16},
	{"shpat_", 8},
	{"shpca_", 8},
	{"shppa_", 8},
	{"shpss_", 8},
	{"whsec_", 8},
	{"dop_v1_", 8},
	{"lin_api_", 8},
	{"GOCSPX-", 8},
}

// prefixesBy holds the prefixes by their first byte.
var prefixesBy = func() (by [256][]keyPrefix) {
	for _, p := range keyPrefixes {
		by[p.text[0]] = append(by[p.text[0]], p)
	}
	return by
}()

// findKey recognises API keys by their prefix.
func findKey(s string, i, _ int) (span, bool) {
	for _, p := range prefixesBy[s[i]] {
		if !strings.HasPrefix(s[i:], p.text) {
			continue
		}
		end := run(s, i+len(p.text), isKeyChar)
		if strings.HasSuffix(p.text, ".") { // parts with dots between them
			end = run(s, end, func(c byte) bool { return c == '.' || isKeyChar(c) })
			end = i + len(strings.TrimRight(s[i:end], "."))
		}
		body := s[min(i+len(p.text), end):end]
		if len(body) >= p.rest && (len(body) >= 8 || strings.ContainsAny(body, "0123456789")) {
			return span{i, end}, true
		}
	}
	return span{}, false
}

// maxJWTHead bounds the first part of a JSON Web Token, in bytes.
const maxJWTHead = 2048

// findJWT recognises JSON Web Tokens: base64 of an object, dots between the parts. The last one
// in a text may be cut.
func findJWT(s string, i, _ int) (span, bool) {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return span{}, false
	}
	head := run(s[:min(len(s), i+maxJWTHead)], i, isKeyChar)
	// What does not look like one is left before the rest is read, so that the work stays in
	// proportion to the text, however many beginnings are in it.
	if head-i < 8 || head < len(s) && s[head] != '.' && !isKeyChar(s[head]) {
		return span{}, false
	}
	end := run(s, head, func(c byte) bool { return c == '.' || isKeyChar(c) })
	end = i + len(strings.TrimRight(s[i:end], "."))
	if end == head && head < len(s) {
		return span{}, false
	}
	return span{i, end}, true
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemKey   = "PRIVATE KEY"
)

// findPEM recognises private keys in PEM form: with both ends, without the end (everything that
// follows is masked) and without the beginning (the lines before are masked).
func findPEM(s string, i, done int) (span, bool) {
	if label, ok := pemLabel(s[i:], pemBegin); ok {
		return span{i, pemBlockEnd(s, i+label)}, true
	}
	if label, ok := pemLabel(s[i:], pemEnd); ok {
		start := i
		for start > done && isPEMChar(s[start-1]) {
			start--
		}
		return span{start, i + label}, true
	}
	return span{}, false
}

// pemLabel returns the length of a begin or end line of a private key at the start of s.
func pemLabel(s, kind string) (n int, ok bool) {
	if !strings.HasPrefix(s, kind) {
		return 0, false
	}
	line := s[:min(len(s), len(kind)+64)]
	at := strings.Index(line, pemKey)
	if at < 0 || strings.ContainsAny(line[:at], "\n") {
		return 0, false
	}
	n = at + len(pemKey)
	return n + run(s[n:], 0, func(c byte) bool { return c == '-' }), true
}

func pemBlockEnd(s string, from int) int {
	for at := from; ; {
		i := strings.Index(s[at:], pemEnd)
		if i < 0 {
			return len(s)
		}
		at += i
		if n, ok := pemLabel(s[at:], pemEnd); ok {
			return at + n
		}
		at += len(pemEnd)
	}
}

// run returns the end of the run of bytes from i on for which in is true.
func run(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func isWord(c byte) bool {
	return isLower(c) || isUpper(c) || isDigit(c) || c == '_'
}

func isKeyChar(c byte) bool { return isWord(c) || c == '-' }

func isPEMChar(c byte) bool {
	return isWord(c) || strings.IndexByte("+/=\r\n\\", c) >= 0
}
