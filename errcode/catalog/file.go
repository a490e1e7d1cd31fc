package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFile is the most bytes a file may have. A larger one is refused before it is read.
const MaxFile = 1 << 20

// Load reads a catalogue from one or several files of fsys, which together are one catalogue: the
// domain and the default language stand in one of them, or in several if they agree. A name ends
// in .json, .yaml or .yml. An error is a [*FaultsError] with the faults of all files.
func Load(fsys fs.FS, names ...string) (*Catalog, error) {
	r := new(report)
	parts := make([]draft, len(names))
	for i, name := range names {
		data, err := readFile(fsys, name)
		if err != nil {
			r.unreadable(name, err)
			parts[i].partial = true
			continue
		}
		parts[i] = parseFile(name, data, r)
	}
	if len(names) == 0 {
		r.add(spot{}, "", "no file to load")
	}
	return finish(parts, r)
}

// Parse reads a catalogue from the content of one file. The name is for faults, and its ending
// tells the format: .json, .yaml or .yml. An error is a [*FaultsError] with all faults.
func Parse(name string, data []byte) (*Catalog, error) {
	r := new(report)
	return finish([]draft{parseFile(name, data, r)}, r)
}

// finish makes one catalogue of several drafts.
func finish(parts []draft, r *report) (*Catalog, error) {
	var whole draft
	for _, p := range parts {
		merge(&whole.domain, p.domain, "domain", r)
		merge(&whole.language, p.language, "language", r)
		if whole.rows == nil {
			whole.rows = p.rows
		} else {
			whole.rows = append(slices.Clip(whole.rows), p.rows...)
		}
		whole.partial = whole.partial || p.partial
	}
	if len(parts) > 0 && !whole.domain.present && !whole.partial {
		r.add(parts[0].at, "", "domain is missing")
	}
	return assemble(whole, r)
}

// merge takes a value that may stand in several files.
func merge(whole *cell[string], part cell[string], name string, r *report) {
	switch {
	case !part.present:
	case !whole.present:
		*whole = part
	case whole.ok() && part.ok() && whole.value != part.value:
		r.add(part.at, "", "%s %s is another than %s at %s", name, quoted(part.value), quoted(whole.value), whole.at)
	}
}

// readFile reads a file unless it is too large.
func readFile(fsys fs.FS, name string) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err == nil && info.Size() > MaxFile {
		return nil, fmt.Errorf("%d bytes are more than the %d allowed", info.Size(), MaxFile)
	}
	data, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("more than the %d bytes allowed", MaxFile)
	}
	return data, err
}

// parseFile reads the content of a file.
func parseFile(name string, data []byte, r *report) draft {
	if len(data) > MaxFile {
		r.add(spot{file: name}, "", "%d bytes are more than the %d allowed", len(data), MaxFile)
		return draft{partial: true}
	}
	if !utf8.Valid(data) {
		r.add(spot{file: name}, "", "not valid UTF-8")
		return draft{partial: true}
	}
	var root node
	var ok bool
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		root, ok = readJSON(name, data, r)
	case ".yaml", ".yml":
		root, ok = readYAML(name, data, r)
	default:
		r.add(spot{file: name}, "", "unknown format, want a name that ends in .json, .yaml or .yml")
	}
	if !ok {
		return draft{partial: true}
	}
	return decode(root, r)
}
