package golaunch

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

func printed(t *testing.T, k *cir.Kernel) []byte {
	t.Helper()
	src, err := Print(k, Options{})
	require.NoError(t, err)
	return src
}

func TestGolden(t *testing.T) {
	for _, k := range []*cir.Kernel{copyKernel(), gemmKernel(), tensorKernel(), oddKernel()} {
		t.Run(k.Name, func(t *testing.T) {
			got := printed(t, k)
			file := filepath.Join("testdata", FileName(k.Name)+".golden")
			if os.Getenv("UPDATE") == "1" {
				require.NoError(t, os.MkdirAll("testdata", 0o777))
				require.NoError(t, os.WriteFile(file, got, 0o666))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "UPDATE=1 writes it")
			require.Equal(t, string(want), string(got), "UPDATE=1 rewrites %s", file)
		})
	}
}

func TestPrintedFile(t *testing.T) {
	for _, k := range []*cir.Kernel{copyKernel(), gemmKernel(), tensorKernel(), oddKernel()} {
		src := printed(t, k)
		for range 5 {
			require.Equal(t, src, printed(t, k), "the same kernel gives the same bytes")
		}
		formatted, err := format.Source(src)
		require.NoError(t, err)
		require.Equal(t, string(formatted), string(src), "gofmt")
		first, _, _ := bytes.Cut(src, []byte("\n"))
		require.Regexp(t, regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`), string(first))
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.ParseComments)
		require.NoError(t, err)
		require.True(t, ast.IsGenerated(f))
		require.Contains(t, f.Doc.Text(), "launches the CUDA kernel "+k.Name)
		require.NotContains(t, f.Doc.Text(), "Code generated")
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ kernel, pkg, file string }{
		{"gemm_f16", "gemm_f16", "gemm_f16.go"},
		{"Gemm", "gemm", "gemm.go"},
		{"func", "func_kernel", "func_kernel.go"},
		{"main", "main_kernel", "main_kernel.go"},
		{"internal", "internal_kernel", "internal_kernel.go"},
		{"init", "init_kernel", "init_kernel.go"},
		{"_x", "kernel_x", "kernel_x.go"},
		{"x_test", "x_test_kernel", "x_test_kernel.go"},
		{"gemm_arm", "gemm_arm", "gemm_arm_launch.go"},
		{"gemm_linux_amd64", "gemm_linux_amd64", "gemm_linux_amd64_launch.go"},
		{"linux", "linux", "linux.go"},
	} {
		require.Equal(t, c.pkg, PackageName(c.kernel))
		require.Equal(t, c.file, FileName(c.kernel))
	}
	src, err := Print(copyKernel(), Options{Package: "other"})
	require.NoError(t, err)
	require.Contains(t, string(src), "\npackage other\n")
	_, err = Print(copyKernel(), Options{Package: "no name"})
	require.ErrorContains(t, err, `"no name" is not a package name`)
}

// A kernel that lowering should not have made is refused, never printed wrong.
func TestRefusals(t *testing.T) {
	thread := sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: 31})
	for name, c := range map[string]struct {
		break_ func(k *cir.Kernel)
		want   string
	}{
		"name":      {func(k *cir.Kernel) { k.Name = "a-b" }, `"a-b" is not a C identifier`},
		"threads":   {func(k *cir.Kernel) { k.Threads = 0 }, "Threads is 0"},
		"shared":    {func(k *cir.Kernel) { k.SmemBytes = -1 }, "SmemBytes is -1"},
		"grid":      {func(k *cir.Kernel) { k.Grid[1] = thread }, "the grid's extent y is tid, but tid is not a Dim parameter"},
		"count":     {func(k *cir.Kernel) { k.Params[0].Mem.Count = thread }, "the number of elements of A is tid"},
		"require":   {func(k *cir.Kernel) { k.Requires[0].Cond = cir.Cmp{X: thread} }, `the requirement "ldc must be at least N" is tid`},
		"never":     {func(k *cir.Kernel) { k.Requires[0].Cond = cir.Cmp{Op: cir.NE} }, `"ldc must be at least N" never holds`},
		"twice":     {func(k *cir.Kernel) { k.Params[1].Name = "A" }, `names of their own, but got "A"`},
		"mem":       {func(k *cir.Kernel) { k.Params[0].Mem = nil }, "parameter A: a Pointer without Mem"},
		"symbol":    {func(k *cir.Kernel) { k.Params[3].Sym = nil }, "parameter M: a Dim without a Param symbol"},
		"bounds":    {func(k *cir.Kernel) { k.Params[3].Sym = &sym.Symbol{Name: "M", Lo: 2, Hi: 1} }, "no int is within its bounds 2 to 1"},
		"elem":      {func(k *cir.Kernel) { k.Params[7].Elem = elem.KU128 }, "scalars of u128 have no Go type"},
		"no elem":   {func(k *cir.Kernel) { k.Params[0].Elem = elem.Invalid }, "buffers of invalid have no Go type"},
		"class":     {func(k *cir.Kernel) { k.Params[0].Class = 9 }, "unknown class 9"},
		"condition": {func(k *cir.Kernel) { k.Requires[0].Cond = struct{ cir.Cond }{} }, "has no Go form"},
	} {
		t.Run(name, func(t *testing.T) {
			k := gemmKernel()
			c.break_(k)
			_, err := Print(k, Options{})
			require.ErrorContains(t, err, "internal error: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}

// So are maps that lowering should not have made.
func TestMapRefusals(t *testing.T) {
	for want, break_ := range map[string]func(k *cir.Kernel){
		"expected tensor maps that have names":                 func(k *cir.Kernel) { k.Maps[0].Of = copyKernel().Params[0] },
		"arguments with names of their own, but got \"A\"":     func(k *cir.Kernel) { k.Maps[0].Name = "A" },
		"tensor map A_map: a tensor map has 1 to 5 dimensions": func(k *cir.Kernel) { k.Maps[0].Box = nil },
		"an extent of B_map is tid, but tid is not a Dim parameter": func(k *cir.Kernel) {
			k.Maps[1].Extents[0] = sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: 31})
		},
	} {
		k := tensorKernel()
		break_(k)
		_, err := Print(k, Options{})
		require.ErrorContains(t, err, "internal error: ")
		require.ErrorContains(t, err, want)
	}
}
