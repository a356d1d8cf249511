package tests

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
	"github.com/gocute/gocute/kernels"
)

// TestLibraryIsWhole compares kernels.Library with what gocute finds: exported functions without arguments that return a kernel.
func TestLibraryIsWhole(t *testing.T) {
	paths, err := filepath.Glob("../kernels/*.go")
	require.NoError(t, err)
	want := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() && fn.Recv == nil && fn.Type.Params.NumFields() == 0 && fn.Type.Results.NumFields() == 1 {
				if p, ok := fn.Type.Results.List[0].Type.(*ast.StarExpr); ok && p.X.(*ast.Ident).Name == "Kernel" {
					want++
				}
			}
		}
	}
	names := map[string]bool{}
	for _, k := range kernels.Library() {
		names[k.Name()] = true
	}
	require.Len(t, names, want, "kernels.Library and the package's kernel functions")
}

// generateAll makes every file of every kernel, in the given order.
func generateAll(t *testing.T, list []*dsl.Kernel) map[string][]byte {
	files := map[string][]byte{}
	for _, k := range list {
		o, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		for f, data := range o.Files {
			files[filepath.Join(o.Package, f)] = data
		}
	}
	return files
}

// TestIncludes holds what is emitted to one header, of the language: CUDA's own take longer to compile than most kernels.
func TestIncludes(t *testing.T) {
	files := generateAll(t, kernels.Library())
	headers, err := gen.AtomHeaders()
	require.NoError(t, err)
	maps.Copy(files, headers)
	for f, data := range files {
		if ext := filepath.Ext(f); ext != ".cu" && ext != ".cuh" {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "#include") {
				require.Equal(t, "#include <cstdint>\n", line, f)
			}
		}
	}
}

// TestOutIsCurrent fails where out/ is not what the code generates, or holds what nothing generates.
func TestOutIsCurrent(t *testing.T) {
	want := generateAll(t, kernels.Library())
	for f, data := range want {
		got, err := os.ReadFile(filepath.Join("../out", f))
		require.NoError(t, err, "run make generate")
		require.True(t, bytes.Equal(got, data), "out/%s is stale: run make generate", f)
	}
	err := filepath.WalkDir("../out", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel("../out", path)
		if ext := filepath.Ext(path); ext == ".cubin" || ext == ".ptx" || strings.HasPrefix(rel, "include") {
			return err
		}
		require.Contains(t, want, rel, "out/%s belongs to no kernel", rel)
		return err
	})
	require.NoError(t, err)
}

func TestGeneratedTwiceInAnyOrder(t *testing.T) {
	first := generateAll(t, kernels.Library())
	list := kernels.Library()
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	require.Equal(t, first, generateAll(t, list))
	for f, data := range first {
		require.NotContains(t, string(data), "/work", f)
		require.NotRegexp(t, `\.go:\d`, string(data), f)
	}
}

// tools returns nvcc, or skips where it must not be installed.
func tools(t *testing.T) *build.Toolchain {
	tc, err := build.Find(context.Background(), build.Options{NoInstall: os.Getenv("GOCUTE_NO_INSTALL") != ""})
	if err != nil && os.Getenv("GOCUTE_NO_INSTALL") != "" {
		t.Skip("GOCUTE_NO_INSTALL is set: ", err)
	}
	require.NoError(t, err)
	return tc
}

// TestEveryKernelCompiles compiles each file alone for all its architectures: no spills, no stack, no local memory.
func TestEveryKernelCompiles(t *testing.T) {
	tc := tools(t)
	for _, k := range kernels.Library() {
		o, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		archs, ptx := build.ArchsOf(o.Kernel.Arch, o.Kernel.Exactly)
		res, err := tc.Compile(context.Background(), build.Source{Name: o.Name, Code: o.CUDA, Archs: archs, PTXArchs: []string{ptx}})
		require.NoError(t, err)
		require.Len(t, res.Binaries, len(archs))
		for _, b := range res.Binaries {
			require.Empty(t, b.Report.Warnings, "%s for %s", o.Name, b.Arch)
			r, ok := b.Report.Kernel(o.Name)
			require.True(t, ok, "%s for %s: no report", o.Name, b.Arch)
			require.False(t, r.Spills(), "%s for %s spills", o.Name, b.Arch)
			require.Zero(t, r.StackFrame, "%s for %s has a stack", o.Name, b.Arch)
		}
		require.False(t, build.UsesLocal(res.PTX[0].Code), "%s uses local memory", o.Name)
	}
}

