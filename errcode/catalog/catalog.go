package catalog

import "slices"

// Catalog maps an organisation's own codes to errors, bound to one domain. It never changes, so
// goroutines may share it. All methods work on a nil *Catalog, which is empty.
type Catalog struct {
	domain   string
	language string
	items    []*item // in the order in which they were written
	byKey    map[Key]*item
}

// New makes a catalogue whose default language is English, see [NewIn].
func New(domain string, entries ...Entry) (*Catalog, error) {
	return NewIn("en", domain, entries...)
}

// NewIn makes a catalogue with another default language, a BCP 47 tag: that of the titles given to
// [Define]. The domain is kebab-case ASCII, see errcode.ValidDomain. Every entry is checked; an
// error is a [*FaultsError] with all faults.
func NewIn(language, domain string, entries ...Entry) (*Catalog, error) {
	d := draft{
		domain:   given(domain, spot{}),
		language: given(language, spot{}),
		rows:     make([]row, len(entries)),
	}
	for i, e := range entries {
		d.rows[i] = e.row
		d.rows[i].at = spot{entry: i + 1}
	}
	return assemble(d, new(report))
}

// Domain returns the domain the codes belong to.
func (c *Catalog) Domain() string {
	if c == nil {
		return ""
	}
	return c.domain
}

// Language returns the default language as a BCP 47 tag.
func (c *Catalog) Language() string {
	if c == nil {
		return ""
	}
	return c.language
}

// Languages returns the BCP 47 tags that at least one title has, the default language first, the
// others in alphabetical order. The slice is the caller's.
func (c *Catalog) Languages() []string {
	if c == nil {
		return nil
	}
	var others []string
	for _, it := range c.items {
		others = append(others, it.entry.Languages()[1:]...)
	}
	slices.Sort(others)
	return append([]string{c.language}, slices.Compact(others)...)
}

// Entries returns the entries in the order in which they were written, file by file. The slice is
// the caller's.
func (c *Catalog) Entries() []Entry {
	if c == nil {
		return nil
	}
	entries := make([]Entry, len(c.items))
	for i, it := range c.items {
		entries[i] = it.entry
	}
	return entries
}

// Keys returns the keys in the order of [Catalog.Entries]. The slice is the caller's.
func (c *Catalog) Keys() []Key {
	if c == nil {
		return nil
	}
	keys := make([]Key, len(c.items))
	for i, it := range c.items {
		keys[i] = it.entry.Key()
	}
	return keys
}

// Lookup returns the entry with that key; ok is false if there is none.
func (c *Catalog) Lookup(key Key) (e Entry, ok bool) {
	it := c.item(key)
	if it == nil {
		return Entry{}, false
	}
	return it.entry, true
}

func (c *Catalog) item(key Key) *item {
	if c == nil {
		return nil
	}
	return c.byKey[key]
}
