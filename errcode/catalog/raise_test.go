package catalog_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

// data is what a client receives.
func data(tb testing.TB, e *errcode.Error) errcode.Data {
	tb.Helper()
	d, err := errcode.Builder{}.Data(e)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestError(t *testing.T) {
	t.Parallel()
	c, cause := desk(t), errors.New("private")
	one := int64(1)
	tests := []struct {
		name string
		err  *errcode.Error
		want errcode.Data
	}{
		{"as written", c.Error("DOC_005"), errcode.Data{
			ErrorCode: errcode.InvalidInput, ErrorReason: "document_expired", ErrorMessage: "The document has expired.",
			ErrorSource: "db:documents", Domain: "document-desk", DomainCode: "DOC_005",
		}},
		{"not retriable, though its code is; delay rounded up", c.Error("QTA_001"), errcode.Data{
			ErrorCode: errcode.RateLimited, ErrorReason: "quota", ErrorMessage: "Later, please.", RetryAfterMs: &one,
			Domain: "document-desk", DomainCode: "QTA_001",
		}},
		{"later options win", c.Error("DOC_005",
			errcode.Message("m"), errcode.Retriable(true), errcode.Source("http:x"), errcode.Domain("e"),
			errcode.Cause(cause), errcode.Detail("a", 1), nil), errcode.Data{
			ErrorCode: errcode.InvalidInput, ErrorReason: "document_expired", ErrorMessage: "m", Retriable: true,
			ErrorSource: "http:x", Domain: "e", DomainCode: "DOC_005", Details: map[string]any{"a": 1.0},
		}},
		{"arguments, the last counts", c.Error("DOC_002",
			catalog.Arg("id", "7"), catalog.Arg("place", "{id}"), catalog.Arg("id", "8"), catalog.Arg("what", "")), errcode.Data{
			ErrorCode: errcode.NotFound, ErrorReason: "document_missing", ErrorMessage: "There is no 8 in {id}.",
			Domain: "document-desk", DomainCode: "DOC_002",
		}},
		{"no arguments", c.Error("DOC_002"), errcode.Data{
			ErrorCode: errcode.NotFound, ErrorReason: "document_missing", ErrorMessage: "There is no {id} in {place}.",
			Domain: "document-desk", DomainCode: "DOC_002",
		}},
		{"the message of the author beats arguments", c.Error("DOC_002", errcode.Message("m"), catalog.Arg("id", "7")), errcode.Data{
			ErrorCode: errcode.NotFound, ErrorReason: "document_missing", ErrorMessage: "m",
			Domain: "document-desk", DomainCode: "DOC_002",
		}},
		{"unknown key", c.Error("DOC_999", errcode.Cause(cause)), errcode.Data{
			ErrorCode: errcode.Internal, ErrorReason: "unknown_domain_code", ErrorMessage: errcode.Internal.Text(),
			Domain: "document-desk", Details: map[string]any{"domainCode": "DOC_999"},
		}},
		{"no catalogue", (*catalog.Catalog)(nil).For("ko").Error("\xff" + catalog.Key(strings.Repeat("é", 100))), errcode.Data{
			ErrorCode: errcode.Internal, ErrorReason: "unknown_domain_code", ErrorMessage: errcode.Internal.Text(),
			Details: map[string]any{"domainCode": "�" + strings.Repeat("é", 63) + "�"},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, data(t, tc.err)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
	if !errors.Is(c.Error("DOC_005", errcode.Cause(cause)), cause) || !errors.Is(c.Error("?", errcode.Cause(cause)), cause) {
		t.Error("the cause is lost")
	}
	if got := c.Error("DOC_999").Unwrap(); got == nil || !strings.Contains(got.Error(), "DOC_999") {
		t.Errorf("the cause, which the log tells, does not name the key: %v", got)
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	c := desk(t)
	e, ok := c.Lookup("DOC_002")
	if !ok || e.Title("de") != "In {place} gibt es {id} nicht." || e.Title("ko") != "" || e.Source() != "" || e.Retriable() {
		t.Errorf("entry %+v", e)
	}
	if diff := cmp.Diff([]string{"id", "place"}, e.Params()); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
	if _, ok := c.Lookup("?"); ok {
		t.Error("found what is not there")
	}
	if diff := cmp.Diff([]string{"en", "de", "ko"}, c.Languages()); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"en", "de", "ko"}, c.Entries()[0].Languages()); diff != "" {
		t.Errorf("languages of an entry (-want +got):\n%s", diff)
	}
	if d, ok := c.Entries()[2].RetryAfter(); !ok || d != time.Millisecond {
		t.Errorf("delay %v %v", d, ok)
	}
	c.Keys()[0] = "changed"
	if diff := cmp.Diff([]catalog.Key{"DOC_005", "DOC_002", "QTA_001"}, c.Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	var none *catalog.Catalog
	if none.Entries() != nil || none.Keys() != nil || none.Languages() != nil || none.Domain()+none.Language() != "" {
		t.Error("a nil catalogue is not empty")
	}
	if _, err := none.MarshalJSON(); err != nil {
		t.Error(err)
	}
}

// TestEntryInTwoCatalogues: New does not change what it is given.
func TestEntryInTwoCatalogues(t *testing.T) {
	t.Parallel()
	e := catalog.Define("A", errcode.NotFound, "r", "x", catalog.Title("de", "y"))
	for _, lang := range []string{"en", "ko"} {
		c, err := catalog.NewIn(lang, "d", e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{lang, "de"}, c.Languages()); diff != "" {
			t.Errorf("languages (-want +got):\n%s", diff)
		}
	}
	if (catalog.Entry{}).Params() != nil || len((catalog.Entry{}).Languages()) > 0 {
		t.Error("the zero entry is not empty")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := desk(t)
	r := c.For("ko")
	ctx := catalog.WithLanguages(context.Background(), "de-AT", "en")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				a := c.ErrorContext(ctx, "DOC_005", errcode.Detail("n", 1))
				b := r.Error("DOC_002", catalog.Arg("id", "7"))
				if a.Message() != "Das Dokument ist abgelaufen." || b.Message() != "There is no 7 in {place}." ||
					r.ErrorContext(ctx, "DOC_005").With(errcode.Message("x")).Message() != "x" ||
					c.Error("DOC_005").Message() != "The document has expired." {
					t.Error("wrong message")
					return
				}
			}
		})
	}
	wg.Wait()
}
