package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2aexec/a2aexec/errcode"
)

// maxLine is the most that a text about a failure may take, in bytes.
const maxLine = 600

// line makes any text one public line of bounded length.
func line(s string) string {
	if len(s) > 16*maxLine { // what is cut off anyway need not be looked at
		s = cutRune(s, 16*maxLine)
	}
	s = strings.Join(strings.FieldsFunc(errcode.Redact(s), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxLine {
		s = cutRune(s, maxLine) + "…"
	}
	return s
}

// limit cuts a text to at most n bytes and marks the cut; 0 is no limit. The
// result is valid UTF-8.
func limit(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if n <= 0 || len(s) <= n {
		return s
	}
	return cutRune(s, n) + fmt.Sprintf("… [cut, %d bytes in all]", len(s))
}

// cutRune shortens s to at most n bytes without splitting a rune.
func cutRune(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
