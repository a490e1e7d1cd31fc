package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxFaults is how many faults are reported; the others are counted. A file may hold a fault in every
// few bytes.
const maxFaults = 100

// Fault is one thing that is wrong with a catalogue.
type Fault struct {
	// File is the name of the file, "" for a catalogue made in Go.
	File string
	// Line and Column count from 1, in characters. They are 0 if the fault has no place: a file
	// that cannot be read, a catalogue made in Go.
	Line, Column int
	// Entry is which of the entries given to [New] it is, from 1; 0 for files and for what
	// concerns the whole catalogue.
	Entry int
	// Key is the entry the fault is in, "" for what concerns the whole catalogue.
	Key Key
	// Message says what is wrong.
	Message string
	// Err is why a file could not be read, else nil.
	Err error
}

// String returns "file:line:column: key: message", without the parts that are not known.
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			b.WriteString(":" + strconv.Itoa(f.Line))
		}
		if f.Column > 0 {
			b.WriteString(":" + strconv.Itoa(f.Column))
		}
		b.WriteString(": ")
	}
	if f.Entry > 0 {
		b.WriteString("entry " + strconv.Itoa(f.Entry) + ": ")
	}
	if f.Key != "" {
		b.WriteString(printable(string(f.Key)) + ": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// FaultsError says what is wrong with a catalogue, all of it.
type FaultsError struct {
	// Faults is never empty. Those of a file are in the order of its lines. There are at most 100.
	Faults []Fault
	// More is how many further faults there are, 0 unless Faults is full.
	More int
}

// Error lists the faults, one a line, and the number of those that are not listed.
func (e *FaultsError) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns why files could not be read, so that errors.Is finds fs.ErrNotExist.
func (e *FaultsError) Unwrap() []error {
	var errs []error
	for _, f := range e.Faults {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errs
}

// report collects faults, and counts those that are too many.
type report struct {
	faults []Fault
	more   int
}

func (r *report) add(at spot, key, format string, args ...any) {
	if len(r.faults) >= maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, Fault{
		File: at.file, Line: at.line, Column: at.col, Entry: at.entry,
		Key: Key(key), Message: fmt.Sprintf(format, args...),
	})
}

func (r *report) unreadable(file string, err error) {
	if len(r.faults) >= maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, Fault{File: file, Message: "read file: " + err.Error(), Err: err})
}

// err returns all faults, those of one file by line; nil if there are none.
func (r *report) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	order := make(map[string]int)
	for _, f := range r.faults {
		if _, known := order[f.File]; !known {
			order[f.File] = len(order)
		}
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(order[a.File], order[b.File]),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Entry, b.Entry),
		)
	})
	return &FaultsError{Faults: r.faults, More: r.more}
}

// printable shortens text for a message and shows what cannot be printed as an escape.
func printable(s string) string {
	const most = 64
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	q := strconv.Quote(s)
	if bare := q[1 : len(q)-1]; bare == s {
		return s
	}
	return q
}

// quoted is printable, always in quotes.
func quoted(s string) string {
	if p := printable(s); strings.HasPrefix(p, `"`) {
		return p
	}
	return `"` + printable(s) + `"`
}

// String returns the place as "file:line:column" or "entry N".
func (s spot) String() string {
	if s.file == "" {
		return "entry " + strconv.Itoa(s.entry)
	}
	return s.file + ":" + strconv.Itoa(s.line) + ":" + strconv.Itoa(s.col)
}
