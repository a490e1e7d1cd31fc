package catalog

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/a2aexec/a2aexec/errcode"
)

const (
	// maxKey is the most bytes a key, or the tag of a language, may have.
	maxKey = 128
	// maxTitle is the most bytes a title may have; a message is cut at twice as many.
	maxTitle = 4 << 10
	// maxLanguages is the most languages an entry may have.
	maxLanguages = 200
)

// checkRow reports what is wrong with a row and brings its titles into their final form. first
// remembers where each key was seen.
func checkRow(row *row, def language.Tag, first map[string]spot, r *report) {
	rc := rowCheck{row: row, report: r}
	rc.key(first)
	rc.code()
	rc.reason()
	rc.delay()
	if s := row.source; s.ok() && !errcode.ValidSource(s.value) {
		rc.add(s.at, "bad source %s, want system:locator with a system out of "+
			"mcp, rag, llm, db, http, validator, guardrail, internal", quoted(s.value))
	}
	rc.titles(def)
}

// rowCheck checks one row.
type rowCheck struct {
	row    *row
	report *report
}

// add reports a fault at a place within the row; what has none is reported where the row is.
func (rc rowCheck) add(at spot, format string, args ...any) {
	if at == (spot{}) {
		at = rc.row.at
	}
	rc.report.add(at, rc.row.key, format, args...)
}

func (rc rowCheck) key(first map[string]spot) {
	key := rc.row.key
	switch {
	case key == "":
		rc.add(spot{}, "empty key")
		return
	case len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		rc.add(spot{}, "bad key, want at most %d printable ASCII characters without spaces", maxKey)
		return
	}
	if at, seen := first[key]; seen {
		rc.add(spot{}, "duplicate key, first at %s", at)
		return
	}
	first[key] = rc.row.at
}

func (rc rowCheck) code() {
	c := rc.row.code
	switch {
	case !c.present:
		rc.add(spot{}, "code is missing")
	case c.ok() && !errcode.Code(c.value).Valid():
		rc.add(c.at, "unknown code %s, want one of %s", quoted(c.value), codeList())
	}
}

func codeList() string {
	codes := errcode.Codes()
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

func (rc rowCheck) reason() {
	c := rc.row.reason
	switch {
	case !c.present:
		rc.add(spot{}, "reason is missing")
	case !c.ok():
	case strings.TrimSpace(c.value) == "":
		rc.add(c.at, "empty reason")
	case strings.ContainsFunc(c.value, func(r rune) bool { return r < ' ' || r > '~' }):
		rc.add(c.at, "reason %s is not printable ASCII", quoted(c.value))
	}
}

func (rc rowCheck) delay() {
	if c := rc.row.delay; c.ok() && c.value < 0 {
		rc.add(c.at, "negative delay %d ms", c.value/time.Millisecond)
	}
}

// titles checks the texts and puts those in the default language first.
func (rc rowCheck) titles(def language.Tag) {
	c := &rc.row.title
	if !c.present {
		rc.add(spot{}, "title is missing")
		return
	}
	if len(c.value) > maxLanguages {
		rc.add(c.at, "title in %d languages, at most %d are possible", len(c.value), maxLanguages)
		return
	}
	c.value = slices.Clone(c.value) // an entry may be in several catalogues
	seen := make(map[language.Tag]bool, len(c.value))
	sure := c.ok() && def != language.Und // all languages are known
	for i := range c.value {
		sure = rc.tag(&c.value[i], def, seen) && sure
		rc.text(c.value[i])
	}
	if sure && !seen[def] {
		rc.add(c.at, "title without a fallback: no text in %s, the default language", def)
	}
	c.value = sorted(c.value, def)
	if def != language.Und && len(c.value) > 0 && c.value[0].tag == def {
		rc.placeholders(c.value)
	}
}

// tag checks the language of a title and brings it into its canonical form. It returns false for
// what is no language.
func (rc rowCheck) tag(t *text, def language.Tag, seen map[language.Tag]bool) bool {
	tag := def
	if !t.plain {
		var ok bool
		if tag, ok = parseTag(t.lang); !ok {
			rc.add(t.langAt, "bad language tag %s", quoted(t.lang))
			return false
		}
	}
	if seen[tag] {
		rc.add(t.langAt, "duplicate title in %s", tag)
	}
	seen[tag] = true
	t.tag, t.lang, t.plain = tag, tag.String(), false
	return true
}

// text checks what a title says.
func (rc rowCheck) text(t text) {
	if len(t.value) > maxTitle {
		rc.add(t.valueAt, "title of %d bytes, at most %d are possible", len(t.value), maxTitle)
		return
	}
	_, malformed := parseTemplate(t.value)
	switch {
	case !utf8.ValidString(t.value):
		rc.add(t.valueAt, "title is not valid UTF-8")
	case !strings.ContainsFunc(t.value, isVisible):
		rc.add(t.valueAt, "empty title")
	case strings.ContainsFunc(t.value, isControl):
		rc.add(t.valueAt, "title has a control character")
	case malformed != nil:
		rc.add(t.valueAt, "bad placeholder in the title: %v", malformed)
	}
}

// isControl reports whether r has no place in a text; line breaks have.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' }

// isVisible reports whether somebody who reads a text sees r.
func isVisible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// placeholders reports those of a translation that the default title does not have. What was
// reported as malformed or too long cannot tell.
func (rc rowCheck) placeholders(titles []text) {
	tpl, ok := readable(titles[0])
	if !ok {
		return
	}
	known := tpl.names()
	for _, t := range titles[1:] {
		tpl, _ := readable(t)
		for _, name := range tpl.names() {
			if !slices.Contains(known, name) {
				rc.add(t.valueAt, "unknown placeholder {%s}: the title in %s does not have it", name, titles[0].tag)
			}
		}
	}
}

func readable(t text) (tpl template, ok bool) {
	if len(t.value) > maxTitle {
		return nil, false
	}
	tpl, err := parseTemplate(t.value)
	return tpl, err == nil
}
