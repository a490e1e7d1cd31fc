package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

func TestLanguageMatching(t *testing.T) {
	t.Parallel()
	entry := catalog.Define("A", errcode.NotFound, "r", "en")
	for _, lang := range []string{"ko", "de", "pt-BR", "pt-PT", "zh-Hans", "zh-Hant", "nb", "ru"} {
		entry = with(entry, catalog.Title(lang, lang))
	}
	c, err := catalog.New("d", entry, catalog.Define("B", errcode.NotFound, "r", "en", catalog.Title("he", "he")))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		languages, key, want string
	}{
		{"", "A", "en"},
		{"ko", "A", "ko"},
		{"ko-KR", "A", "ko"},
		{"KO_kr", "A", "ko"},
		{"de-AT", "A", "de"},
		{"de-CH-1996", "A", "de"},
		{"en-GB", "A", "en"},
		{"pt", "A", "pt-BR"},
		{"pt-AO", "A", "pt-PT"},
		{"zh-TW", "A", "zh-Hant"},
		{"zh-HK", "A", "zh-Hant"},
		{"zh-CN", "A", "zh-Hans"},
		{"zh", "A", "zh-Hans"},
		{"no", "A", "nb"},
		{"da", "A", "nb"},
		{"fr", "A", "en"},
		{"fr,ru", "A", "ru"},
		{"fr,de,ru", "A", "de"},
		{"en,ko", "A", "en"},
		{"iw", "B", "he"},
		{"ko,he", "B", "he"},
		{"ko", "B", "en"},
		{"not a tag,,ko", "A", "ko"},
		{"und,mul,ko", "A", "ko"},
		{strings.Repeat("fr,", 16) + "ko", "A", "en"},
	}
	for _, tc := range tests {
		t.Run(tc.languages+" "+tc.key, func(t *testing.T) {
			t.Parallel()
			languages := strings.Split(tc.languages, ",")
			ctx := catalog.WithLanguages(t.Context(), languages...)
			if got := c.ErrorContext(ctx, catalog.Key(tc.key)).Message(); got != tc.want {
				t.Errorf("from the context: %s, want %s", got, tc.want)
			}
			if got := c.For(languages...).Error(catalog.Key(tc.key)).Message(); got != tc.want {
				t.Errorf("from a Raiser: %s, want %s", got, tc.want)
			}
		})
	}
}

// with returns an entry with one more option.
func with(e catalog.Entry, o catalog.EntryOption) catalog.Entry {
	opts := []catalog.EntryOption{}
	for _, lang := range e.Languages()[1:] {
		opts = append(opts, catalog.Title(lang, e.Title(lang)))
	}
	return catalog.Define(e.Key(), e.Code(), e.Reason(), e.Title(""), append(opts, o)...)
}

func TestLanguagesOfContextAndRaiser(t *testing.T) {
	t.Parallel()
	c := desk(t)
	r := c.For("ko")
	for _, tc := range []struct {
		name string
		ctx  []string
		key  catalog.Key
		want string
	}{
		{"the context comes first", []string{"de"}, "DOC_005", "Das Dokument ist abgelaufen."},
		{"then the raiser", []string{"fr"}, "DOC_005", "문서의 유효 기간이 지났습니다."},
		{"then the default", []string{"fr"}, "QTA_001", "Later, please."},
		{"nothing in the context", nil, "DOC_005", "문서의 유효 기간이 지났습니다."},
	} {
		ctx := catalog.WithLanguages(t.Context(), tc.ctx...)
		if got := r.ErrorContext(ctx, tc.key).Message(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := c.ErrorContext(t.Context(), "DOC_005").Message(); got != "The document has expired." {
		t.Errorf("a context without languages: %q", got)
	}
	if got := (catalog.Raiser{}).Error("DOC_005").Reason(); got != "unknown_domain_code" {
		t.Errorf("the zero Raiser: %s", got)
	}
}

func TestAcceptLanguage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		want   []string
	}{
		{"", nil},
		{"ko", []string{"ko"}},
		{"en;q=0.5, ko-KR, *;q=0.1", []string{"ko-KR", "en"}},
		{"de;q=0, ru", []string{"ru"}},
		{"*", nil},
		{"ko;q=high", nil},
		{strings.Repeat("de,", 1000), slices.Repeat([]string{"de"}, 16)},
		// One item that cannot be understood does not cost the others.
		{"cn,ko", []string{"ko"}},
		{"zh-CHS,ko", []string{"zh", "ko"}},
		{"xx-XX,ko;q=0.5", []string{"ko"}},
		{"ko;q=0.9;", []string{"ko"}},
		{"en-UK,de;q=0.5", []string{"en-GB", "de"}},
		{"ko;q=1.5, de", []string{"de"}},
		{"i-nonsense-tag,,  ko ; q=0.8 , de;level=1", []string{"de", "ko"}},
		{"C, de_DE.UTF-8, ja", []string{"ja"}},
		{strings.Repeat("x", 200) + ",ko", []string{"ko"}},
		{strings.Repeat("-", 2000), nil},
	}
	for _, tc := range tests {
		got := catalog.AcceptLanguage(tc.header)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", tc.header, diff)
		}
	}
}
