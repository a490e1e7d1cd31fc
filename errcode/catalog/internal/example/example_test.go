package example_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
	"github.com/a2aexec/a2aexec/errcode/catalog/internal/example"
	"github.com/a2aexec/a2aexec/errcode/catalog/internal/gen"
)

// TestGeneratedFilesAreFresh fails when errors.yaml was changed without go generate.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	c, err := example.Load()
	if err != nil {
		t.Fatal(err)
	}
	code, err := gen.Go(c, "example", "errors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := gen.Markdown(c, "errors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"errors_gen.go": code, "errors.md": page} {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s is stale, run go generate", name)
		}
	}
}

// TestEveryErrorCanBeSent in every language, with all its arguments.
func TestEveryErrorCanBeSent(t *testing.T) {
	t.Parallel()
	c, err := example.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Entries() {
		if got := len(e.Languages()); got != 3 {
			t.Errorf("%s has %d languages, want 3", e.Key(), got)
		}
		var args []errcode.Option
		for _, p := range e.Params() {
			args = append(args, catalog.Arg(p, "7"))
		}
		for _, lang := range c.Languages() {
			d, err := errcode.Builder{}.Data(c.For(lang).Error(e.Key(), args...))
			if err != nil {
				t.Errorf("%s in %s: %v", e.Key(), lang, err)
			}
			if d.DomainCode != string(e.Key()) || d.ErrorCode != e.Code() || slices.Contains([]byte(d.ErrorMessage), '{') {
				t.Errorf("%s in %s: %+v", e.Key(), lang, d)
			}
		}
	}
}

func Example() {
	errs, err := example.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	e := errs.For("ko").Error(example.DOC004, catalog.Arg("pages", "312"), catalog.Arg("limit", "200"))
	fmt.Println(e)
	// Output: INVALID_INPUT document_too_large: 문서가 312쪽입니다. 최대 200쪽까지 처리할 수 있습니다.
}
