package plain

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Key is s if that is UTF-8, and otherwise a text that stands for s and for
// nothing else: JSON would make one of all such texts. What begins like such a
// text is replaced, too.
func Key(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, replaced) {
		return s
	}
	return replaced + hex.EncodeToString([]byte(s))
}

const replaced = string(utf8.RuneError)
