package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// imported are the packages that the snippets import, with their types.
type imported map[string]*types.Package

func (i imported) Import(path string) (*types.Package, error) { return i[path], nil }

// TestDoesNotCompile: mistakes that Go's type checker must find, at the lines that say so and nowhere else.
func TestDoesNotCompile(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile},
		module+"dsl", module+"atoms", module+"elem")
	require.NoError(t, err)
	known := imported{}
	for _, p := range loaded {
		require.Empty(t, p.Errors)
		known[p.PkgPath] = p.Types
	}
	files, err := filepath.Glob(filepath.Join("testdata", "compile", "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		want := wantedErrors(t, file)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		require.NoError(t, err)
		seen := map[int]bool{}
		conf := types.Config{Importer: known, Error: func(err error) {
			e := err.(types.Error)
			line := fset.Position(e.Pos).Line
			if !seen[line] { // one mistake may be told in two ways
				seen[line] = true
				want.match(t, file, line, e.Msg)
			}
		}}
		_, _ = conf.Check("compile", fset, []*ast.File{f}, nil) // its errors went to Error
		want.rest(t, file)
	}
}
