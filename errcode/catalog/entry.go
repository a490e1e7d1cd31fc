package catalog

import (
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// Key is an organisation's own code, such as DOC_005: at most 128 printable ASCII characters
// without spaces. It is the domainCode of the errors made from it.
type Key string

// Entry is what a catalogue says about one key. It never changes, so goroutines may share it.
// Entries come from [Define] and, checked, from [Catalog.Entries]; the zero value is not valid.
type Entry struct{ row row }

// Define makes an entry. The title is in the catalogue's default language; [Title] adds others.
// Nothing is checked here but in [New], which reports all faults of all entries at once.
func Define(key Key, code errcode.Code, reason, title string, opts ...EntryOption) Entry {
	e := Entry{row{
		key:    string(key),
		code:   given(string(code), spot{}),
		reason: given(reason, spot{}),
		title:  given([]text{{plain: true, value: title}}, spot{}),
	}}
	for _, o := range opts {
		if o != nil {
			o.apply(&e)
		}
	}
	return e
}

// Key returns the organisation's own code.
func (e Entry) Key() Key { return Key(e.row.key) }

// Code returns the code clients branch on.
func (e Entry) Code() errcode.Code { return errcode.Code(e.row.code.value) }

// Reason returns the reason for logs, dashboards and translation keys.
func (e Entry) Reason() string { return e.row.reason.value }

// Retriable reports whether the same request may succeed later: what the entry says, else the
// default of its code.
func (e Entry) Retriable() bool {
	if e.row.retriable.ok() {
		return e.row.retriable.value
	}
	return e.Code().Retriable()
}

// RetryAfter returns how long clients are told to wait; ok is false when the entry does not say.
func (e Entry) RetryAfter() (d time.Duration, ok bool) {
	return e.row.delay.value, e.row.delay.ok()
}

// Source returns where the failure happens, as system:locator; "" if the entry does not say.
func (e Entry) Source() string { return e.row.source.value }

// Place returns where the entry stands, as file:line:column; "" if it was not read from a file.
func (e Entry) Place() string {
	if e.row.at.file == "" {
		return ""
	}
	return e.row.at.String()
}

// Languages returns the BCP 47 tags that have a title, the default language first, the others in
// alphabetical order. The slice is the caller's.
func (e Entry) Languages() []string {
	tags := make([]string, len(e.row.title.value))
	for i, t := range e.row.title.value {
		tags[i] = t.lang
	}
	return tags
}

// Title returns the text in exactly this language, one of [Entry.Languages]; "" if there is none.
// Placeholders are as written.
func (e Entry) Title(language string) string {
	for _, t := range e.row.title.value {
		if t.lang == language {
			return t.value
		}
	}
	return ""
}

// Params returns the names of the placeholders in the titles, in the order in which the default
// title has them; see [Arg]. The slice is the caller's.
func (e Entry) Params() []string {
	if len(e.row.title.value) == 0 {
		return nil
	}
	tpl, _ := parseTemplate(e.row.title.value[0].value)
	return slices.Clone(tpl.names())
}
