package build

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rtcMachine is a machine without any NVRTC, and with the folders of the real one hidden.
func rtcMachine(t *testing.T) (*machine, Options) {
	m := newMachine(t)
	for _, name := range []string{EnvNVRTC, "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	return m, m.options()
}

func TestFindNVRTCSaysWhatWasTried(t *testing.T) {
	m, opt := rtcMachine(t)
	opt.NoInstall = true
	home := filepath.Join(m.dir, "home")
	broken := m.write(filepath.Join(home, "lib64/libnvrtc.so.13"), "no library")
	t.Setenv("CUDA_HOME", home)
	t.Setenv("CUDA_PATH", filepath.Join(m.dir, "empty"))
	_, err := FindNVRTC(t.Context(), opt)
	var nf *NotFoundError
	require.ErrorAs(t, err, &nf)
	require.Equal(t, NameNVRTC, nf.Compiler)
	for _, want := range []string{
		"build: no usable nvrtc", "CUDA_HOME (" + broken + "): it does not load: ",
		"CUDA_PATH (" + filepath.Join(m.dir, "empty") + "): no libnvrtc in lib64, lib, targets/*/lib",
		"VIRTUAL_ENV: not set", "/usr/local/cuda (", "nothing installed there", "set GOCUTE_NVRTC to a libnvrtc of CUDA 12.4 or newer, or allow gocute to install one",
	} {
		require.ErrorContains(t, err, want)
	}

	t.Setenv(EnvNVRTC, filepath.Join(m.dir, "absent.so"))
	_, err = FindNVRTC(t.Context(), opt)
	require.ErrorContains(t, err, "no such file")
	require.ErrorContains(t, err, "unset GOCUTE_NVRTC")
	require.NotContains(t, err.Error(), "CUDA_HOME", "the one named is binding")

	_, err = FindCompiler(t.Context(), "gcc", opt)
	require.ErrorContains(t, err, `expected the compiler nvcc or nvrtc, but got "gcc"`)
}

// What pip brought and does not work is not left behind as if it did.
func TestInstallNVRTCProves(t *testing.T) {
	m, opt := rtcMachine(t)
	m.python("")
	opt.tree = m.digest()
	_, err := FindNVRTC(t.Context(), opt)
	var ie *InstallError
	require.ErrorAs(t, err, &ie)
	require.Equal(t, "compile a first kernel with the new nvrtc", ie.Step)
	require.ErrorContains(t, err, "it does not load")
	require.NoDirExists(t, filepath.Join(m.cache, nvrtcInstallName))
	require.Equal(t, 1, m.calls("pip"))
	m.python("offline")
	_, err = FindNVRTC(t.Context(), opt)
	require.ErrorContains(t, err, "ERROR: No matching distribution found")
}

// realNVRTC finds or installs the real library, with a cache of the test's own.
func realNVRTC(t *testing.T) *NVRTC {
	t.Helper()
	opt := Options{Progress: os.Stderr, NoInstall: os.Getenv("GOCUTE_NO_INSTALL") == "1"}
	n, err := FindNVRTC(t.Context(), opt)
	if err != nil && opt.NoInstall {
		t.Skipf("GOCUTE_NO_INSTALL=1 and no NVRTC: %v", err)
	}
	require.NoError(t, err)
	n.CacheDir = t.TempDir()
	return n
}

func TestNVRTCPlaces(t *testing.T) {
	n := realNVRTC(t)
	if !filepath.IsAbs(n.Library) {
		t.Skip("the loader knows the library's place, this test does not")
	}
	require.True(t, n.Supports("sm_90a"))
	require.False(t, n.Supports("sm_20"))
	m, opt := rtcMachine(t)
	opt.NoInstall = true
	root := filepath.Join(m.dir, "toolkit")
	require.NoError(t, os.MkdirAll(root, 0o777))
	require.NoError(t, os.Symlink(filepath.Dir(n.Library), filepath.Join(root, "lib64")))
	for _, env := range []string{"CUDA_PATH", "CUDA_HOME"} {
		t.Setenv(env, root)
		found, err := FindNVRTC(t.Context(), opt)
		require.NoError(t, err)
		require.Equal(t, env, found.Origin)
		require.Equal(t, n.Version, found.Version)
	}
	t.Setenv(EnvNVRTC, n.Library)
	found, err := FindNVRTC(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, EnvNVRTC, found.Origin)
	require.Equal(t, n.identity, found.identity, "found elsewhere, it is the same compiler")
}

func TestNVRTCCache(t *testing.T) {
	n := realNVRTC(t)
	first, second := t.TempDir(), t.TempDir()
	write := func(dir, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "value.cuh"), []byte(text), 0o666))
	}
	write(first, "#define VALUE 1")
	write(second, "#define VALUE 2")
	src := Source{Name: "k", Archs: []string{"sm_80"}, IncludeDirs: []string{first, second},
		Code: []byte("#include <value.cuh>\n#include <cstdint>\nextern \"C\" __global__ void k(int64_t* x) { *x = VALUE + sizeof(std::uint16_t); }\n")}
	res := compile(t, n, src)
	require.False(t, res.Hit())
	require.Regexp(t, `mov\.[bu]64\s+%rd\d+, 3;`, string(res.PTX[0].Code), "the first folder's header counts")
	require.True(t, compile(t, n, src).Hit())
	ptx := src
	ptx.Archs, ptx.PTXArchs = []string{}, []string{"compute_80"}
	require.Empty(t, compile(t, n, ptx).Binaries)
	write(first, "#define VALUE 5")
	require.False(t, compile(t, n, src).Hit(), "a header changed")
	src.Flags = []string{"-DX"}
	require.False(t, compile(t, n, src).Hit(), "the flags changed")
	_, err := n.Compile(t.Context(), Source{Name: "k", Code: []byte("a\x00b")})
	require.ErrorContains(t, err, "zero byte")
	_, err = n.Compile(t.Context(), Source{Name: "k", Code: src.Code, IncludeDirs: src.IncludeDirs, Flags: []string{"--no-such-flag"}})
	var ce *CompileError
	require.ErrorAs(t, err, &ce)
	require.Contains(t, ce.Output, "no-such-flag")
}

