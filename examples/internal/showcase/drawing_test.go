package showcase

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheLoanFlow: the README's drawing is that of the loan flow
// after its search failed.
func TestReadmeShowsTheLoanFlow(t *testing.T) {
	f, err := newFlows(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.loanFlow().Compile()
	if err != nil {
		t.Fatal(err)
	}
	res, runErr := c.Run(t.Context(), "readme", loan{Task: "readme", Mode: "fail"})
	want := "```mermaid\n" + strings.TrimSpace(c.Mermaid(res, runErr)) + "\n```"
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want) {
		t.Errorf("README.md does not show\n%s", want)
	}
}
