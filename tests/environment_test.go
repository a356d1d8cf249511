package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	ownVariable = regexp.MustCompile(`GOCUTE_[A-Z][A-Z_]*[A-Z]`)
	anyVariable = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
)

// notRead look like variables in files that read some.
var notRead = []string{
	"HOME", "GOFLAGS", "GOMOD", "GOWORK", "PWD", "GPU", "BROKEN",
	// Of cuBLAS: its status codes.
	"ARCH_MISMATCH", "INVALID_VALUE", "MAPPING_ERROR", "LICENSE_ERROR", "ALLOC_FAILED", "EXECUTION_FAILED", "INTERNAL_ERROR",
	"NOT_SUPPORTED", "NOT_INITIALIZED",
}

// TestEnvironmentDocument holds docs/environment.md against the source: every variable that is read is there, and no other.
func TestEnvironmentDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/environment.md")
	require.NoError(t, err)
	var listed []string
	for _, m := range regexp.MustCompile("`([A-Z][A-Z0-9_]{2,})`").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	read := variablesRead(t)
	require.Contains(t, read, "GOCUTE_NVCC")
	require.Contains(t, read, "CUDA_HOME")
	require.Contains(t, read, "NVCC_CCBIN")
	for name, file := range read {
		if !slices.Contains(listed, name) && !slices.Contains(notRead, name) {
			t.Errorf("docs/environment.md: expected a line about %s, which %s reads", name, file)
		}
	}
	for _, name := range listed {
		if _, ok := read[name]; !ok && name != "HOME" { // os.UserCacheDir's
			t.Errorf("docs/environment.md: it has %s, which nothing reads", name)
		}
	}
}

// variablesRead are the variables' names in the source, with a file: GOCUTE_ anywhere, others in files that read some.
func variablesRead(t *testing.T) map[string]string {
	t.Helper()
	read := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != ".." || d.Name() == "testdata" || path == "../tests") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		var all []string
		reads := filepath.ToSlash(path) == "../cmd/gocute/help.go"
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				reads = reads || slices.Contains([]string{"Getenv", "LookupEnv", "Environ"}, n.Sel.Name)
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					for _, own := range ownVariable.FindAllString(s, -1) {
						read[own] = path
					}
					all = append(all, s)
				}
			}
			return true
		})
		for _, s := range all {
			if reads && len(s) > 2 && anyVariable.MatchString(s) {
				read[s] = path
			}
		}
		return nil
	})
	require.NoError(t, err)
	return read
}