// Many goroutines at once, and one whose context ends while the library works.
func TestNVRTCConcurrent(t *testing.T) {
	n := realNVRTC(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := "k" + string(rune('a'+i))
			res, err := n.Compile(t.Context(), Source{Name: name, Code: []byte("extern \"C\" __global__ void " + name + "(float* x) { *x = 1; }")})
			if err != nil || len(res.Binaries) != 2 || res.Binaries[1].Report.Kernels[0].Name != name {
				t.Errorf("%s: %v, %+v", name, err, res)
			}
		})
	}
	wg.Wait()
	slow := "extern \"C\" __global__ void k(float* x) {\n" + strings.Repeat("x[0] = sinf(x[1]) / (x[2] + x[0]);\n", 1000) + "}\n"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := n.Compile(ctx, Source{Name: "k", Code: []byte(slow), Archs: []string{"sm_80"}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestNVRTCWithoutHeaders(t *testing.T) {
	n := realNVRTC(t)
	n.Include = ""
	_, err := n.Compile(t.Context(), Source{Name: "k", Code: []byte("#include <cuda_fp16.h>\n"), Archs: []string{"sm_80"}})
	require.ErrorContains(t, err, `could not open source file "cuda_fp16.h"`)
	require.ErrorContains(t, err, "set CUDA_HOME")
}

func TestSplitLog(t *testing.T) {
	front, asm := splitLog(`k.cu(3): warning #177-D: variable "y" was declared but never referenced
      int y;
          ^

ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
ptxas         .     128 bytes stack frame, 124 bytes spill stores, 120 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 360 bytes cmem[0]
ptxas warning : Something odd
`)
	require.Equal(t, "k.cu(3): warning #177-D: variable \"y\" was declared but never referenced\n      int y;\n          ^\n\n", front)
	r := ParseReport(asm)
	require.Equal(t, []string{"ptxas warning : Something odd"}, r.Warnings)
	require.Equal(t, KernelReport{Name: "k", Arch: "sm_80", Registers: 32, StackFrame: 128, SpillStores: 124, SpillLoads: 120, Barriers: 1,
		Cmem: map[int]int{0: 360}}, r.Kernels[0])
}
