package catalog_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

// good is what every row of a test has unless it is about that.
const good = "code: NOT_FOUND, reason: r, title: t"

func TestFaultsOfYAML(t *testing.T) {
	t.Parallel()
	const codes = "INVALID_INPUT, AUTH_REQUIRED, NOT_FOUND, UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, RATE_LIMITED, GUARDRAIL_BLOCKED, INTERNAL_ERROR"
	const systems = "want system:locator with a system out of mcp, rag, llm, db, http, validator, guardrail, internal"
	tests := []struct {
		name, file string
		want       []string
	}{
		{"good", "domain: d\nerrors:\n  A: {" + good + "}\n", nil},
		{"number as key", "domain: d\nerrors:\n  1001: {" + good + "}\n", nil},
		{"no errors yet", "domain: d\nerrors: {}\n", nil},
		{
			"unknown code", "domain: d\nerrors:\n  A:\n    code: NOPE\n    reason: r\n    title: t\n",
			[]string{`e.yaml:4:11: A: unknown code "NOPE", want one of ` + codes},
		},
		{
			"empty reason", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: ' ', title: t}\n",
			[]string{"e.yaml:3:32: A: empty reason"},
		},
		{
			"reason not ASCII", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: 만료, title: t}\n",
			[]string{`e.yaml:3:32: A: reason "만료" is not printable ASCII`},
		},
		{
			"bad domain", "domain: Document Desk\nerrors: {}\n",
			[]string{`e.yaml:1:9: bad domain "Document Desk", want kebab-case ASCII such as document-desk`},
		},
		{
			"no domain", "errors:\n  A: {code: NOT_FOUND, reason: '', title: t}\n",
			[]string{"e.yaml:1:1: domain is missing", "e.yaml:2:32: A: empty reason"},
		},
		{"no errors", "domain: d\n", []string{"e.yaml:1:1: errors is missing"}},
		{
			"duplicate key", "domain: d\nerrors:\n  A: {" + good + "}\n  A: {" + good + "}\n",
			[]string{"e.yaml:4:3: A: duplicate key, first at e.yaml:3:3"},
		},
		{
			"duplicate field", "domain: d\nerrors:\n  A: {" + good + ", reason: s}\n",
			[]string{"e.yaml:3:45: A: duplicate field reason"},
		},
		{
			"unknown fields", "domain: d\nversion: 1\nerrors:\n  A: {" + good + ", retryable: true}\n",
			[]string{`e.yaml:2:1: unknown field "version"`, `e.yaml:4:45: A: unknown field "retryable"`},
		},
		{
			"wrong types", "domain: [d]\nlanguage: 1\nerrors:\n  A: {code: 1, reason: null, title: [t], retriable: 'yes', retryAfterMs: 1.5, source: {}}\n",
			[]string{
				"e.yaml:1:9: domain must be a string, not a list",
				"e.yaml:2:11: language must be a string, not a whole number",
				"e.yaml:4:13: A: code must be a string, not a whole number",
				"e.yaml:4:24: A: reason must be a string, not null",
				"e.yaml:4:37: A: title must be a string or a map of strings by language, not a list",
				"e.yaml:4:53: A: retriable must be a boolean, not a string",
				"e.yaml:4:74: A: retryAfterMs must be a whole number, not a number",
				"e.yaml:4:87: A: source must be a string, not a map",
			},
		},
		{"entry is a string", "domain: d\nerrors:\n  A: x\n", []string{"e.yaml:3:6: A: an entry must be a map, not a string"}},
		{"errors is a list", "domain: d\nerrors: []\n", []string{"e.yaml:2:9: errors must be a map, not a list"}},
		{"file is a list", "- a\n", []string{"e.yaml:1:1: the file must be a map, not a list"}},
		{
			"everything missing", "domain: d\nerrors:\n  A: {}\n",
			[]string{"e.yaml:3:3: A: code is missing", "e.yaml:3:3: A: reason is missing", "e.yaml:3:3: A: title is missing"},
		},
		{
			"empty titles", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: ''}\n  B: {code: NOT_FOUND, reason: r, title: {en: x, de: '  '}}\n",
			[]string{"e.yaml:3:42: A: empty title", "e.yaml:4:54: B: empty title"},
		},
		{
			"title without a fallback", "domain: d\nlanguage: en\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {de: x}}\n",
			[]string{"e.yaml:4:42: A: title without a fallback: no text in en, the default language"},
		},
		{
			"first title gives the default", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {ko: x, en: y}}\n  B: {code: NOT_FOUND, reason: r, title: {en: x}}\n",
			[]string{"e.yaml:4:42: B: title without a fallback: no text in ko, the default language"},
		},
		{
			"no title at all in the map", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {}}\n",
			[]string{"e.yaml:3:42: A: title without a fallback: no text in en, the default language"},
		},
		{
			"bad language tags", "domain: d\nlanguage: english please\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {deutsch!: x, de: y, und: z}}\n",
			[]string{
				`e.yaml:2:11: bad language tag "english please"`,
				`e.yaml:4:43: A: bad language tag "deutsch!"`, `e.yaml:4:63: A: bad language tag "und"`,
			},
		},
		{
			"the same language twice", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {en: x, EN: y}}\n",
			[]string{"e.yaml:3:50: A: duplicate title in en"},
		},
		{
			"negative delay", "domain: d\nerrors:\n  A: {" + good + ", retryAfterMs: -5}\n",
			[]string{"e.yaml:3:59: A: negative delay -5 ms"},
		},
		{
			"endless delay", "domain: d\nerrors:\n  A: {" + good + ", retryAfterMs: 9223372036854775807}\n",
			[]string{"e.yaml:3:59: A: retryAfterMs must be decimal and at most 9223372036854, not 9223372036854775807"},
		},
		{
			"bad source", "domain: d\nerrors:\n  A: {" + good + ", source: printer}\n",
			[]string{`e.yaml:3:53: A: bad source "printer", ` + systems},
		},
		{
			"bad keys", "domain: d\nerrors:\n  '': {" + good + "}\n  A B: {" + good + "}\n  [x]: {" + good + "}\n",
			[]string{
				"e.yaml:3:3: empty key", "e.yaml:4:3: A B: bad key, want at most 128 printable ASCII characters without spaces",
				"e.yaml:5:3: a key must be a string, not a list; put it in quotes if it is one",
			},
		},
		{
			"placeholders", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {en: 'x {id}', de: 'y {nr}'}}\n  B: {code: NOT_FOUND, reason: r, title: 'x {'}\n",
			[]string{
				"e.yaml:3:61: A: unknown placeholder {nr}: the title in en does not have it",
				"e.yaml:4:42: B: bad placeholder in the title: write {name} for a placeholder and {{ or }} for a brace",
			},
		},
		{
			"control character", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: \"a\\tb\"}\n",
			[]string{"e.yaml:3:42: A: title has a control character"},
		},
		{
			"anchors and aliases", "domain: &d d\nlanguage: *d\nerrors: {}\n",
			[]string{"e.yaml:1:9: anchors are not allowed", "e.yaml:2:11: aliases are not allowed"},
		},
		{"merge key", "domain: d\nerrors:\n  <<: {}\n", []string{"e.yaml:3:3: a key must be a string, not a value of type !!merge; put it in quotes if it is one"}},
		{"own type", "domain: !secret d\nerrors: {}\n", []string{"e.yaml:1:9: domain must be a string, not a value of type !secret"}},
		{"second document", "domain: d\nerrors: {}\n---\ndomain: e\n", []string{"e.yaml:3:1: a second document"}},
		{"nested too deep", "domain: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), []string{
			"e.yaml:1:1: errors is missing", "e.yaml:1:9: domain must be a string, not a list", "e.yaml:1:25: nested too deep",
		}},
		{
			"an anchor beside other faults", "domain: Desk\nerrors: &all\n  A: &a {code: NOPE_X, reason: '', title: t}\n",
			[]string{
				`e.yaml:1:9: bad domain "Desk", want kebab-case ASCII such as document-desk`,
				"e.yaml:2:9: anchors are not allowed", "e.yaml:3:6: anchors are not allowed",
				`e.yaml:3:16: A: unknown code "NOPE_X", want one of ` + codes, "e.yaml:3:32: A: empty reason",
			},
		},
		{
			"an alias beside other faults", "domain: d\nlanguage: en\nerrors:\n  A: {code: &c NOT_FOUND, reason: r, title: t}\n  B: {code: *c, reason: '', title: {de: &x x}}\n  C: *c\n",
			[]string{
				"e.yaml:4:13: anchors are not allowed", "e.yaml:5:13: aliases are not allowed", "e.yaml:5:25: B: empty reason",
				"e.yaml:5:36: B: title without a fallback: no text in en, the default language",
				"e.yaml:5:41: anchors are not allowed", "e.yaml:6:6: aliases are not allowed",
			},
		},
		{
			"a null key beside other faults", "null: 1\ndomain: D\nerrors:\n  ~: {" + good + "}\n  A: {null: NOT_FOUND, reason: '', title: t}\n  B: {code: NOT_FOUND, reason: r, title: {null: x, de: ''}}\n",
			[]string{
				"e.yaml:1:1: a key must be a string, not null; put it in quotes if it is one",
				`e.yaml:2:9: bad domain "D", want kebab-case ASCII such as document-desk`,
				"e.yaml:4:3: a key must be a string, not null; put it in quotes if it is one",
				"e.yaml:5:7: a key must be a string, not null; put it in quotes if it is one", "e.yaml:5:32: A: empty reason",
				"e.yaml:6:43: a key must be a string, not null; put it in quotes if it is one", "e.yaml:6:56: B: empty title",
			},
		},
		{
			"a null key where something is missing", "null: d\n",
			[]string{"e.yaml:1:1: a key must be a string, not null; put it in quotes if it is one"},
		},
		{
			"a second document beside other faults", "domain: D\nerrors: {}\n---\n{",
			[]string{`e.yaml:1:9: bad domain "D", want kebab-case ASCII such as document-desk`, "e.yaml:4: bad YAML: did not find expected node content"},
		},
		{
			"an empty title beside an unknown placeholder", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: {en: 'x {id}', de: '', fr: 'y {nr}', 'xx!': 'z {no}', it: '{', ko: 1}}\n",
			[]string{
				"e.yaml:3:61: A: empty title", "e.yaml:3:69: A: unknown placeholder {nr}: the title in en does not have it",
				`e.yaml:3:79: A: bad language tag "xx!"`, "e.yaml:3:86: A: unknown placeholder {no}: the title in en does not have it",
				"e.yaml:3:100: A: bad placeholder in the title: write {name} for a placeholder and {{ or }} for a brace",
				"e.yaml:3:109: A: title in ko must be a string, not a whole number",
			},
		},
		{
			"a title that nobody can see", "domain: d\nerrors:\n  A: {code: NOT_FOUND, reason: r, title: \"\\uFEFF\\u200B \\u2060\"}\n",
			[]string{"e.yaml:3:42: A: empty title"},
		},
		{"syntax", "domain: d\nerrors: {\n", []string{"e.yaml:2: bad YAML: did not find expected node content"}},
		{"tab", "domain: d\nerrors:\n\tA: {}\n", []string{"e.yaml:3: bad YAML: found character that cannot start any token"}},
		{"empty", "# nothing\n", []string{"e.yaml:1:1: the file is empty"}},
		{"not UTF-8", "domain: \xff\n", []string{"e.yaml: not valid UTF-8"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.Parse("e.yaml", []byte(tc.file))
			if diff := cmp.Diff(tc.want, faults(t, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOfJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []string
	}{
		{"good", `{"domain":"d","errors":{"A":{"code":"NOT_FOUND","reason":"r","title":"t"}}}`, nil},
		{"byte order mark", "\uFEFF" + `{"domain":"d","errors":{}}`, nil},
		{
			"every fault", "{\n  \"domain\": \"D\",\n  \"errors\": {\n    \"A\": {\"code\": \"NOT_FOUND\", \"reason\": \"만\", \"title\": 1},\n    \"A\": {\"code\": \"NOT_FOUND\", \"reason\": \"r\", \"title\": \"t\", \"x\": [1, {}]}\n  }\n}\n",
			[]string{
				`e.json:2:13: bad domain "D", want kebab-case ASCII such as document-desk`,
				`e.json:4:42: A: reason "만" is not printable ASCII`,
				"e.json:4:56: A: title must be a string or a map of strings by language, not a whole number",
				"e.json:5:5: A: duplicate key, first at e.json:4:5",
				`e.json:5:61: A: unknown field "x"`,
			},
		},
		{"number with exponent", `{"domain":"d","errors":{"A":{"code":"NOT_FOUND","reason":"r","title":"t","retryAfterMs":1e3}}}`, []string{"e.json:1:89: A: retryAfterMs must be a whole number, not a number"}},
		{"cut", "{\n\"domain\": ", []string{"e.json:2:11: bad JSON: the file ends in the middle"}},
		{"empty", " ", []string{"e.json:1:1: the file is empty"}},
		{"more after the end", "{\"domain\":\"d\",\"errors\":{}}\n{}", []string{"e.json:2:1: bad JSON: more after the end of the value"}},
		{"syntax", "{\"domain\":\"d\",\n \"errors\" {}}", []string{"e.json:2:11: bad JSON: invalid character '{' after object key"}},
		{"literal", "{\"domain\": nope}", []string{"e.json:1:12: bad JSON: invalid character 'o' in literal null (expecting 'u')"}},
		{"nested too deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), []string{"e.json:1:1: the file must be a map, not a list", "e.json:1:18: nested too deep"}},
		{
			"nested too deep beside other faults", `{"domain":"D","x":` + strings.Repeat(`[{"a":`, 10) + "1" + strings.Repeat("}]", 10) + `,"errors":{}}`,
			[]string{`e.json:1:11: bad domain "D", want kebab-case ASCII such as document-desk`, `e.json:1:15: unknown field "x"`, "e.json:1:67: nested too deep"},
		},
		{"nested too deep and cut", strings.Repeat("[", 40), []string{"e.json:1:18: nested too deep", "e.json:1:41: bad JSON: the file ends in the middle"}},
		{"null", "null", []string{"e.json:1:1: the file must be a map, not null"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.Parse("e.json", []byte(tc.file))
			if diff := cmp.Diff(tc.want, faults(t, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOfGo(t *testing.T) {
	t.Parallel()
	_, err := catalog.NewIn("xx-", "Desk",
		catalog.Define("A", "NOPE", "", "t"),
		catalog.Define("A", errcode.Internal, "r", "\xff", catalog.Title("ko", ""), catalog.RetryAfter(-1e6), nil),
		catalog.Entry{},
	)
	got := faults(t, err)
	for i, want := range []string{
		`bad domain "Desk"`, `bad language tag "xx-"`,
		`entry 1: A: unknown code "NOPE"`, "entry 1: A: empty reason",
		"entry 2: A: duplicate key, first at entry 1", "entry 2: A: negative delay -1 ms",
		"entry 2: A: title is not valid UTF-8", "entry 2: A: empty title",
		"entry 3: empty key", "entry 3: code is missing", "entry 3: reason is missing", "entry 3: title is missing",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("fault %d is not %q:\n%v", i, want, err)
		}
	}
}

// TestLimitsOfTitles: what is checked pairwise must not grow without end.
func TestLimitsOfTitles(t *testing.T) {
	t.Parallel()
	long := catalog.Define("A", errcode.NotFound, "r", strings.Repeat("{a}", 2000))
	var many []catalog.EntryOption
	for i := range 200 {
		many = append(many, catalog.Title(fmt.Sprintf("x-%d", i), "t"))
	}
	_, err := catalog.New("d", long, catalog.Define("B", errcode.NotFound, "r", "t", many...),
		catalog.Define("C", errcode.NotFound, "r", "t", many[1:]...))
	want := []string{
		"entry 1: A: title of 6000 bytes, at most 4096 are possible",
		"entry 2: B: title in 201 languages, at most 200 are possible",
	}
	if diff := cmp.Diff(want, faults(t, err)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestManyFaults: a file of faults gives a report that can be read, and that says how many there are.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	const lines = 400
	var b strings.Builder
	b.WriteString("domain: d\nerrors:\n")
	for i := range lines {
		fmt.Fprintf(&b, "  K%d: 1\n", i)
	}
	_, err := catalog.Parse("e.yaml", []byte(b.String()))
	var all *catalog.FaultsError
	if !errors.As(err, &all) || len(all.Faults) != 100 || all.More != lines-100 {
		t.Fatalf("%d faults and %d more", len(all.Faults), all.More)
	}
	if text := strings.Split(err.Error(), "\n"); len(text) != 101 || text[100] != "and 300 more" {
		t.Errorf("%d lines, the last %q", len(text), text[len(text)-1])
	}
}

// TestFileOfDuplicates: a megabyte of faults took 635 MiB, and one line of JSON time by the square of
// its length.
func TestFileOfDuplicates(t *testing.T) { //nolint:paralleltest // it counts the memory of the whole process
	const count = 100_000
	for name, text := range map[string]string{
		"e.yaml": "domain: d\nerrors:\n" + strings.Repeat(" A: 1\n", count),
		"e.json": `{"domain":"d","errors":{` + strings.Repeat(`"A":1,`, count) + `"A":"end"}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := catalog.Parse(name, []byte(text))
		runtime.ReadMemStats(&after)
		var all *catalog.FaultsError
		if !errors.As(err, &all) || all.More < count {
			t.Errorf("%s: %d faults and %d more", name, len(all.Faults), all.More)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text)); used > 500 {
			t.Errorf("%s: %d bytes for each byte of the file", name, used)
		}
	}
}

// TestPlaceInOneLine: columns are counted on from one token to the next.
func TestPlaceInOneLine(t *testing.T) {
	t.Parallel()
	good := `"K%d":{"code":"NOT_FOUND","reason":"r","title":"문서 x"},`
	var b strings.Builder
	b.WriteString(`{"domain":"d","errors":{`)
	for i := range 1000 {
		fmt.Fprintf(&b, good, i)
	}
	column := utf8.RuneCountInString(b.String()) + 1
	b.WriteString("\"BAD\":1,\n \"BAD2\":2}}")
	_, err := catalog.Parse("e.json", []byte(b.String()))
	want := []string{
		fmt.Sprintf("e.json:1:%d: BAD: an entry must be a map, not a whole number", column+len(`"BAD":`)),
		"e.json:2:9: BAD2: an entry must be a map, not a whole number",
	}
	if diff := cmp.Diff(want, faults(t, err)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
