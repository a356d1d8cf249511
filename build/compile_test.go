package build

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func fakeToolchain(t *testing.T) (*machine, *Toolchain) {
	t.Helper()
	m := newMachine(t)
	m.nvcc(filepath.Join(m.bin, "nvcc"), "13.0.88")
	tc, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	return m, tc
}

func compile(t *testing.T, tc Compiler, src Source) *Result {
	t.Helper()
	res, err := tc.Compile(t.Context(), src)
	require.NoError(t, err)
	return res
}

func TestCompileSteps(t *testing.T) {
	m, tc := fakeToolchain(t)
	src := Source{Name: "k", Code: []byte("// note\nbody\n"), Archs: []string{"sm_90", "sm_80"}, PTXArchs: []string{"compute_80"}}
	res := compile(t, tc, src)
	require.False(t, res.Hit())
	require.Positive(t, res.Seconds())
	require.Equal(t, 4, m.calls("nvcc"), "two front ends, two ptxas: PTX and cubin of sm_80 share one front end")
	require.Len(t, res.Binaries, 2)
	require.Equal(t, "sm_90", res.Binaries[0].Arch, "in the order asked for")
	require.Equal(t, "sm_80", res.Binaries[1].Arch)
	require.NoError(t, CheckCubin(res.Binaries[1].Cubin, "sm_80", "k"))
	require.Contains(t, string(res.Binaries[1].Cubin), "\nbody\n")
	require.Equal(t, 7, res.Binaries[1].Report.Kernels[0].Registers)
	ptx, ok := res.PTXFor("sm_90")
	require.True(t, ok)
	require.Equal(t, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nbody\nret;\n}\n", string(ptx))
	_, ok = res.Binary("sm_90a")
	require.False(t, ok)
}

// Emitted code asks for C++14; who needs more says so, and nvcc is then not told twice, which it warns of.
func TestCompileStandard(t *testing.T) {
	require.Contains(t, (&job{src: &Source{Flags: []string{"-DX"}}}).frontArgs(), "-std=c++14")
	for _, f := range []string{"-std=c++17", "--std=c++20"} {
		args := (&job{src: &Source{Flags: []string{f}}}).frontArgs()
		require.Contains(t, args, f)
		require.NotContains(t, args, "-std=c++14")
	}
}

func TestCompileCache(t *testing.T) {
	m, tc := fakeToolchain(t)
	inc := t.TempDir()
	m.write(filepath.Join(inc, "sub/a.h"), "1")
	src := Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}, IncludeDirs: []string{inc}}
	first := compile(t, tc, src)
	second := compile(t, tc, src)
	require.False(t, first.Hit())
	require.True(t, second.Hit())
	require.Equal(t, 2, m.calls("nvcc"))
	require.Equal(t, first.Seconds(), second.Seconds(), "a hit tells the time of the real compile")
	require.Equal(t, first.Binaries[0].Cubin, second.Binaries[0].Cubin)
	require.Equal(t, first.Binaries[0].Report, second.Binaries[0].Report)

	misses := func(what string, change func(s *Source), calls int) {
		t.Helper()
		s, before := src, m.calls("nvcc")
		change(&s)
		require.Falsef(t, compile(t, tc, s).Hit(), "after a change of %s", what)
		require.Equal(t, calls, m.calls("nvcc")-before, "steps run after a change of "+what)
	}
	misses("a comment", func(s *Source) { s.Code = []byte("// new\nbody\n") }, 1)
	misses("the code", func(s *Source) { s.Code = []byte("other\n") }, 2)
	misses("the flags", func(s *Source) { s.Flags = []string{"-DX"} }, 2)
	misses("the name", func(s *Source) { s.Name = "k2" }, 2)
	misses("lineinfo", func(s *Source) { s.LineInfo = true }, 2)
	misses("NoCache", func(s *Source) { s.NoCache = true }, 2)
	misses("a header", func(*Source) { m.write(filepath.Join(inc, "sub/a.h"), "2") }, 1)

	moved := src
	moved.IncludeDirs = []string{filepath.Join(t.TempDir(), "elsewhere")}
	m.write(filepath.Join(moved.IncludeDirs[0], "sub/a.h"), "2")
	require.True(t, compile(t, tc, moved).Hit(), "where a header lies does not matter")

	m.nvcc(filepath.Join(m.bin, "nvcc"), "13.0.99")
	newer, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	require.False(t, compile(t, newer, src).Hit(), "another nvcc")
}

