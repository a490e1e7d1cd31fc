// Command errcodegen turns an error catalogue into Go constants and a Markdown table.
//
// Usage:
//
//	errcodegen -in errors.yaml[,more.yaml] [-pkg name -out errors_gen.go] [-md errors.md] [-check]
//
// Several files are one catalogue. With -check nothing is written; the exit status is 1 if a file
// is not what would be written, which is for CI. Faults of the catalogue are listed with file and
// line, and give 1, too; 2 means that the command was misused.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2aexec/a2aexec/errcode/catalog"
	"github.com/a2aexec/a2aexec/errcode/catalog/internal/gen"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags.
type settings struct {
	in, pkg, out, md string
	check            bool
}

// run is the command; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		report(stderr, "errcodegen: %v\n", err)
		return 2
	}
	files, err := generate(s)
	if err != nil {
		report(stderr, "%v\n", err)
		return 1
	}
	status := 0
	for _, f := range files {
		if err := f.settle(s.check, stdout); err != nil {
			report(stderr, "errcodegen: %v\n", err)
			status = 1
		}
	}
	return status
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("errcodegen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.in, "in", "", "catalogue `files`, separated by commas")
	f.StringVar(&s.pkg, "pkg", "", "name of the Go package")
	f.StringVar(&s.out, "out", "", "Go `file` to write")
	f.StringVar(&s.md, "md", "", "Markdown `file` to write")
	f.BoolVar(&s.check, "check", false, "write nothing, fail if a file is stale")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case s.in == "":
		return s, errors.New("-in is missing")
	case s.out == "" && s.md == "":
		return s, errors.New("nothing to do: give -out, -md or both")
	case (s.out == "") != (s.pkg == ""):
		return s, errors.New("-out and -pkg go together")
	}
	return s, s.apart()
}

// names are the catalogue files.
func (s settings) names() []string {
	var names []string
	for name := range strings.SplitSeq(s.in, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// apart makes sure that no file is written over another, least of all over the catalogue, however
// its path is spelled.
func (s settings) apart() error {
	taken := s.names()
	for _, out := range []string{s.out, s.md} {
		if out == "" {
			continue
		}
		for _, other := range taken {
			if sameFile(out, other) {
				return fmt.Errorf("%s is used for two things", out)
			}
		}
		taken = append(taken, out)
	}
	return nil
}

// sameFile reports whether two paths lead to one file, which need not exist.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return resolved(a) == resolved(b)
}

// resolved is the absolute path without links, as far as it exists.
func resolved(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return filepath.Clean(name)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}
	return abs
}

// file is one that should be there, with its content.
type file struct {
	name string
	want []byte
}

// generate makes the files.
func generate(s settings) ([]file, error) {
	names := s.names()
	c, err := catalog.Load(disk{}, names...)
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		names[i] = filepath.Base(n)
	}
	source := strings.Join(names, ", ")
	var files []file
	if s.out != "" {
		content, err := gen.Go(c, s.pkg, source)
		if err != nil {
			return nil, err
		}
		files = append(files, file{s.out, content})
	}
	if s.md != "" {
		content, err := gen.Markdown(c, source)
		if err != nil {
			return nil, err
		}
		files = append(files, file{s.md, content})
	}
	return files, nil
}

// settle writes the file unless it is what it should be; if it may only check, that is an error.
func (f file) settle(check bool, stdout io.Writer) error {
	have, err := os.ReadFile(f.name)
	if err == nil && bytes.Equal(have, f.want) {
		return nil
	}
	if check {
		if err != nil {
			return fmt.Errorf("check file: %w", err)
		}
		return fmt.Errorf("check file: %s is stale, run errcodegen again", f.name)
	}
	if err := os.WriteFile(f.name, f.want, 0o644); err != nil { //nolint:gosec // sources are for all to read
		return fmt.Errorf("write file: %w", err)
	}
	report(stdout, "wrote %s\n", f.name)
	return nil
}

// report writes to the terminal; there is nobody to tell if that fails.
func report(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// disk opens any path, where os.DirFS would refuse those that lead out of it.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }
