package catalog

import (
	"math"
	"strconv"
	"time"
)

// maxDelay is the longest delay a duration can hold.
const maxDelay = math.MaxInt64 / int64(time.Millisecond)

// decode makes a draft of the content of a file, reporting unknown fields and wrong types.
func decode(root node, r *report) draft {
	d := draft{at: root.at, partial: root.kind != kindMap || root.lost}
	in := reader{report: r}
	present := in.object(root, "the file", map[string]func(node){
		"domain":   func(n node) { d.domain = in.string(n, "domain") },
		"language": func(n node) { d.language = in.string(n, "language") },
		"errors":   func(n node) { d.rows = in.rows(n) },
	})
	if !d.partial && !present["errors"] {
		r.add(root.at, "", "errors is missing")
	}
	return d
}

// reader reads nodes within the entry with that key, "" outside.
type reader struct {
	report *report
	key    string
}

func (in reader) fail(at spot, format string, args ...any) {
	in.report.add(at, in.key, format, args...)
}

// is reports whether a node is of that kind and says so if it is not, unless that was reported.
func (in reader) is(n node, name string, want kind) bool {
	if n.kind == want || n.kind == kindBroken {
		return n.kind == want
	}
	in.fail(n.at, "%s must be %s, not %s", name, want, n.kind)
	return false
}

// object hands each field of a map to its function. It returns the names of the fields.
func (in reader) object(n node, name string, fields map[string]func(node)) map[string]bool {
	if !in.is(n, name, kindMap) {
		return nil
	}
	seen := make(map[string]bool, len(n.fields))
	for _, f := range n.fields {
		set, known := fields[f.key]
		switch {
		case !known:
			in.fail(f.at, "unknown field %s", quoted(f.key))
		case seen[f.key]:
			in.fail(f.at, "duplicate field %s", f.key)
		default:
			set(f.value)
		}
		seen[f.key] = true
	}
	return seen
}

func (in reader) string(n node, name string) cell[string] {
	if !in.is(n, name, kindString) {
		return broken[string](n.at)
	}
	return given(n.text, n.at)
}

func (in reader) bool(n node, name string) cell[bool] {
	if !in.is(n, name, kindBool) {
		return broken[bool](n.at)
	}
	return given(n.text == "true" || n.text == "True" || n.text == "TRUE", n.at)
}

func (in reader) millis(n node, name string) cell[time.Duration] {
	if !in.is(n, name, kindInt) {
		return broken[time.Duration](n.at)
	}
	ms, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil || ms > maxDelay || ms < -maxDelay {
		in.fail(n.at, "%s must be decimal and at most %d, not %s", name, maxDelay, printable(n.text))
		return broken[time.Duration](n.at)
	}
	return given(time.Duration(ms)*time.Millisecond, n.at)
}

// rows reads the entries.
func (in reader) rows(n node) []row {
	if !in.is(n, "errors", kindMap) {
		return nil
	}
	rows := make([]row, 0, len(n.fields))
	for _, f := range n.fields {
		rows = append(rows, in.row(f))
	}
	return rows
}

func (in reader) row(f field) row {
	in.key = f.key
	r := row{at: f.at, key: f.key}
	if f.value.kind != kindMap { // one fault is enough
		in.is(f.value, "an entry", kindMap)
		r.code, r.reason, r.title = broken[string](f.at), broken[string](f.at), broken[[]text](f.at)
		return r
	}
	in.object(f.value, "an entry", map[string]func(node){
		"code":         func(n node) { r.code = in.string(n, "code") },
		"reason":       func(n node) { r.reason = in.string(n, "reason") },
		"title":        func(n node) { r.title = in.title(n) },
		"retriable":    func(n node) { r.retriable = in.bool(n, "retriable") },
		"retryAfterMs": func(n node) { r.delay = in.millis(n, "retryAfterMs") },
		"source":       func(n node) { r.source = in.string(n, "source") },
	})
	if f.value.lost { // what is missing may be what could not be read
		for _, c := range []*cell[string]{&r.code, &r.reason} {
			if !c.present {
				*c = broken[string](f.at)
			}
		}
		if !r.title.present {
			r.title = broken[[]text](f.at)
		}
	}
	return r
}

// title reads a string or a map of strings by language.
func (in reader) title(n node) cell[[]text] {
	switch n.kind {
	case kindString:
		return given([]text{{plain: true, langAt: n.at, value: n.text, valueAt: n.at}}, n.at)
	case kindMap:
	case kindBroken:
		return broken[[]text](n.at)
	default:
		in.fail(n.at, "title must be a string or a map of strings by language, not %s", n.kind)
		return broken[[]text](n.at)
	}
	texts := make([]text, 0, len(n.fields))
	bad := n.lost
	for _, f := range n.fields {
		if !in.is(f.value, "title in "+printable(f.key), kindString) {
			bad = true
			continue
		}
		texts = append(texts, text{lang: f.key, langAt: f.at, value: f.value.text, valueAt: f.value.at})
	}
	c := given(texts, n.at)
	c.bad = bad
	return c
}
