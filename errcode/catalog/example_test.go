package catalog_test

import (
	"context"
	"fmt"
	"net/http"
	"testing/fstest"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

func Example() {
	files := fstest.MapFS{"errors.yaml": {Data: []byte(`
domain: document-desk
errors:
  DOC_002:
    code: NOT_FOUND
    reason: document_missing
    title:
      en: There is no document {id}.
      ko: "{id} 문서를 찾을 수 없습니다."
`)}} // an embed.FS in real code
	errs, err := catalog.Load(files, "errors.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	header := http.Header{"Accept-Language": {"ko-KR, en;q=0.5"}}
	ctx := catalog.WithLanguages(context.Background(), catalog.AcceptLanguage(header.Get("Accept-Language"))...)

	e := errs.ErrorContext(ctx, "DOC_002", catalog.Arg("id", "4711"))
	fmt.Println(e.Code(), e.Reason(), e.Domain(), e.DomainCode())
	fmt.Println(e.Message())
	// Output:
	// NOT_FOUND document_missing document-desk DOC_002
	// 4711 문서를 찾을 수 없습니다.
}

func ExampleNew() {
	errs, err := catalog.New("document-desk",
		catalog.Define("DOC_005", errcode.InvalidInput, "document_expired", "The document has expired.",
			catalog.Title("de", "Das Dokument ist abgelaufen.")),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(errs.Error("DOC_005"))
	fmt.Println(errs.For("de-AT").Error("DOC_005"))
	// Output:
	// INVALID_INPUT document_expired: The document has expired.
	// INVALID_INPUT document_expired: Das Dokument ist abgelaufen.
}

// Everything that is wrong is reported at once.
func ExampleParse_faults() {
	_, err := catalog.Parse("errors.yaml", []byte(`domain: Document Desk
errors:
  DOC_005:
    code: INVALID_INPUT
    reason: ""
    title: The document has expired.
  DOC_005:
    code: NOT_FOUND
    reason: document_missing
    retryable: true
`))
	fmt.Println(err)
	// Output:
	// errors.yaml:1:9: bad domain "Document Desk", want kebab-case ASCII such as document-desk
	// errors.yaml:5:13: DOC_005: empty reason
	// errors.yaml:7:3: DOC_005: duplicate key, first at errors.yaml:3:3
	// errors.yaml:7:3: DOC_005: title is missing
	// errors.yaml:10:5: DOC_005: unknown field "retryable"
}
