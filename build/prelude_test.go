package build

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/templates"
)

func printed(body string) []byte { return templates.Seal([]byte(body)) }

// TestPreludeFallsBack: what does not compile after the prelude is compiled after the headers, and errors are those of the headers.
func TestPreludeFallsBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the prelude has Linux' integers")
	}
	m, tc := fakeToolchain(t)
	src := Source{Name: "k", Code: printed("body\n"), Archs: []string{}, PTXArchs: []string{"compute_80"}}
	res := compile(t, tc, src)
	require.True(t, res.PTX[0].Prelude)
	require.Equal(t, 1, m.calls("nvcc"))
	require.True(t, compile(t, tc, src).PTX[0].Prelude, "the cache knows")

	src.Code = printed("NO_PRELUDE\n")
	require.False(t, compile(t, tc, src).PTX[0].Prelude)
	require.Equal(t, 3, m.calls("nvcc"))
	require.False(t, compile(t, tc, src).PTX[0].Prelude)
	require.Equal(t, 3, m.calls("nvcc"), "the cache has it whichever way it came")

	for what, change := range map[string]func(*Source){
		"flags":        func(s *Source) { s.Flags = []string{"-use_fast_math"} },
		"lines":        func(s *Source) { s.LineInfo = true },
		"not ours":     func(s *Source) { s.Code = []byte("body\n") },
		"edited":       func(s *Source) { s.Code = append([]byte("new "), s.Code...) },
		"edited below": func(s *Source) { s.Code = append(s.Code, "body\n"...) },
		"headers":      func(s *Source) { s.IncludeDirs = []string{t.TempDir()} },
		"told not to":  func(*Source) { tc.FullHeaders = true },
	} {
		t.Run(what, func(t *testing.T) {
			s := src
			s.Code = printed("body\n")
			change(&s)
			require.False(t, compile(t, tc, s).PTX[0].Prelude)
			tc.FullHeaders = false
		})
	}

	src.Code = printed("REFUSE\n")
	_, err := tc.Compile(t.Context(), src)
	var ce *CompileError
	require.ErrorAs(t, err, &ce)
	require.NotContains(t, ce.Args, "-I./prelude")
}

// TestPreludeMeansTheSame compiles every kernel in out both ways to the same PTX.
func TestPreludeMeansTheSame(t *testing.T) {
	tc := realNVCC(t)
	files, err := filepath.Glob("../out/*/*.cu")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".cu")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, err := os.ReadFile(f)
			require.NoError(t, err)
			requireSamePTX(t, tc, name, code)
		})
	}
}

// TestPreludeDeclarations compiles all that the prelude declares, and what it must leave to the headers.
func TestPreludeDeclarations(t *testing.T) {
	tc := realNVCC(t)
	requireSamePTX(t, tc, "k", printed(preludeUser))
	for name, expr := range map[string]string{
		"min of floats": "min(p[0], p[1])", "min of a float and an integer": "min(p[0], 1.0)", "abs of a float": "abs(p[0])",
		"sqrt": "sqrt(p[0])", "a header's function": "__expf(p[0])", "f64": "(float)exp((double)p[0])",
	} {
		t.Run(name, func(t *testing.T) {
			code := printed("#include <cstdint>\nextern \"C\" __global__ void k(float* p) { p[2] = " + expr + "; }\n")
			res := compile(t, tc, Source{Name: "k", Code: code, Archs: []string{}, PTXArchs: []string{"compute_80"}})
			require.False(t, res.PTX[0].Prelude)
		})
	}
}

func realNVCC(t *testing.T) *Toolchain {
	t.Helper()
	tc, err := Find(t.Context(), Options{Progress: os.Stderr, NoInstall: os.Getenv("GOCUTE_NO_INSTALL") == "1"})
	if err != nil {
		t.Skipf("no nvcc: %v", err)
	}
	tc.CacheDir = t.TempDir()
	return tc
}

// requireSamePTX compiles the code after the prelude and after the toolkit's headers.
func requireSamePTX(t *testing.T, tc *Toolchain, name string, code []byte) {
	t.Helper()
	full := *tc
	full.FullHeaders = true
	arch := "compute_90"
	if strings.Contains(string(code), "wgmma.") {
		arch = "compute_90a"
	}
	src := Source{Name: name, Code: code, Archs: []string{}, PTXArchs: []string{arch}}
	with, without := compile(t, tc, src), compile(t, &full, src)
	require.True(t, with.PTX[0].Prelude)
	require.False(t, without.PTX[0].Prelude)
	require.Equal(t, string(without.PTX[0].Code), string(with.PTX[0].Code))
	t.Logf("%.2f s after the prelude, %.2f s after the headers", with.PTX[0].Seconds, without.PTX[0].Seconds)
}

