package catalog

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// MarshalJSON returns the catalogue as a file that [Parse] reads: for a dashboard, or for clients
// in other languages. The entries are in the order of [Catalog.Entries].
func (c *Catalog) MarshalJSON() ([]byte, error) {
	w := jsonWriter{}
	w.field("{", "domain", c.Domain())
	if lang := c.Language(); lang != "" {
		w.field(",", "language", lang)
	}
	w.raw(`,"errors":`)
	sep := "{"
	for _, e := range c.Entries() {
		w.raw(sep)
		w.text(string(e.Key()))
		w.raw(":")
		w.entry(e)
		sep = ","
	}
	if sep == "{" {
		w.raw(sep)
	}
	w.raw("}}")
	return w.Bytes(), w.err
}

// jsonWriter writes JSON whose fields stay in order.
type jsonWriter struct {
	bytes.Buffer
	err error
}

func (w *jsonWriter) raw(s string) { w.WriteString(s) }

func (w *jsonWriter) text(s string) {
	b, err := json.Marshal(s)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.Write(b)
}

func (w *jsonWriter) field(sep, name, value string) {
	w.raw(sep)
	w.text(name)
	w.raw(":")
	w.text(value)
}

func (w *jsonWriter) entry(e Entry) {
	w.field("{", "code", string(e.Code()))
	w.field(",", "reason", e.Reason())
	w.raw(`,"title":`)
	sep := "{"
	for _, lang := range e.Languages() {
		w.field(sep, lang, e.Title(lang))
		sep = ","
	}
	w.raw("}")
	if e.row.retriable.ok() {
		w.raw(`,"retriable":` + strconv.FormatBool(e.row.retriable.value))
	}
	if d, ok := e.RetryAfter(); ok {
		w.raw(`,"retryAfterMs":` + strconv.FormatInt(d.Milliseconds(), 10))
	}
	if s := e.Source(); s != "" {
		w.field(",", "source", s)
	}
	w.raw("}")
}
