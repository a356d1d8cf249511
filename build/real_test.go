package build

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// withReal finds or installs the real compilers and runs a test with each, with a cache of the test's own.
func withReal(t *testing.T, test func(t *testing.T, c Compiler)) {
	for _, name := range []string{NameNVCC, NameNVRTC} {
		t.Run(name, func(t *testing.T) {
			opt := Options{Progress: os.Stderr, NoInstall: os.Getenv("GOCUTE_NO_INSTALL") == "1"}
			c, err := FindCompiler(t.Context(), name, opt)
			if err != nil && opt.NoInstall {
				t.Skipf("GOCUTE_NO_INSTALL=1 and no %s: %v", name, err)
			}
			require.NoError(t, err)
			c.About().CacheDir = t.TempDir()
			test(t, c)
		})
	}
}

// realKernel has what the helpers look for, and names that nvcc derives from
// the folder it runs in.
const realKernel = `#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include "scale.cuh"
static __device__ int counter;
namespace { __device__ int hidden; }
static __device__ __noinline__ int count(int x) { return x * counter + hidden; }
__device__ const char* here() { return __FILE__; }
extern "C" __global__ void __launch_bounds__(32) k(const int4* a, int4* b, float* c, __nv_bfloat16* d, const char** e) {
  __shared__ __align__(16) __half s[256];
  ((int4*)s)[threadIdx.x] = a[threadIdx.x];
  __syncwarp();
  uint32_t r0, r1, p = (uint32_t)__cvta_generic_to_shared(s + 8 * (threadIdx.x & 15));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(p) : "memory");
  float x0 = 0, x1 = 0, x2 = 0, x3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
               : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "r"(r0), "r"(r1));
  c[threadIdx.x] = x0 + x1 + x2 + x3 + count(threadIdx.x);
  d[threadIdx.x] = __float2bfloat16(SCALE * x0);
  b[threadIdx.x] = a[threadIdx.x + 32];
  e[0] = here(); e[1] = header();
}
`

func realSource(t *testing.T) Source {
	t.Helper()
	inc := t.TempDir()
	text := "#define SCALE 2.0f\nstatic __device__ const char* header() { return __FILE__; }\n"
	require.NoError(t, os.WriteFile(filepath.Join(inc, "scale.cuh"), []byte(text), 0o666))
	return Source{Name: "k", Code: []byte(realKernel), IncludeDirs: []string{inc}, Archs: []string{"sm_80", "sm_90", "sm_90a"}}
}

func TestRealCompile(t *testing.T) { withReal(t, realCompile) }

func realCompile(t *testing.T, tc Compiler) {
	res := compile(t, tc, realSource(t))
	for _, w := range res.Warnings {
		t.Log(w)
	}
	for _, b := range res.Binaries {
		f, err := elf.NewFile(bytes.NewReader(b.Cubin))
		require.NoError(t, err)
		require.Equal(t, elf.Machine(190), f.Machine, "a cubin is an ELF file for EM_CUDA")
		require.NotNil(t, f.Section(".text.k"))
		k, ok := b.Report.Kernel("k")
		require.True(t, ok, b.Arch)
		require.Equal(t, b.Arch, k.Arch)
		require.False(t, k.Spills())
		require.Equal(t, 512, k.StaticSmem)
		require.Positive(t, k.Registers)
		t.Logf("%s: %d bytes, ptxas %.2f s, %+v", b.Arch, len(b.Cubin), b.Seconds, k)
	}
	for _, p := range res.PTX {
		t.Logf("%s: front end %.2f s", p.Arch, p.Seconds)
	}
	ptx, ok := res.PTXFor("compute_80")
	require.True(t, ok)
	require.Equal(t, 1, CountPTX(ptx, "mma.sync.aligned.m16n8k16"))
	require.Equal(t, 1, CountPTX(ptx, "ldmatrix.sync.aligned.m8n8.x2"))
	require.Equal(t, 2, CountMoves(ptx, "ld", "global", 16))
	require.Equal(t, 1, CountMoves(ptx, "st", "global", 16))
	require.False(t, UsesLocal(ptx))
	require.True(t, compile(t, tc, realSource(t)).Hit())
}

// The same input must give the same bytes in another folder at another time.
func TestRealCompileIsDeterministic(t *testing.T) { withReal(t, realCompileIsDeterministic) }

func realCompileIsDeterministic(t *testing.T, tc Compiler) {
	src := realSource(t)
	src.Archs, src.NoCache = []string{"sm_80"}, true
	for _, src.LineInfo = range []bool{false, true} {
		var first *Result
		for range 2 {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			inc := t.TempDir()
			text, err := os.ReadFile(filepath.Join(src.IncludeDirs[0], "scale.cuh"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(inc, "scale.cuh"), text, 0o666))
			src.IncludeDirs = []string{inc}
			res := compile(t, tc, src)
			for what, data := range map[string][]byte{"PTX": res.PTX[0].Code, "cubin": res.Binaries[0].Cubin} {
				require.NotContains(t, string(data), tmp, what)
				require.NotContains(t, string(data), inc, what)
			}
			if first == nil {
				first = res
				continue
			}
			require.True(t, bytes.Equal(first.PTX[0].Code, res.PTX[0].Code), "PTX, LineInfo %v", src.LineInfo)
			require.True(t, bytes.Equal(first.Binaries[0].Cubin, res.Binaries[0].Cubin), "cubin, LineInfo %v", src.LineInfo)
		}
		f, err := elf.NewFile(bytes.NewReader(first.Binaries[0].Cubin))
		require.NoError(t, err)
		require.Equal(t, src.LineInfo, f.Section(".debug_line") != nil, "line information only on request")
	}
}

func TestRealCompileErrors(t *testing.T) { withReal(t, realCompileErrors) }

func realCompileErrors(t *testing.T, tc Compiler) {
	_, err := tc.Compile(t.Context(), Source{Name: "broken", Code: []byte("int x = ;\n"), Archs: []string{"sm_80"}})
	var ce *CompileError
	require.ErrorAs(t, err, &ce)
	require.Contains(t, ce.Output, "broken.cu(1): error")
	require.Equal(t, "compute_80", ce.Arch)

	// What only ptxas notices is reported for the chip, with the PTX's name.
	bad := `extern "C" __global__ void k() { asm volatile("no.such.thing;"); }`
	_, err = tc.Compile(t.Context(), Source{Name: "badasm", Code: []byte(bad), Archs: []string{"sm_80"}})
	require.ErrorAs(t, err, &ce)
	require.Equal(t, "sm_80", ce.Arch)
	require.Contains(t, ce.Output, "badasm.ptx, line")
	require.ErrorContains(t, err, "build: "+tc.About().Name+" failed on kernel badasm for sm_80")
}

// Flags reach both steps: a register limit is ptxas' business.
func TestRealFlags(t *testing.T) { withReal(t, realFlags) }

func realFlags(t *testing.T, tc Compiler) {
	code := `extern "C" __global__ void k(float* a) {
  float x[64];
  for (int i = 0; i < 64; i++) x[i] = a[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 64; i++) a[i * 32 + threadIdx.x] = x[63 - i] * N;
}`
	src := Source{Name: "limit", Code: []byte(code), Archs: []string{"sm_80"}, Flags: []string{"-DN=3", "-maxrregcount=32"}}
	k, ok := compile(t, tc, src).Binaries[0].Report.Kernel("k")
	require.True(t, ok)
	require.LessOrEqual(t, k.Registers, 32)
	require.True(t, k.Spills())
}
