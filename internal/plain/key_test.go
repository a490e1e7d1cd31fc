package plain_test

import (
	"testing"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// TestKeysStandForOneTextEach: a text that looked like what stands for one that is
// not UTF-8 was the same key.
func TestKeysStandForOneTextEach(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for _, s := range []string{"", "a", "é", "\xff", "\uFFFDff", "\uFFFDefbfbd6666", "\uFFFD", "a\uFFFDff", "a\xff"} {
		key := plain.Key(s)
		if other, twice := of[key]; twice {
			t.Errorf("%q and %q have the key %q", s, other, key)
		}
		of[key] = s
	}
}
