// Package tests holds the tests of the whole: laws against golden values, the import table, stale output.
package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/gocute/gocute/"

// importTable says which of our packages each may import outside its tests: the pipeline goes one way, and no layout
// passes the C IR. Longer prefixes win.
var importTable = map[string][]string{
	"algebra/sym":        {},
	"algebra":            {"algebra/sym"},
	"elem":               {},
	"atoms":              {"algebra", "elem"},
	"gen/cir":            {"algebra/sym", "elem"},
	"dsl/ir":             {"algebra", "algebra/sym", "elem", "atoms", "gen/cir"},
	"dsl":                {"algebra", "algebra/sym", "elem", "atoms", "gen/cir", "dsl/ir", "internal/text"},
	"show":               {"algebra", "algebra/sym", "elem", "atoms", "dsl/ir", "internal/text"},
	"gen/lower":          {"algebra", "algebra/sym", "elem", "atoms", "gen/cir", "dsl/ir", "internal/text"},
	"templates":          {},
	"gen/cuda":           {"algebra/sym", "elem", "gen/cir", "templates", "internal/text"},
	"gen/golaunch":       {"algebra/sym", "elem", "gen/cir", "templates", "internal/text"},
	"gen":                {"dsl", "gen/cir", "gen/lower", "gen/cuda", "gen/golaunch"},
	"emu":                {"algebra/sym", "elem", "gen/cir", "internal/text"},
	"emu/machine":        {},
	"emu/ptxemu":         {"elem", "emu/machine", "ptx", "ptx/alu"},
	"build":              {"internal/dl", "internal/proc", "internal/scratch", "internal/text", "ptx", "templates"},
	"ptx":                {},
	"ptx/alu":            {"elem", "ptx"},
	"internal/dl":        {},
	"internal/text":      {},
	"internal/fakecubin": {},
	// Every child process is started by internal/proc, in a folder of internal/scratch.
	"internal/scratch":        {},
	"internal/proc":           {"internal/scratch"},
	"algebra/internal/mutate": {"internal/proc"},
	"cuda":                    {"elem", "internal/dl"},
	"cuda/launch":             {"cuda", "elem", "build", "internal/text"},
	"cuda/cublas":             {"cuda", "internal/dl", "elem"},
	"cuda/tuned":              {"cuda"},
	"check":                   {"dsl", "algebra", "algebra/sym", "elem", "gen", "gen/cir", "gen/cuda", "emu", "emu/ptxemu", "ptx", "build", "cuda", "cuda/launch", "internal/text"},
	"tune":                    {"dsl", "dsl/ir", "algebra/sym", "elem", "gen", "gen/cir", "gen/cuda", "build", "cuda", "cuda/launch", "cuda/tuned", "check", "internal/text"},
	"kernels":                 {"dsl", "atoms", "algebra", "elem"},
	"cmd":                     {"*"},
	"out":                     {"cuda", "cuda/launch", "elem"},
	"tests":                   {"*"},
	"examples":                {"dsl", "atoms", "algebra", "elem"},
}

// rule finds the table's entry for a package.
func rule(pkg string) (string, []string) {
	best := ""
	for p := range importTable {
		if (pkg == p || strings.HasPrefix(pkg, p+"/")) && len(p) > len(best) {
			best = p
		}
	}
	return best, importTable[best]
}

// TestChildProcesses holds that internal/proc alone starts child processes and looks programs up: what it does about
// untrusted folders and about children that outlive their parent cannot be forgotten then.
func TestChildProcesses(t *testing.T) {
	banned := map[string][]string{
		"os/exec": {"Command", "CommandContext", "LookPath"},
		"os":      {"StartProcess"},
		"syscall": {"Exec", "ForkExec", "StartProcess"},
	}
	found := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bundle") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains(banned[p], s.Sel.Name) {
					return true
				}
				if x, ok := s.X.(*ast.Ident); !ok || x.Name != p[strings.LastIndex(p, "/")+1:] {
					return true
				}
				found++
				if !strings.HasPrefix(filepath.ToSlash(path), "../internal/proc/") {
					t.Errorf("%s uses %s.%s: only internal/proc may", path, p, s.Sel.Name)
				}
				return true
			})
		}
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, found, "the search found not even those of internal/proc")
}

func TestImportTable(t *testing.T) {
	root := ".."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "bundle") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		name, allowed := rule(pkg)
		require.NotEmpty(t, name, "%s is not in the import table", pkg)
		seen[name] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			ours, ok := strings.CutPrefix(p, module)
			if !ok || slices.Contains(allowed, "*") {
				continue
			}
			target, _ := rule(ours)
			if target != name && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s, which the table does not allow for %s", path, p, name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for p := range importTable {
		require.True(t, seen[p], "the table names %s, which has no Go files", p)
	}
}
