package catalog_test

import (
	"errors"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

// desk is a small catalogue in three languages.
func desk(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.New("document-desk",
		catalog.Define("DOC_005", errcode.InvalidInput, "document_expired", "The document has expired.",
			catalog.Title("ko", "문서의 유효 기간이 지났습니다."),
			catalog.Title("de", "Das Dokument ist abgelaufen."),
			catalog.Source("db:documents")),
		catalog.Define("DOC_002", errcode.NotFound, "document_missing", "There is no {id} in {place}.",
			catalog.Title("de", "In {place} gibt es {id} nicht.")),
		catalog.Define("QTA_001", errcode.RateLimited, "quota", "Later, please.",
			catalog.Retriable(false), catalog.RetryAfter(1)),
	)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// faults returns what an error lists.
func faults(tb testing.TB, err error) []string {
	tb.Helper()
	if err == nil {
		return nil
	}
	var fe *catalog.FaultsError
	if !errors.As(err, &fe) {
		tb.Fatalf("error is %T: %v", err, err)
	}
	lines := make([]string, len(fe.Faults))
	for i, f := range fe.Faults {
		lines[i] = f.String()
	}
	return lines
}
