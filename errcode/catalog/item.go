package catalog

import (
	"golang.org/x/text/language"

	"github.com/a2aexec/a2aexec/errcode"
)

// item is an entry made ready: one error per title, all made in advance, since an error never
// changes.
type item struct {
	entry     Entry
	matcher   language.Matcher
	errs      []*errcode.Error
	templates []template // nil without placeholders
}

func newItem(domain string, e Entry, matcher language.Matcher) *item {
	it := &item{entry: e, matcher: matcher}
	base := errcode.New(e.Code(), e.Reason(), it.options(domain)...)
	params := len(e.Params()) > 0
	for _, t := range e.row.title.value {
		tpl, _ := parseTemplate(t.value) // checked before
		it.errs = append(it.errs, base.With(errcode.Message(tpl.render(nil))))
		if params {
			it.templates = append(it.templates, tpl)
		}
	}
	return it
}

func (it *item) options(domain string) []errcode.Option {
	opts := []errcode.Option{
		errcode.Domain(domain),
		errcode.DomainCode(it.entry.row.key),
		errcode.Retriable(it.entry.Retriable()),
	}
	if d, ok := it.entry.RetryAfter(); ok {
		opts = append(opts, errcode.RetryAfter(d))
	}
	if s := it.entry.Source(); s != "" {
		opts = append(opts, errcode.Source(s))
	}
	return opts
}

// pick returns which title suits the preferences best; 0 is the default.
func (it *item) pick(preferred []language.Tag) int {
	if len(preferred) == 0 || len(it.errs) == 1 {
		return 0
	}
	for i, t := range it.entry.row.title.value {
		if t.tag == preferred[0] {
			return i
		}
	}
	_, i, confidence := it.matcher.Match(preferred...)
	if confidence == language.No {
		return 0
	}
	return i
}

// make returns the error in the language that suits the preferences best.
func (it *item) make(preferred []language.Tag, opts []errcode.Option) *errcode.Error {
	i := it.pick(preferred)
	e := it.errs[i]
	if len(opts) == 0 {
		return e
	}
	if it.templates != nil {
		e = e.With(errcode.Message(it.templates[i].render(opts)))
	}
	return e.With(opts...)
}
