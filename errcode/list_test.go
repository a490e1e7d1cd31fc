package errcode_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

func TestRowsListRulesFirst(t *testing.T) {
	t.Parallel()
	table := errcode.NewTable(
		errcode.OnError(errors.New("gone"), errcode.NotFound, "gone", errcode.Message("Gone."), errcode.Source("db:x"), errcode.Retriable(true)),
		errcode.OnType[*pointerError](errcode.RateLimited, ""),
		errcode.When("mine", always, errcode.Internal, "x"),
		errcode.Rule{},
	)
	rows := table.Rows()
	want := []errcode.Row{
		{
			Name: "gone", Errors: "the error gone", Code: errcode.NotFound, Reason: "gone", Retriable: true,
			Source: "db:x", Message: "Gone.", Rule: true,
		},
		{Name: "*errcode_test.pointerError", Errors: "the type *errcode_test.pointerError", Code: errcode.RateLimited, Retriable: true, Rule: true},
		{Name: "mine", Errors: "the predicate mine", Code: errcode.Internal, Reason: "x", Rule: true},
		{Rule: true},
	}
	if diff := cmp.Diff(want, rows[:4]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var none *errcode.Table
	if diff := cmp.Diff(none.Rows(), rows[4:]); diff != "" {
		t.Errorf("the defaults do not follow:\n%s", diff)
	}
}

func TestRowsAreComplete(t *testing.T) {
	t.Parallel()
	for _, r := range errcode.Default().Rows() {
		if r.Name == "" || r.Errors == "" || r.Code != "" && !r.Code.Valid() {
			t.Errorf("incomplete: %+v", r)
		}
	}
}

// TestTableDocument keeps docs/errcode-table.md in step with the table; run it with -update to write
// the document.
func TestTableDocument(t *testing.T) {
	t.Parallel()
	document := filepath.Join("..", "docs", "errcode-table.md")
	got := tableDocument(errcode.Default().Rows())
	if *update {
		if err := os.WriteFile(document, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale, run: go test ./errcode -run TestTableDocument -update\n%s", document, diff)
	}
}

const tableIntro = `# The table: Go error → code

<!-- Written by: go test ./errcode -run TestTableDocument -update -->

The errors that ` + "`errcode`" + ` knows, in the order in which they are looked at. A table with rules of your own
(` + "`OnError`, `OnType`, `When`" + `) puts them in front; ` + "`Table.Rows`" + ` lists it like this.

The tree of an error is walked outermost first, depth first, and the first error in it that a line is about decides. A
*carrier* only says where it happened: anything below it that matches decides instead. Where no reason stands, it is
made of the name of the error's type: ` + "`*openai.Error`" + ` gives ` + "`openai_error`" + `. A delay comes from
` + "`retry-after-ms`, `x-ms-retry-after-ms` or `Retry-After`" + `, or from a ` + "`google.rpc.RetryInfo`" + `.

A server's delay counts with every HTTP status that is retriable here (408, 429 and all from 500 on), not with 429 and 503
alone: who says when to come back knows better than an exponential backoff, whatever the number. With a status that is not
retriable it is ignored, since a client should not come back at all. An API's own error code decides below a 400 or a
403, which many APIs send for a quota, and where there is no status of an error, as in a stream that has begun.

Errors of the agent's own machine stay INTERNAL_ERROR: a file that is missing (` + "`fs.ErrNotExist`" + `) or may not be
read, a full disk, a program that cannot be started. They are faults of the deployment, and telling a client "not
found" or "authentication required" would send it looking in the wrong place. An agent whose resources are files says so
with a rule: ` + "`errcode.OnError(fs.ErrNotExist, errcode.NotFound, \"document_missing\")`" + `.

| errors | code | retriable | reason |
|---|---|---|---|
`

func tableDocument(rows []errcode.Row) []byte {
	var b bytes.Buffer
	b.WriteString(tableIntro)
	escape := strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`)
	for _, r := range rows {
		what, code, retriable, reason := escape.Replace(r.Errors), string(r.Code), "no", "from type"
		if r.Carrier {
			what += " (carrier)"
		}
		if r.Retriable {
			retriable = "yes"
		}
		if r.Reason != "" {
			reason = "`" + r.Reason + "`"
		}
		if r.Code == "" {
			code, retriable, reason = "its own", "its own", "its own"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", what, code, retriable, reason)
	}
	return b.Bytes()
}
