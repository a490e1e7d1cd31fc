package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const source = "domain: d\nerrors:\n  DOC_1: {code: NOT_FOUND, reason: r, title: t}\n"

// command runs the command in a fresh directory with a catalogue; DIR in args stands for it.
func command(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	var out, errs bytes.Buffer
	status = run(args, &out, &errs)
	return status, strings.ReplaceAll(out.String(), dir, "DIR"), strings.ReplaceAll(errs.String(), dir, "DIR")
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWriteAndCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "e.yaml", source)
	all := func(more ...string) []string {
		return append([]string{"-in", "DIR/e.yaml", "-pkg", "p", "-out", "DIR/e_gen.go", "-md", "DIR/e.md"}, more...)
	}
	steps := []struct {
		name           string
		before         func()
		args           []string
		status         int
		stdout, stderr string
	}{
		{"nothing there", nil, all("-check"), 1, "", "errcodegen: check file: open DIR/e_gen.go: no such file or directory\n" +
			"errcodegen: check file: open DIR/e.md: no such file or directory\n"},
		{"write", nil, all(), 0, "wrote DIR/e_gen.go\nwrote DIR/e.md\n", ""},
		{"fresh", nil, all("-check"), 0, "", ""},
		{"write again", nil, all(), 0, "", ""},
		{
			"the catalogue changed", func() { write(t, dir, "e.yaml", source+"  DOC_2: {code: NOT_FOUND, reason: s, title: t}\n") },
			all("-check"), 1, "", "errcodegen: check file: DIR/e_gen.go is stale, run errcodegen again\n" +
				"errcodegen: check file: DIR/e.md is stale, run errcodegen again\n",
		},
		{"write the change", nil, all(), 0, "wrote DIR/e_gen.go\nwrote DIR/e.md\n", ""},
		{"someone edited a file", func() { write(t, dir, "e.md", "mine") }, all("-check"), 1, "", "errcodegen: check file: DIR/e.md is stale, run errcodegen again\n"},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		status, stdout, stderr := command(t, dir, s.args...)
		if status != s.status || stdout != s.stdout || stderr != s.stderr {
			t.Errorf("%s: status %d, stdout %q, stderr %q", s.name, status, stdout, stderr)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "e.yaml", source)
	write(t, dir, "two.yaml", "errors:\n  DOC.1: {code: NOT_FOUND, reason: r, title: t}\n")
	for name, target := range map[string]string{"link.yaml": filepath.Join(dir, "e.yaml"), "linked": dir} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	write(t, dir, "bad.yaml", "domain: d\nerrors:\n  A: 1\n")
	tests := []struct {
		name, args string
		status     int
		stderr     string
	}{
		{"help", "-h", 0, "Usage of errcodegen"},
		{"no input", "-md x", 2, "errcodegen: -in is missing"},
		{"no output", "-in DIR/e.yaml", 2, "errcodegen: nothing to do"},
		{"no package", "-in DIR/e.yaml -out x", 2, "errcodegen: -out and -pkg go together"},
		{"no file", "-in DIR/e.yaml -pkg p -md x", 2, "errcodegen: -out and -pkg go together"},
		{"over the catalogue", "-in DIR/e.yaml -md DIR/./e.yaml", 2, "errcodegen: DIR/./e.yaml is used for two things"},
		{"over each other", "-in DIR/e.yaml -pkg p -out DIR/x -md DIR/x", 2, "errcodegen: DIR/x is used for two things"},
		{"check over the catalogue", "-in DIR/e.yaml -md DIR/e.yaml -check", 2, "errcodegen: DIR/e.yaml is used for two things"},
		{"over the catalogue by a link", "-in DIR/e.yaml -md DIR/link.yaml", 2, "errcodegen: DIR/link.yaml is used for two things"},
		{"over the catalogue by a directory", "-in DIR/e.yaml -md DIR/linked/e.yaml", 2, "errcodegen: DIR/linked/e.yaml is used for two things"},
		{"over each other by a directory", "-in DIR/e.yaml -pkg p -out DIR/x -md DIR/linked/x", 2, "errcodegen: DIR/linked/x is used for two things"},
		{"argument", "-in DIR/e.yaml -md x y", 2, `errcodegen: unexpected argument "y"`},
		{"flag", "-nope", 2, "flag provided but not defined: -nope"},
		{"fault", "-in DIR/bad.yaml -md DIR/x.md", 1, "DIR/bad.yaml:3:6: A: an entry must be a map, not a whole number\n"},
		{"no such catalogue", "-in DIR/none.yaml -md DIR/x.md", 1, "DIR/none.yaml: read file: open DIR/none.yaml: no such file"},
		{"same constant", "-in DIR/e.yaml,DIR/two.yaml -pkg p -out DIR/x.go", 1, "DIR/two.yaml:2:3: name constant: DOC_1 and DOC.1 both give DOC1\n"},
		{"package", "-in DIR/e.yaml -pkg a-b -out DIR/x.go", 1, "name package"},
		{"no such directory", "-in DIR/e.yaml -md DIR/none/x.md", 1, "errcodegen: write file: open DIR/none/x.md"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := command(t, dir, strings.Fields(tc.args)...)
			if status != tc.status || stdout != "" || !strings.HasPrefix(stderr, tc.stderr) {
				t.Errorf("status %d, want %d; stdout %q; stderr %q", status, tc.status, stdout, stderr)
			}
		})
	}
}

// A relative path led to the catalogue just as well.
func TestRelativePathOverTheCatalogue(t *testing.T) { //nolint:paralleltest // it changes the directory
	dir := t.TempDir()
	write(t, dir, "e.yaml", source)
	t.Chdir(dir)
	status, _, stderr := command(t, dir, "-in", "DIR/e.yaml", "-md", "e.yaml")
	if content, err := os.ReadFile(filepath.Join(dir, "e.yaml")); status != 2 || err != nil || string(content) != source {
		t.Errorf("status %d, %s, %v, %s", status, stderr, err, content)
	}
}

func TestBlanksBetweenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "e.yaml", source)
	write(t, dir, "two.yaml", "errors:\n  DOC_2: {code: NOT_FOUND, reason: r, title: t}\n")
	if status, _, stderr := command(t, dir, "-in", "DIR/e.yaml, DIR/two.yaml", "-md", "DIR/x.md"); status != 0 {
		t.Errorf("status %d, %s", status, stderr)
	}
}
