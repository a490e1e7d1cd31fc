package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

const (
	// maxPreferences is how many languages of a list are looked at: the list may come from a
	// client.
	maxPreferences = 16
	// maxHeader is how much of an Accept-Language header is looked at, in bytes.
	maxHeader = 1 << 10
)

type languagesKey struct{}

// WithLanguages returns a context in which [Catalog.ErrorContext] uses these languages, BCP 47
// tags with the preferred one first. What is not a tag is skipped, and so is everything past the
// sixteenth. An earlier list in ctx is replaced; no languages at all mean the default language.
func WithLanguages(ctx context.Context, languages ...string) context.Context {
	return context.WithValue(ctx, languagesKey{}, parsePreferences(languages))
}

// preferences returns what [WithLanguages] left in ctx.
func preferences(ctx context.Context) []language.Tag {
	tags, _ := ctx.Value(languagesKey{}).([]language.Tag)
	return tags
}

// AcceptLanguage reads an Accept-Language header (RFC 9110 section 12.5.4) for [WithLanguages]:
// the tags by falling weight, without those of weight zero and without the wildcard. What cannot be
// understood is skipped and the rest is kept: an unknown language, a weight that is none. Of a tag
// with an unknown region the language counts. At most sixteen are returned, and what lies beyond 1 KiB
// is not read.
func AcceptLanguage(header string) []string {
	if len(header) > maxHeader {
		header = header[:strings.LastIndexByte(header[:maxHeader], ',')+1]
	}
	var found []weighted
	for item := range strings.SplitSeq(header, ",") {
		if w, ok := parseItem(item); ok {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	var languages []string
	for _, w := range found[:min(len(found), maxPreferences)] {
		languages = append(languages, w.tag)
	}
	return languages
}

// weighted is a language that a client wants.
type weighted struct {
	tag    string
	weight float64
}

// parseItem reads one item of the header; ok is false for one that says nothing.
func parseItem(item string) (w weighted, ok bool) {
	name, params, _ := strings.Cut(item, ";")
	tag, ok := acceptedTag(strings.TrimSpace(name))
	if !ok {
		return w, false
	}
	w = weighted{tag: tag, weight: 1}
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q > 0 && q <= 1) {
			return w, false
		}
		w.weight = q
	}
	return w, true
}

// acceptedTag reads a tag; of one with unknown parts it takes the others, as long as the language is
// among them.
func acceptedTag(name string) (string, bool) {
	if len(name) > maxKey {
		return "", false
	}
	tag, err := language.Parse(name)
	var unknown language.ValueError
	if err != nil && !errors.As(err, &unknown) {
		return "", false
	}
	if base, _, _ := tag.Raw(); base.String() == "und" || tag.String() == "mul" {
		return "", false
	}
	return tag.String(), true
}

func parsePreferences(languages []string) []language.Tag {
	var tags []language.Tag
	for _, s := range languages[:min(len(languages), maxPreferences)] {
		if t, ok := parseTag(s); ok {
			tags = append(tags, t)
		}
	}
	return tags
}

// parseTag reads one BCP 47 tag that names a language.
func parseTag(s string) (language.Tag, bool) {
	if len(s) > maxKey {
		return language.Und, false
	}
	t, err := language.Parse(s)
	return t, err == nil && t != language.Und
}
