package golaunch

import (
	"go/ast"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/gen/cir"
)

// told is a kernel with a user's texts and names in all places that a launcher prints them.
func told(kernel, arg, dim, doc, layout, message string) *cir.Kernel {
	k := gemmKernel()
	k.Name, k.Doc = kernel, []string{"First.", doc, "Last."}
	k.Params[0].Name, k.Params[0].Layout = arg, layout
	s := *k.Params[3].Sym
	s.Name = dim
	k.Params = append(k.Params, &cir.Param{Class: cir.Dim, Name: dim, Sym: &s})
	k.Requires[0].Message = message
	return k
}

// holds checks that a printed launcher is what it should be, whatever the texts were.
func holds(t *testing.T, k *cir.Kernel, src []byte) {
	t.Helper()
	plain := told(k.Name, k.Params[0].Name, k.Params[len(k.Params)-1].Name, "", "", "")
	wanted, err := Print(plain, Options{})
	require.NoError(t, err)
	require.NotContains(t, string(src), "\x00")
	require.NotContains(t, string(src), "\r")
	formatted, err := format.Source(src)
	require.NoError(t, err)
	require.Equal(t, string(formatted), string(src))
	for line := range strings.Lines(string(src)) {
		require.False(t, constraint.IsGoBuild(strings.TrimSpace(line)) || constraint.IsPlusBuild(strings.TrimSpace(line)), "%q", line)
	}
	shape := func(src []byte) (decls []string, fields int) {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.ParseComments)
		require.NoError(t, err)
		require.True(t, ast.IsGenerated(f))
		require.Equal(t, PackageName(k.Name), f.Name.Name)
		names := map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				decls = append(decls, n.Name.Name)
			case *ast.TypeSpec:
				decls = append(decls, n.Name.Name)
				if n.Name.Name == "Args" {
					for _, field := range n.Type.(*ast.StructType).Fields.List {
						require.Len(t, field.Names, 1)
						require.False(t, names[field.Names[0].Name], "two fields %s", field.Names[0].Name)
						require.True(t, field.Names[0].IsExported())
						names[field.Names[0].Name] = true
					}
				}
			}
			return true
		})
		return decls, len(names)
	}
	decls, fields := shape(src)
	want, n := shape(wanted)
	require.Equal(t, want, decls)
	require.Equal(t, n, fields)
	require.Equal(t, len(k.Params), fields)
}

// texts are what must not get out of its comment or its string.
var texts = []string{
	"a NUL \x00 inside", "a return\rfunc init() { panic(1) }", "two\nlines", "not UTF-8 \xff", "a mark \ufeff inside", "*/ func init() {} /*", "//go:build ignore",
	"+build ignore", "/* open", "a line\u2028separator", "right \u202e to left", "\x1b[31m red", "` + panic(1) + `", `" + panic(1) + "`, "//line x.go:1", "\\", "%s%d%!", "",
}

// TestTextsStay: every text in every place.
func TestTextsStay(t *testing.T) {
	for _, text := range texts {
		k := told("gemm_f16", "A", "extra", text, text, text)
		holds(t, k, printed(t, k))
	}
	require.Contains(t, string(printed(t, told("gemm_f16", "A", "extra", "one\rtwo\x00three", "", ""))), "\n// one two three\n")
}

// FuzzPrint: names that are C identifiers and any texts give a launcher that is what it should be; other names are refused.
func FuzzPrint(f *testing.F) {
	for _, text := range texts {
		f.Add("gemm_f16", "A", "extra", text, text, text)
		f.Add(text, text, text, "", "", "")
	}
	for _, name := range []string{"func", "main", "_", "__", "_1", "nil", "launch", "call", "grid", "err", "len", "int64", "string", "x_test", "args", "k", "maps", "Name", "exact", "Check"} {
		f.Add(name, name, "extra", "", "", "")
		f.Add("gemm_f16", "A", name, "", "", "")
	}
	f.Fuzz(func(t *testing.T, kernel, arg, dim, doc, layout, message string) {
		k := told(kernel, arg, dim, doc, layout, message)
		src, err := Print(k, Options{})
		seen := map[string]bool{}
		right := identifier.MatchString(kernel)
		for _, q := range k.Params {
			right = right && identifier.MatchString(q.Name) && !seen[q.Name]
			seen[q.Name] = true
		}
		if !right {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		holds(t, k, src)
	})
}
