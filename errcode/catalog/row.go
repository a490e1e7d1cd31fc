package catalog

import (
	"time"

	"golang.org/x/text/language"
)

// spot is where something stands: in a file, or in the list of entries given to [New].
type spot struct {
	file      string
	line, col int
	entry     int
}

// cell is a value that may be absent, together with its place. A bad one was reported already.
type cell[T any] struct {
	value   T
	at      spot
	present bool
	bad     bool
}

// given makes the cell of a value that was written down.
func given[T any](v T, at spot) cell[T] { return cell[T]{value: v, at: at, present: true} }

// broken makes the cell of something that was reported already.
func broken[T any](at spot) cell[T] { return cell[T]{at: at, present: true, bad: true} }

// ok tells that there is a value to look at.
func (c cell[T]) ok() bool { return c.present && !c.bad }

// row is an entry as it was written.
type row struct {
	at        spot
	key       string
	code      cell[string]
	reason    cell[string]
	source    cell[string]
	title     cell[[]text]
	retriable cell[bool]
	delay     cell[time.Duration]
}

// text is a title in one language. The language of a plain one is the catalogue's default.
type text struct {
	plain   bool
	lang    string
	langAt  spot
	value   string
	valueAt spot
	tag     language.Tag // set once checked
}

// draft is a catalogue, or one file of it, as it was written.
type draft struct {
	at       spot // where it starts
	partial  bool // some of it could not be read, and was reported
	domain   cell[string]
	language cell[string]
	rows     []row
}
