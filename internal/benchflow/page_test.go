package benchflow_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestSnippetsCompile: the Go code of the comparison is in this module's tests,
// however far it is indented there.
func TestSnippetsCompile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("loan*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range files {
		code.WriteString(read(t, name))
	}
	blocks := goBlock.FindAllStringSubmatch(read(t, comparisonPage), -1)
	if len(blocks) < 5 {
		t.Errorf("the page has %d snippets, want all of them", len(blocks))
	}
	for _, block := range blocks {
		snippet := block[1]
		once := indented(snippet)
		if all := code.String(); !strings.Contains(all, snippet) && !strings.Contains(all, once) && !strings.Contains(all, indented(once)) {
			t.Errorf("not in compiled code:\n%s", snippet)
		}
	}
}

// indented is a snippet one tab in.
func indented(snippet string) string {
	lines := strings.SplitAfter(snippet, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = "\t" + line
		}
	}
	return strings.Join(lines, "")
}

// TestDrawing: the page shows what a failed run is drawn as.
func TestDrawing(t *testing.T) {
	t.Parallel()
	c, err := loanFlow(&bank{down: true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context(), "task-3/loan", loan{ID: "4711"})
	if drawn := "```mermaid\n" + c.Mermaid(res, err) + "```"; !strings.Contains(read(t, comparisonPage), drawn) {
		t.Errorf("the page does not show\n%s", drawn)
	}
}
