package schema

import (
	"net/url"
	"strings"
	"unicode"
)

// What a push notification config says has to fit the request that is made of
// it: what cannot be sent is refused when it is set up.

// maxConfigID bounds the id of a config, in bytes: it is part of a URL.
const maxConfigID = 1024

// configID is one that a path of HTTP+JSON can name (A2A v1.0 section 11.3).
// Empty counts as absent.
func configID(c *checker, v any) {
	s, ok := v.(string)
	switch {
	case !ok:
		c.fail("expected a string, got %s", typeOf(v))
	case len(s) > maxConfigID:
		c.fail("expected at most %d bytes, got %d", maxConfigID, len(s))
	case s == "." || s == "..":
		c.fail("must not be %q, which no URL can name", s)
	case strings.Contains(s, "/"), strings.ContainsFunc(s, unicode.IsControl):
		c.fail("must not contain slashes and control characters, for it is part of a URL")
	}
}

// webhook is where notifications can be sent.
func webhook(c *checker, v any) {
	s, ok := v.(string)
	u, err := url.Parse(s)
	if !ok || err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		c.fail("expected an absolute http or https URL")
	}
}

// authScheme is the name of an HTTP authentication scheme (RFC 9110 sections
// 5.6.2 and 11.1).
func authScheme(c *checker, v any) {
	name(c, v)
	if s, ok := v.(string); ok && strings.ContainsFunc(s, func(r rune) bool { return !isTokenChar(r) }) {
		c.fail("expected the name of an HTTP authentication scheme such as Bearer, got %q", shorten(s))
	}
}

func isTokenChar(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// headerText is what the value of an HTTP header can carry.
func headerText(c *checker, v any) {
	text(c, v)
	if s, ok := v.(string); ok && strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		c.fail("must not contain control characters, for it is sent in an HTTP header")
	}
}

var authFields03 = object(need("schemes", list(authScheme)), may("credentials", headerText))

// auth03 needs a scheme for the credentials, which are those of the first.
func auth03(c *checker, v any) {
	authFields03(c, v)
	m, _ := v.(map[string]any)
	schemes, isList := m["schemes"].([]any)
	if credentials, _ := m["credentials"].(string); credentials != "" && isList && len(schemes) == 0 {
		c.in("schemes", func(c *checker, _ any) { c.fail("at least one scheme is required for the credentials") }, nil)
	}
}
