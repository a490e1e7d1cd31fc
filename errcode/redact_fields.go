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
	if at <= 0 || token[:at] == mask || strings.Contains(token[:at], "://") || !looksLikeAddress(token[at+1:]) {
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
	switch {
	case isQuote(s[from]) || s[from] == '\\' || s[from] == '[':
		return valueSpan(s, from)
	case s[i] == ':' && isHeaderName(name):
		return headerSpan(s, from, name)
	case isCookieName(name):
		return cookieSpan(s, from)
	default:
		return valueSpan(s, from)
	}
}

// findEncoded recognises an assignment whose = or : is written as in a query, %3D or %3A.
func findEncoded(s string, i, _ int) (span, bool) {
	from := i + len("%3D")
	if from >= len(s) || s[i+1] != '3' || strings.IndexByte("DdAa", s[i+2]) < 0 {
		return span{}, false
	}
	name := nameBefore(s, i)
	from = skipBlanks(s, from)
	if from == len(s) || !isSecretName(name) {
		return span{}, false
	}
	value := valueSpan
	if isCookieName(name) && !isQuote(s[from]) {
		value = cookieSpan
	}
	sp, ok := value(s, from)
	if end := strings.Index(s[sp.start:sp.end], "%26"); ok && end > 0 { // an encoded &
		sp.end = sp.start + end
	}
	return sp, ok
}

// findElement recognises the content of an XML element whose name tells of a secret.
func findElement(s string, i, _ int) (span, bool) {
	start := i
	for start > 0 && i-start < maxName && (isKeyChar(s[start-1]) || s[start-1] == '.' || s[start-1] == ':') {
		start--
	}
	if start == 0 || s[start-1] != '<' || !isSecretName(s[start:i]) {
		return span{}, false
	}
	n := strings.IndexByte(s[i+1:], '<')
	if n <= 0 || !strings.HasPrefix(s[i+1+n:], "</") {
		return span{}, false
	}
	return span{i + 1, i + 1 + n}, s[i+1:i+1+n] != mask
}

// skipBlanks passes over blanks, also those of a query.
func skipBlanks(s string, i int) int {
	for {
		i = run(s, i, isBlank)
		if !strings.HasPrefix(s[i:], "%20") {
			return i
		}
		i += len("%20")
	}
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
	if n := schemeAndToken(s[from:]); n > 0 {
		return span{from, from + n}, true
	}
	end := run(s, from, isValueChar)
	end = from + len(strings.TrimRight(s[from:end], valueEnds))
	return span{from, end}, end > from
}

// valueEnds are what ends a value that is not quoted without being part of it.
const valueEnds = ")]}>,."

// cookieSpan is a list of cookies that starts at from: pairs with semicolons between them.
func cookieSpan(s string, from int) (span, bool) {
	if strings.HasPrefix(s[from:], mask) {
		return span{}, false
	}
	if n := schemeAndToken(s[from:]); n > 0 {
		return span{from, from + n}, true
	}
	end := from
	for at := from; ; {
		next := run(s, at, func(c byte) bool { return isValueChar(c) || c == '&' })
		if next > at && s[next-1] == '=' && next < len(s) && isQuote(s[next]) {
			next++
			next = run(s, next, func(c byte) bool { return c >= ' ' && c != s[next-1] })
			next = min(next+1, len(s))
		}
		if next == at {
			break
		}
		end = next
		if next == len(s) || s[next] != ';' {
			break
		}
		at = run(s, next+1, isBlank)
	}
	end = from + len(strings.TrimRight(s[from:end], valueEnds))
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
	if !isCookieName(name) {
		if n := schemeAndToken(s[from:]); n > 0 {
			return span{from, from + n}, true
		}
	}
	end := from + restOfLine(s[from:])
	return span{from, end}, end > from
}

// restOfLine is the length of the first line of s, which an escaped line feed ends, too.
func restOfLine(s string) int {
	end := 0
	for end < len(s) && s[end] != '\r' && s[end] != '\n' && !strings.HasPrefix(s[end:], `\n`) {
		end++
	}
	return len(strings.TrimRight(s[:end], " \t"))
}

// schemeAndToken returns the length of credentials with their scheme at the start of s, such as
// "Bearer token", 0 if it does not start so. A scheme with parameters takes the rest of the line.
func schemeAndToken(s string) int {
	scheme := run(s[:min(len(s), maxName)], 0, isKeyChar)
	from := skipBlanks(s, scheme)
	if from == scheme || from == len(s) {
		return 0
	}
	switch strings.ToLower(s[:scheme]) {
	case "bearer", "basic", "token", "apikey", "bot", "negotiate", "ntlm", "dpop", "key":
	case "digest", "hawk", "mac", "oauth", "signature", "aws4-hmac-sha256":
		params := run(s, from, isTokenChar)
		if !strings.Contains(s[from:params], "=") {
			return 0
		}
		return restOfLine(s)
	default:
		return 0
	}
	switch {
	case strings.HasPrefix(s[from:], mask):
		return from + len(mask)
	case isQuote(s[from]):
		sp, _ := quotedSpan(s, from, s[from:from+1])
		return sp.end
	}
	end := run(s, from, isValueChar)
	if end == from {
		return 0
	}
	return len(strings.TrimRight(s[:end], valueEnds))
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
