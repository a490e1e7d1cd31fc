package plain

import (
	"encoding/hex"
	"unicode/utf8"
)

// Key is s if that is UTF-8, and otherwise a text that stands for s and for
// nothing else that is not: JSON would make one of all such texts.
func Key(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(utf8.RuneError) + hex.EncodeToString([]byte(s))
}
