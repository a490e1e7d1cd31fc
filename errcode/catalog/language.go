package catalog

import (
	"context"

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
// the tags by falling weight, without those of weight zero and without the wildcard. It is nil for
// a header that is malformed or longer than 1 KiB.
func AcceptLanguage(header string) []string {
	if len(header) > maxHeader {
		return nil
	}
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return nil
	}
	var languages []string
	for _, t := range tags {
		if s := t.String(); s != "mul" && s != "und" { // "*" is read as "mul"
			languages = append(languages, s)
		}
	}
	return languages
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
