// Package repo holds the checks of the repository as a whole.
package repo

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/a2aexec/a2aexec/"
	server = "github.com/a2aproject/a2a-go/v2/a2asrv"
	types  = "github.com/a2aproject/a2a-go/v2/a2a"
)

// mayImport is the one way that imports go: each package may use those that
// are listed for it, and internal ones.
var mayImport = map[string][]string{
	"errcode":                   {},
	"hitl":                      {"errcode"},
	"stream":                    {},
	"errcode/blueprint":         {"errcode", "hitl"},
	"errcode/retry":             {"errcode", "hitl"},
	"errcode/catalog":           {"errcode"},
	"flow":                      {"errcode", "hitl", "stream"},
	"agent":                     {"errcode", "hitl", "stream", "flow"},
	"agent/remote":              {"errcode", "errcode/retry", "hitl", "stream", "flow", "agent"},
	"agent/tool":                {"errcode", "errcode/retry", "hitl", "stream", "agent"},
	"executor":                  {"errcode", "errcode/retry", "hitl", "stream", "flow", "agent"}, // retry: push notifications
	"executor/executortest":     {"errcode", "hitl", "stream", "flow", "agent", "executor"},
	"agent/tool/openaimodel":    {"errcode", "agent/tool"},
	"agent/tool/anthropicmodel": {"errcode", "agent/tool"},
	"executor/storetest":        {},
	"executor/sqlstore":         {"errcode", "flow", "executor"}, // executor: LeaseStore
}

// convertsA2A are the files outside of executor that may name the protocol's
// types.
var convertsA2A = []string{
	"errcode/parts.go", "errcode/rows_protocol.go",
	"agent/bridge.go", "agent/request.go",
	"agent/remote/bridge.go", "agent/remote/wire.go", // what is said, and by which way
}

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	for path, imports := range sources(t) {
		pkg := filepath.ToSlash(filepath.Dir(path))
		allowed, ruled := mayImport[pkg]
		for _, imp := range imports {
			if own, ok := strings.CutPrefix(imp, module); ok && ruled && !strings.HasPrefix(own, "internal/") && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, which is not below it", path, own)
			}
			inExecutor := strings.HasPrefix(pkg, "executor")
			if strings.HasPrefix(imp, server) && !inExecutor && ruled {
				t.Errorf("%s imports the host's server package; only executor may", path)
			}
			if imp == types && !inExecutor && ruled && !slices.Contains(convertsA2A, filepath.ToSlash(path)) {
				t.Errorf("%s names the protocol's types; that is for the package's bridge", path)
			}
		}
	}
}

// sources gives the imports of every non-test Go file, by its path.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out[rel] = nil
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			out[rel] = append(out[rel], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d files found", len(out))
	}
	return out
}

// TestReadmeShowsTheQuickstart: what the README shows is what compiles.
func TestReadmeShowsTheQuickstart(t *testing.T) {
	t.Parallel()
	readme, program := read(t, "README.md"), read(t, "examples/quickstart/main.go")
	_, program, _ = strings.Cut(program, "package main")
	if !strings.Contains(readme, "```go\npackage main"+program+"```") {
		t.Error("README.md does not show examples/quickstart/main.go as it is")
	}
}

// TestReadmeTestSnippet: the README's snippet is the body of a compiled test.
func TestReadmeTestSnippet(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(read(t, "README.md"), "## Testing an agent\n\n```go\n")
	snippet, _, _ := strings.Cut(rest, "```")
	indented := "\t" + strings.ReplaceAll(strings.TrimSpace(snippet), "\n", "\n\t")
	if snippet == "" || !strings.Contains(read(t, "examples/quickstart/main_test.go"), indented) {
		t.Error("README.md's snippet is not in examples/quickstart/main_test.go")
	}
}

func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	if !strings.Contains(readme, "```\ngo run ./examples/tour\ngo test ./...\n```") {
		t.Error("README.md does not give the two commands")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
