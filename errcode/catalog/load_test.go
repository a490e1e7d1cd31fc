package catalog_test

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode/catalog"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestLoadSeveralFiles(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"a.yaml":     file("domain: d\nlanguage: ko\nerrors:\n  B: {code: NOT_FOUND, reason: r, title: 없음}\n"),
		"sub/b.json": file(`{"domain": "d", "errors": {"A": {"code": "RATE_LIMITED", "reason": "q", "title": {"en": "x", "ko": "y"}}}}`),
	}
	c, err := catalog.Load(fsys, "a.yaml", "sub/b.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]catalog.Key{"B", "A"}, c.Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ko", "en"}, c.Languages()); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	if got := c.Error("A").Message(); got != "y" {
		t.Errorf("message %q", got)
	}
}

func TestLoadReportsAllFiles(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"a.yaml": file("domain: d\nlanguage: ko\nerrors:\n  B: {code: X, reason: r, title: 없음}\n"),
		"b.yaml": file("domain: e\nlanguage: en\nerrors:\n  B: {" + good + "}\n"),
		"c.toml": file(""),
	}
	_, err := catalog.Load(fsys, "b.yaml", "none.yaml", "c.toml", "a.yaml")
	got := faults(t, err)
	want := []string{
		"none.yaml: read file: open none.yaml: file does not exist",
		"c.toml: unknown format, want a name that ends in .json, .yaml or .yml",
		`a.yaml:1:9: domain "d" is another than "e" at b.yaml:1:9`,
		`a.yaml:2:11: language "ko" is another than "en" at b.yaml:2:11`,
		`a.yaml:4:3: B: duplicate key, first at b.yaml:4:3`,
		`a.yaml:4:13: B: unknown code "X", want one of INVALID_INPUT, AUTH_REQUIRED, NOT_FOUND, ` +
			"UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, RATE_LIMITED, GUARDRAIL_BLOCKED, INTERNAL_ERROR",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if _, err := catalog.Load(fsys); err == nil {
		t.Error("no files, no error")
	}
}

// endless is a file that claims a size and never ends.
type endless struct {
	size int64
	read *int64
}

func (e endless) Open(string) (fs.File, error) { return e, nil }
func (e endless) Stat() (fs.FileInfo, error)   { return e, nil }
func (e endless) Close() error                 { return nil }
func (e endless) Name() string                 { return "big.yaml" }
func (e endless) Size() int64                  { return e.size }
func (e endless) Mode() fs.FileMode            { return 0o444 }
func (e endless) ModTime() (t time.Time)       { return t }
func (e endless) IsDir() bool                  { return false }
func (e endless) Sys() any                     { return nil }
func (e endless) Read(p []byte) (n int, err error) {
	*e.read += int64(len(p))
	return len(p), nil
}

var _ io.Reader = endless{}

func TestLoadRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		size, most int64
	}{
		{"honest", 100 << 20, 0},
		{"lying", 10, 4 * catalog.MaxFile},
	} {
		var read int64
		_, err := catalog.Load(endless{tc.size, &read}, "big.yaml")
		if err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s: error %v", tc.name, err)
		}
		if read > tc.most {
			t.Errorf("%s: %d bytes read, want at most %d", tc.name, read, tc.most)
		}
	}
	if _, err := catalog.Parse("x.yaml", make([]byte, catalog.MaxFile+1)); err == nil {
		t.Error("Parse takes a file that is too large")
	}
}

// TestAliasBomb: nine lines that would be a billion strings.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	bomb := "domain: d\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	_, err := catalog.Parse("bomb.yaml", []byte(bomb))
	if got := faults(t, err); !slices.Contains(got, "bomb.yaml:10:32: aliases are not allowed") || len(got) > 100 {
		t.Errorf("faults %q", got)
	}
}
