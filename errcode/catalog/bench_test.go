package catalog_test

import (
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

func BenchmarkError(b *testing.B) {
	c := desk(b)
	ctx := catalog.WithLanguages(b.Context(), "de-AT", "en")
	korean := c.For("ko")
	detail := errcode.Detail("n", 1)
	cases := []struct {
		name string
		make func() *errcode.Error
	}{
		{"baseline=errcode.New", func() *errcode.Error {
			return errcode.New(errcode.InvalidInput, "document_expired", errcode.Message("The document has expired."),
				errcode.Retriable(false), errcode.Source("db:documents"), errcode.Domain("document-desk"), errcode.DomainCode("DOC_005"))
		}},
		{"baseline=errcode.New/detail", func() *errcode.Error {
			return errcode.New(errcode.InvalidInput, "document_expired", errcode.Message("The document has expired."),
				errcode.Retriable(false), errcode.Source("db:documents"), errcode.Domain("document-desk"), errcode.DomainCode("DOC_005"), detail)
		}},
		{"case=Error", func() *errcode.Error { return c.Error("DOC_005") }},
		{"case=Error/detail", func() *errcode.Error { return c.Error("DOC_005", detail) }},
		{"case=Error/args", func() *errcode.Error {
			return c.Error("DOC_002", catalog.Arg("id", "7"), catalog.Arg("place", "the archive"))
		}},
		{"case=Raiser/exact", func() *errcode.Error { return korean.Error("DOC_005") }},
		{"case=ErrorContext/matched", func() *errcode.Error { return c.ErrorContext(ctx, "DOC_005") }},
		{"case=unknown", func() *errcode.Error { return c.Error("DOC_999") }},
	}
	for _, tc := range cases {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if tc.make() == nil {
					b.Fatal("no error")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	c := desk(b)
	raw, err := c.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"c.json", "c.yaml"} {
		b.Run("case="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := catalog.Parse(name, raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
