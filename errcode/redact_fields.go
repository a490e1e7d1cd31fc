package errcode

import "strings"

// findAfterColon recognises what can follow a colon: the user of a URL or of a connection string,
// or the value of a field whose name tells of a secret.
func findAfterColon(s string, i, done int) (span, bool) {
	if strings.HasPrefix(s[i:], "://") {
		return findUserInfo(s, i+len("://"))
	}
	if sp, ok := findAssigned(s, i, done); ok {
		return sp, true
	}
	return findDSNPassword(s, i)
}

// findUserInfo masks user:password before the @ of a URL whose authority begins at from. A user
// without a password is masked when it is long enough to be a token.
func findUserInfo(s string, from int) (span, bool) {
	window := s[:min(len(s), from+maxURL)]
	token := s[from:run(window, from, isURLChar)]
	authority := token
	if i := strings.IndexAny(token, "/?#"); i >= 0 {
		authority = token[:i]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		// A password may hold a slash. Then what follows the first colon is no port.
		host, port, ok := strings.Cut(authority, ":")
		if !ok || strings.HasPrefix(host, "[") || port != "" && run(port, 0, isDigit) == len(port) {
			return span{}, false
		}
		at = strings.LastIndexByte(token, '@')
	}
	if at < 0 {
		return span{}, false
	}
	user := token[:at]
	if !strings.Contains(user, ":") && len(user) < 16 || user == mask {
		return span{}, false
	}
	return span{from, from + at}, true
}

// The limits below bound how far is looked around one byte, so that no text takes more than time
// in proportion to its length.
const (
	maxURL = 1024 // from the scheme to the @ of a URL
	maxDSN = 256  // from the colon to the @ of a connection string
	maxGap = 32   // from a name to its = or :
)

// findDSNPassword masks the password of user:password@host without a scheme. What follows the @
// must look like an address, else it is more likely an e-mail address after a label.
func findDSNPassword(s string, i int) (span, bool) {
	if i == 0 || !isKeyChar(s[i-1]) {
		return span{}, false
	}
	window := s[i+1 : min(len(s), i+1+maxDSN)]
	token := window[:run(window, 0, isURLChar)]
	at := strings.LastIndexByte(token, '@')
	if at <= 0 || token[:at] == mask || !looksLikeAddress(token[at+1:]) {
		return span{}, false
	}
	return span{i + 1, i + 1 + at}, true
}

func looksLikeAddress(s string) bool {
	for _, p := range []string{"tcp(", "tcp6(", "unix(", "udp(", "/", "[", "localhost"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	host := run(s, 0, func(c byte) bool { return isKeyChar(c) || c == '.' })
	return host > 0 && host < len(s) && (s[host] == '/' || s[host] == ':' && host+1 < len(s) && isDigit(s[host+1]))
}

// findAssigned recognises the value that follows a = or a : at i when the name before it tells of
// a secret.
func findAssigned(s string, i, _ int) (span, bool) {
	name := nameBefore(s, i)
	if name == "" || !isSecretName(name) {
		return span{}, false
	}
	from := i + 1
	if from < len(s) && (s[from] == '=' || s[from] == ':') {
		return span{}, false // a comparison, or := which the next byte announces
	}
	if from < len(s) && s[from] == '>' {
		from++
	}
	from = run(s, from, isBlank)
	if from == len(s) {
		return span{}, false
	}
	if s[i] == ':' && isHeaderName(name) && !isQuote(s[from]) && s[from] != '\\' && s[from] != '[' {
		return headerSpan(s, from, name)
	}
	return valueSpan(s, from)
}

// nameBefore returns the identifier before i, past blanks and quotes (also escaped ones).
func nameBefore(s string, i int) string {
	end := i
	for end > 0 && i-end < maxGap && (isBlank(s[end-1]) || isQuote(s[end-1]) || s[end-1] == '\\' || s[end-1] == ':' || s[end-1] == ']') {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && (isKeyChar(s[start-1]) || s[start-1] == '.') {
		start--
	}
	return s[start:end]
}

// valueSpan is the value that starts at from: a quoted string with its quotes kept, a list in
// brackets, or everything up to a separator.
func valueSpan(s string, from int) (span, bool) {
	if strings.HasPrefix(s[from:], mask) {
		return span{}, false
	}
	escaped := run(s, from, func(c byte) bool { return c == '\\' })
	if escaped < len(s) && isQuote(s[escaped]) {
		return quotedSpan(s, escaped, s[from:escaped+1])
	}
	if s[from] == '[' || s[from] == '{' {
		closing := map[byte]byte{'[': ']', '{': '}'}[s[from]]
		if end := strings.IndexByte(s[from:], closing); end > 0 {
			return span{from, from + end + 1}, true
		}
		return span{from, len(s)}, true
	}
	end := run(s, from, isValueChar)
	end = from + len(strings.TrimRight(s[from:end], ")]}>,."))
	return span{from, end}, end > from
}

// quotedSpan is what lies between the quote at i and the next one written the same way, or the end
// of the text.
func quotedSpan(s string, i int, quote string) (span, bool) {
	start := i + 1
	for at := start; at < len(s); at++ {
		if s[at] == s[i] && closes(s[start:at], quote) {
			end := at - (len(quote) - 1)
			return span{start, end}, end > start && s[start:end] != mask
		}
	}
	return span{start, len(s)}, start < len(s) && s[start:] != mask
}

// closes reports whether a quote after body ends a string that was opened with quote, which is a
// quote character after some backslashes.
func closes(body, quote string) bool {
	slashes := len(body) - len(strings.TrimRight(body, "\\"))
	return slashes == len(quote)-1 || len(quote) == 1 && slashes%2 == 0
}

// headerSpan is the value of an authentication or cookie header. A scheme that is followed by one
// token ends there; anything else takes the rest of the line.
func headerSpan(s string, from int, name string) (span, bool) {
	if strings.HasPrefix(s[from:], mask) {
		return span{}, false
	}
	if !strings.HasSuffix(strings.ToLower(name), "cookie") {
		if n := schemeAndToken(s[from:]); n > 0 {
			return span{from, from + n}, true
		}
	}
	end := from
	for end < len(s) && s[end] != '\r' && s[end] != '\n' && !strings.HasPrefix(s[end:], `\n`) {
		end++
	}
	end = from + len(strings.TrimRight(s[from:end], " \t"))
	return span{from, end}, end > from
}

// schemeAndToken returns the length of "Bearer token" and the like at the start of s, 0 if it does
// not start so.
func schemeAndToken(s string) int {
	scheme := run(s[:min(len(s), maxName)], 0, isWord)
	switch strings.ToLower(s[:scheme]) {
	case "bearer", "basic", "token", "apikey", "bot", "negotiate":
	default:
		return 0
	}
	from := run(s, scheme, isBlank)
	end := run(s, from, isValueChar)
	if from == scheme || end == from {
		return 0
	}
	return len(strings.TrimRight(s[:end], ")]}>,."))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isURLChar is true within a URL that stands in a text.
func isURLChar(c byte) bool {
	return c > ' ' && !isQuote(c) && c != '<' && c != '>'
}

// isValueChar is true within a value that is not quoted.
func isValueChar(c byte) bool {
	return c > ' ' && !isQuote(c) && c != ';' && c != '&' && c != '\\'
}