// preludeUser uses each function once for each type.
const preludeUser = `#include <cstdint>
template <typename T> __device__ __forceinline__ void order(T* p) { p[0] = min(p[1], p[2]); p[3] = max(p[4], p[5]); }
template <typename T, typename U> __device__ __forceinline__ void signs(T* p, U* q) { p[0] = min(p[1], q[2]); p[3] = max(q[4], p[5]); }
template <typename T> __device__ __forceinline__ void atomics(T* p) { p[0] = atomicAdd(p + 1, p[2]); p[3] = atomicExch(p + 4, p[5]); }
template <typename T> __device__ __forceinline__ void limits(T* p) { p[0] = atomicMin(p + 1, p[2]); p[3] = atomicMax(p + 4, p[5]); }
template <typename T> __device__ __forceinline__ void swaps(T* p) { p[0] = atomicCAS(p + 1, p[2], p[3]); }
template <typename T> __device__ __forceinline__ void moves(T* p) {
  const unsigned all = 0xffffffff;
  p[0] = __shfl_sync(all, p[1], 3); p[2] = __shfl_up_sync(all, p[3], 1); p[4] = __shfl_down_sync(all, p[5], 2);
  p[6] = __shfl_xor_sync(all, p[7], 16); p[8] = __shfl_xor_sync(all, p[9], 2, 8); p[10] = __shfl_up_sync(all, p[11], 2, 8);
}
extern "C" __global__ void __launch_bounds__(128) k(int* i, unsigned* u, long* l, unsigned long* ul, long long* ll,
    unsigned long long* ull, float* f, double* d, unsigned short* us, int8_t* s8, uint64_t* u64, const __grid_constant__ uint4 param) {
  extern __shared__ __align__(1024) unsigned char smem[];
  i[threadIdx.x + threadIdx.y + threadIdx.z] = blockIdx.x + blockIdx.y + blockIdx.z;
  i[blockDim.x + blockDim.y] = gridDim.x + gridDim.z + param.x + param.w;
  order(i); order(u); order(l); order(ul); order(ll); order(ull);
  signs(u, i); signs(ul, l); signs(ull, ll);
  i[10] = abs(i[11]); l[10] = abs(l[11]); ll[10] = abs(ll[11]);
  u[12] = atomicInc(u + 13, 7);
  atomics(i); atomics(u); atomics(ull); atomics(f); d[0] = atomicAdd(d + 1, d[2]);
  limits(i); limits(u); limits(ll); limits(ull);
  swaps(i); swaps(u); swaps(ull); swaps(us);
  moves(i); moves(u); moves(l); moves(ul); moves(ll); moves(ull); moves(f); moves(d);
  u[14] = __any_sync(0xffffffff, i[0]) + __all_sync(0xffff, i[1]) + __ballot_sync(0xff, i[2]);
  __syncthreads(); __syncwarp(); __syncwarp(0xff); __threadfence();
  u[15] = (uint32_t)__cvta_generic_to_shared(smem); u64[1] = __cvta_generic_to_global(u);
  *(uint4*)(u + 24) = make_uint4(1, 2, 3, u[4]);
  f[30] = __uint_as_float(u[31]); u[30] = __float_as_uint(f[31]); f[32] = __int_as_float(i[33]); i[32] = __float_as_int(f[33]);
  d[30] = __longlong_as_double(ll[31]); ll[30] = __double_as_longlong(d[31]);
  f[40] = __double2float_rn(d[41]) + __double2float_rz(d[42]); f[41] = __int2float_rn(i[41]) + __int2float_rz(i[42]);
  f[42] = __uint2float_rn(u[41]) + __uint2float_rz(u[42]); f[43] = __ll2float_rn(ll[41]) + __ll2float_rz(ll[42]);
  f[44] = __ull2float_rn(ull[41]) + __ull2float_rz(ull[42]); d[43] = __ll2double_rn(ll[43]) + __ull2double_rn(ull[43]);
  i[44] = __float2int_rn(f[45]) + __double2int_rn(d[45]); u[44] = __float2uint_rn(f[46]) + __double2uint_rn(d[46]);
  ll[44] = __float2ll_rn(f[47]) + __double2ll_rn(d[47]); ull[44] = __float2ull_rn(f[48]) + __double2ull_rn(d[48]);
  f[50] = __fmul_rn(f[51], f[52]) + fmaf(f[53], f[54], f[55]) + fminf(f[56], f[57]) + fmaxf(f[58], f[59]) + fabsf(f[60]);
  f[51] = sqrtf(f[61]) + expf(f[62]) + tanhf(f[63]); d[50] = __dmul_rn(d[51], d[52]);
  s8[0] = (int8_t)u64[2];
}
`