// TestDocumentedInstructions looks for what the documents say their kernels become.
func TestDocumentedInstructions(t *testing.T) {
	tc := tools(t)
	type count struct {
		what string
		got  func(ptx []byte) int
		want int
	}
	moves := func(op string) func([]byte) int {
		return func(ptx []byte) int { return build.CountMoves(ptx, op, "global", 16) }
	}
	all := func(op string) func([]byte) int {
		return func(ptx []byte) int { return build.CountMoves(ptx, op, "global", 0) }
	}
	instr := func(prefix string) func([]byte) int {
		return func(ptx []byte) int { return build.CountPTX(ptx, prefix) }
	}
	for _, c := range []struct {
		kernel *dsl.Kernel
		counts []count
	}{
		{kernels.Copy4x32(), []count{{"16-byte loads", moves("ld"), 1}, {"16-byte stores", moves("st"), 1}, {"loads", all("ld"), 1}, {"stores", all("st"), 1}}},
		{kernels.Copy8x128(), []count{{"16-byte loads", moves("ld"), 8}, {"16-byte stores", moves("st"), 8}, {"loads", all("ld"), 8}, {"stores", all("st"), 8}}},
		{kernels.Copy4x64(), []count{{"16-byte loads", moves("ld"), 2}, {"16-byte stores", moves("st"), 2}}},
		{kernels.LdmatrixBroadcast(), []count{{"ldmatrix.x2", instr("ldmatrix.sync.aligned.x2.m8n8.shared.b16"), 2}}},
		{kernels.LdmatrixBGather(), []count{{"ldmatrix.x4", instr("ldmatrix.sync.aligned.x4.m8n8.shared.b16"), 4}}},
		{kernels.MMATile(), []count{{"mma.sync.m16n8k16", instr("mma.sync.aligned.m16n8k16"), 1}}},
	} {
		o, err := gen.Generate(c.kernel, gen.Options{})
		require.NoError(t, err)
		res, err := tc.Compile(context.Background(), build.Source{Name: o.Name, Code: o.CUDA})
		require.NoError(t, err)
		for _, x := range c.counts {
			require.Equal(t, x.want, x.got(res.PTX[0].Code), "%s in %s", x.what, o.Name)
		}
	}
}

// TestHeaderMode compiles every kernel against the headers, from a folder of its own.
func TestHeaderMode(t *testing.T) {
	tc := tools(t)
	dir := t.TempDir()
	var ops []*cir.Op
	seen := map[string]bool{}
	for _, k := range kernels.Library() {
		c, err := gen.Lower(k)
		require.NoError(t, err)
		for _, op := range cir.Ops(c) {
			if !seen[op.Name] {
				seen[op.Name] = true
				ops = append(ops, op)
			}
		}
	}
	headers, err := cuda.Headers(ops)
	require.NoError(t, err)
	for f, data := range headers {
		require.NoError(t, gen.WriteFile(filepath.Join(dir, f), data))
	}
	for _, k := range kernels.Library() {
		o, err := gen.Generate(k, gen.Options{Header: true})
		require.NoError(t, err)
		whole, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		helped := strings.Contains(string(whole.CUDA), "namespace gocute") // not all kernels need helpers
		require.Equal(t, helped, strings.Contains(string(o.CUDA), "#include <gocute/"), o.Name)
		archs, _ := build.ArchsOf(o.Kernel.Arch, o.Kernel.Exactly)
		_, err = tc.Compile(context.Background(), build.Source{Name: o.Name, Code: o.CUDA, IncludeDirs: []string{dir}, Archs: archs[:1]})
		require.NoError(t, err)
	}
}
