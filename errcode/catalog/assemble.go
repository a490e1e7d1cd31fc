package catalog

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/a2aexec/a2aexec/errcode"
)

// assemble checks a draft and makes the catalogue; faults found before are in r already.
func assemble(d draft, r *report) (*Catalog, error) {
	if d.domain.ok() && !errcode.ValidDomain(d.domain.value) {
		r.add(d.domain.at, "", "bad domain %s, want kebab-case ASCII such as document-desk", quoted(d.domain.value))
	}
	def := defaultLanguage(d, r)
	first := make(map[string]spot, len(d.rows))
	for i := range d.rows {
		checkRow(&d.rows[i], def, first, r)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return build(d, def), nil
}

// defaultLanguage is the one that was named, else the first of the first title that is a map, else
// English. It is language.Und if that cannot be told.
func defaultLanguage(d draft, r *report) language.Tag {
	if d.language.bad || d.partial && !d.language.present {
		return language.Und
	}
	if d.language.present {
		tag, ok := parseTag(d.language.value)
		if !ok {
			r.add(d.language.at, "", "bad language tag %s", quoted(d.language.value))
			return language.Und
		}
		return tag
	}
	for _, row := range d.rows {
		for _, t := range row.title.value {
			if tag, ok := parseTag(t.lang); ok {
				return tag
			}
		}
	}
	return language.English
}

// build makes the catalogue of a draft without faults.
func build(d draft, def language.Tag) *Catalog {
	c := &Catalog{
		domain:   d.domain.value,
		language: def.String(),
		items:    make([]*item, len(d.rows)),
		byKey:    make(map[Key]*item, len(d.rows)),
	}
	matchers := make(map[string]language.Matcher)
	for i := range d.rows {
		e := Entry{d.rows[i]}
		set := strings.Join(e.Languages(), ",")
		if matchers[set] == nil {
			matchers[set] = newMatcher(e.row.title.value)
		}
		c.items[i] = newItem(c.domain, e, matchers[set])
		c.byKey[e.Key()] = c.items[i]
	}
	return c
}

func newMatcher(titles []text) language.Matcher {
	tags := make([]language.Tag, len(titles))
	for i, t := range titles {
		tags[i] = t.tag
	}
	return language.NewMatcher(tags)
}

// sorted returns titles with the default language first, the others in alphabetical order.
func sorted(titles []text, def language.Tag) []text {
	slices.SortStableFunc(titles, func(a, b text) int {
		if (a.tag == def) != (b.tag == def) {
			if a.tag == def {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.lang, b.lang)
	})
	return titles
}