func TestCompileDamagedCache(t *testing.T) {
	m, tc := fakeToolchain(t)
	src := Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}}
	want := compile(t, tc, src)
	damage := []func([]byte) []byte{
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		func(b []byte) []byte { return append([]byte("{}"), b...) },
	}
	for i, f := range damage {
		files, err := filepath.Glob(filepath.Join(m.cache, "objects/*/*"))
		require.NoError(t, err)
		require.Len(t, files, 2)
		for _, path := range files {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, f(data), 0o666))
		}
		got := compile(t, tc, src)
		require.Falsef(t, got.Hit(), "damage %d", i)
		require.Equal(t, want.Binaries[0].Cubin, got.Binaries[0].Cubin)
		require.True(t, compile(t, tc, src).Hit(), "the damaged entry was replaced")
	}
}

func TestCompileUnwritableCache(t *testing.T) {
	m, tc := fakeToolchain(t)
	m.write(filepath.Join(m.cache, "objects"), "a file where the folder would be")
	res := compile(t, tc, Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}})
	require.Len(t, res.Warnings, 1, "one warning, not one each step")
	require.Contains(t, res.Warnings[0], "the cache could not be written")
}

func TestCompileError(t *testing.T) {
	m, tc := fakeToolchain(t)
	_, err := tc.Compile(t.Context(), Source{Name: "gemm", Code: []byte("REFUSE\n")})
	var ce *CompileError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, "gemm", ce.Kernel)
	require.Equal(t, "gemm.cu(1): error: refused\n", ce.Output, "no temporary path")
	require.ErrorContains(t, err, "nvcc failed on kernel gemm for compute_80 (exit status 2):\n    gemm.cu(1): error: refused")
	files, _ := filepath.Glob(filepath.Join(m.cache, "objects/*/*"))
	require.Empty(t, files, "failures are not cached")
}

func TestCompileCancelled(t *testing.T) {
	_, tc := fakeToolchain(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := tc.Compile(ctx, Source{Name: "k", Code: []byte("SLOW\n")})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 3*time.Second)
}

func TestCompileRefusesBadSources(t *testing.T) {
	_, tc := fakeToolchain(t)
	code := []byte("body")
	for _, c := range []struct {
		src  Source
		want string
	}{
		{Source{Name: "../k", Code: code}, `but got "../k"`},
		{Source{Name: "-k", Code: code}, `but got "-k"`},
		{Source{Name: "k"}, "expected source text"},
		{Source{Name: "k", Code: code, Archs: []string{"90"}}, `expected a chip such as sm_90, but got "90"`},
		{Source{Name: "k", Code: code, PTXArchs: []string{"sm_80"}}, `expected a chip such as compute_90, but got "sm_80"`},
		{Source{Name: "k", Code: code, Archs: []string{"sm_80", "sm_80"}}, "sm_80 twice"},
		{Source{Name: "k", Code: code, Archs: []string{}}, "neither Archs nor PTXArchs"},
		{Source{Name: "k", Code: code, IncludeDirs: []string{"absent"}}, "include folder absent"},
	} {
		_, err := tc.Compile(t.Context(), c.src)
		require.ErrorContains(t, err, c.want)
	}
}

func TestCompileErrorHints(t *testing.T) {
	err := &CompileError{Compiler: NameNVCC, Kernel: "k", Arch: "compute_80", Output: "gcc: No such file\nnvcc fatal : Failed to preprocess host compiler properties."}
	require.Contains(t, err.Error(), "install g++")
	silent := &CompileError{Kernel: "k", Arch: "sm_80", Args: []string{"-O3"}}
	require.Contains(t, silent.Error(), "printed nothing; its arguments were: -O3")
}
