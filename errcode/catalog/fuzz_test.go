package catalog_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

// FuzzParse: whatever the file, there is a sound catalogue or a list of faults in places that
// exist; never a panic, and never much more memory than the file has bytes.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("internal/example/errors.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example), false)
	for _, seed := range []string{
		"", "{}", "null", "[[[", "domain: d\nerrors:\n  A: {" + good + "}\n",
		"a: &a [*a]\n<<: *a\n", "? {a: b}\n: c\n", "domain: !!binary x\nerrors: !!set {a}\n", "%YAML 9.9\n---\n- |+\n\n",
		`{"domain":"d","errors":{"A":{"code":"NOT_FOUND","reason":"r","title":{"en":"{x}","en":""},"retryAfterMs":-1}}}`,
		"\uFEFF{\"errors\": {\"\\ud800\": 1e999}", "domain: d\r\nerrors:\r\n  A:\r\n   title: >-\r\n    x\r\n",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		name := "f.yaml"
		if isJSON {
			name = "f.json"
		}
		before := allocated()
		c, err := catalog.Parse(name, []byte(text))
		if got, most := allocated()-before, uint64(8<<20+len(text)*2000); got > most {
			t.Fatalf("%d bytes allocated for a file of %d", got, len(text))
		}
		if err != nil {
			checkFaults(t, text, err)
			return
		}
		for _, key := range c.Keys() {
			e := c.For("ko").Error(key, catalog.Arg("x", "y"))
			if !e.Code().Valid() || e.Message() == "" || e.DomainCode() != string(key) {
				t.Fatalf("unsound: %v", e)
			}
			if _, err := (errcode.Builder{}).Data(e); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func checkFaults(t *testing.T, text string, err error) {
	t.Helper()
	var fe *catalog.FaultsError
	if !errors.As(err, &fe) || len(fe.Faults) == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	lines := 2 + strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") +
		strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
	for _, fault := range fe.Faults {
		if fault.Line > lines || fault.Line < 0 || fault.Message == "" || fault.Column < 0 {
			t.Fatalf("no such place in %d lines: %v", lines, fault)
		}
	}
}

// allocated is how many bytes the process has asked for so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
