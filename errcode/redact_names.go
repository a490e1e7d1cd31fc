package errcode

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// maxName bounds the length of a name that is looked at.
const maxName = 64

// secretEndings end the names of secrets, once case, separators and trailing digits are taken
// away.
var secretEndings = []string{
	"password", "passwords", "passwd", "passphrase", "passcode", "pwd",
	"secret", "secrets", "token",
	"apikey", "apikeys", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey",
	"accountkey", "sharedkey", "authkey", "clientassertion",
	"credential", "credentials", "authorization", "cookie", "cookies", "signature",
}

// secretNames are names of secrets that would be too common as endings.
var secretNames = []string{"pass", "auth", "pat", "sig", "bearer"}

// trailers are words after which a name still names the secret itself.
var trailers = []string{"value", "confirmation", "confirm", "hash", "plain", "base64", "new", "old", "current"}

// isSecretName reports whether a field of this name holds a secret.
func isSecretName(name string) bool {
	var buf [maxName]byte
	n := 0
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	for i := range len(name) {
		c := name[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		if isLower(c) || isDigit(c) {
			buf[n] = c
			n++
		}
	}
	return isSecretWord(string(buf[:n]))
}

func isSecretWord(word string) bool {
	for word != "" && isDigit(word[len(word)-1]) {
		word = word[:len(word)-1]
	}
	for _, t := range trailers {
		if rest := strings.TrimSuffix(word, t); rest != "" {
			word = rest
		}
	}
	if word == "" {
		return false
	}
	for _, e := range endingsBy[word[len(word)-1]] {
		if strings.HasSuffix(word, e) {
			return true
		}
	}
	return slices.Contains(secretNames, word)
}

// endingsBy holds secretEndings by their last byte.
var endingsBy = func() (by [256][]string) {
	for _, e := range secretEndings {
		last := e[len(e)-1]
		by[last] = append(by[last], e)
	}
	return by
}()

// isHeaderName tells the headers whose value goes on to the end of the line.
func isHeaderName(name string) bool {
	for _, h := range []string{"authorization", "cookie"} {
		if len(name) >= len(h) && strings.EqualFold(name[len(name)-len(h):], h) {
			return true
		}
	}
	return false
}

// isCookieName tells names of cookies, of which several may follow.
func isCookieName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "cookie") || strings.HasSuffix(name, "cookies")
}

// notTokens are words that follow "bearer" in plain English.
var notTokens = []string{
	"token", "tokens", "auth", "authentication", "authorization", "scheme", "header", "realm",
	"is", "was", "of", "or", "and", "not", "required", "missing", "invalid", "credentials", "error",
	"format", "method", "type", "challenge",
}

// findScheme recognises "Bearer token" and "Basic base64" outside of a header.
func findScheme(s string, i, _ int) (span, bool) {
	for _, scheme := range []string{"bearer", "basic"} {
		end := i + len(scheme)
		if end >= len(s) || !strings.EqualFold(s[i:end], scheme) {
			continue
		}
		from := skipBlanks(s, end)
		if from == end || from == len(s) {
			return span{}, false
		}
		if isQuote(s[from]) {
			sp, ok := quotedSpan(s, from, s[from:from+1])
			token := s[sp.start:sp.end]
			return sp, ok && run(token, 0, isTokenChar) == len(token) && (scheme == "bearer" && isBearer(token) || isBasic(token))
		}
		to := run(s, from, isTokenChar)
		token := strings.TrimRight(s[from:to], ".=")
		if scheme == "bearer" && isBearer(token) || scheme == "basic" && isBasic(token) {
			return span{from, from + len(strings.TrimRight(s[from:to], "."))}, true
		}
		return span{}, false
	}
	return span{}, false
}

func isBearer(token string) bool {
	if token == "" || strings.Contains(token, "=") {
		return false
	}
	return !slices.ContainsFunc(notTokens, func(w string) bool { return strings.EqualFold(token, w) })
}

// isBasic tells the base64 of user:password from a word. It looks at the beginning only.
func isBasic(token string) bool {
	var src, dst [256]byte
	token = strings.TrimRight(token, "=")
	n, err := base64.RawStdEncoding.Decode(dst[:], src[:copy(src[:], token)])
	if err != nil && len(token)%4 != 1 || n < 3 {
		return false
	}
	return bytes.IndexByte(dst[:n], ':') >= 0 && isText(dst[:n]) || len(token) >= 24
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' {
			return false
		}
	}
	return true
}

func isTokenChar(c byte) bool {
	return isKeyChar(c) || strings.IndexByte(".~+/=", c) >= 0
}
