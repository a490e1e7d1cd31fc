package sqlstore

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// What [Open] refuses, and what the stores refuse to keep.
var (
	// ErrNewerSchema says that a later version of this package has changed the
	// database: this one must not write to it.
	ErrNewerSchema = errors.New("the database's schema is newer than this program")
	// ErrTooLarge says that a task or a checkpoint is larger than [MaxBytes].
	ErrTooLarge = errors.New("too large to be stored")
	// ErrCorrupt says that what is stored cannot be read.
	ErrCorrupt = errors.New("what is stored cannot be read")
)

// maxID bounds what is in an index: ids, and names of users.
const maxID = 1024

// checkID refuses what neither database can have in an index.
func checkID(what, id string) error {
	switch {
	case len(id) > maxID:
		return fmt.Errorf("%s of %d bytes, longer than %d: %w", what, len(id), maxID, a2a.ErrInvalidParams)
	case strings.ContainsRune(id, 0) || !utf8.ValidString(id):
		return fmt.Errorf("%s has a zero byte or is not UTF-8: %w", what, a2a.ErrInvalidParams)
	}
	return nil
}

// unstorable says whether nothing can be stored under an id.
func unstorable(id string) bool { return checkID("", id) != nil }

func (d *DB) checkSize(what string, n int) error {
	if d.maxBytes > 0 && n > d.maxBytes {
		return fmt.Errorf("%s of %d bytes, more than %d: %w", what, n, d.maxBytes, ErrTooLarge)
	}
	return nil
}
