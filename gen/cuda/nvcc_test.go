package cuda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/gen/cuda"
)

// compile runs the real nvcc, if one is there, and refuses local memory, spills and warnings.
func compile(t *testing.T, name string, code []byte, include string) []build.Instr {
	t.Helper()
	tc, err := build.Find(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		t.Skip("no nvcc")
	}
	src := build.Source{Name: name, Code: code, Archs: []string{"sm_80"}}
	if include != "" {
		src.IncludeDirs = []string{include}
	}
	res, err := tc.Compile(t.Context(), src)
	require.NoError(t, err, "%s", code)
	require.Empty(t, res.Warnings)
	bin, ok := res.Binary("sm_80")
	require.True(t, ok)
	report, ok := bin.Report.Kernel(name)
	require.True(t, ok)
	require.Zero(t, report.StackFrame)
	require.False(t, report.Spills())
	ptx, ok := res.PTXFor("sm_80")
	require.True(t, ok)
	entries, err := build.ScanPTX(ptx)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Zero(t, entries[0].LocalBytes)
	t.Logf("%s: %d registers, %.2f s", name, report.Registers, res.Seconds())
	withNVRTC(t, src)
	return entries[0].Instrs
}

// withNVRTC compiles the same with the library, if one is there.
func withNVRTC(t *testing.T, src build.Source) {
	t.Helper()
	n, err := build.FindNVRTC(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		return
	}
	res, err := n.Compile(t.Context(), src)
	require.NoError(t, err, "%s", src.Code)
	require.Empty(t, res.Warnings)
	report, ok := res.Binaries[0].Report.Kernel(src.Name)
	require.True(t, ok)
	require.Zero(t, report.StackFrame)
	require.False(t, report.Spills())
	require.NotZero(t, report.Registers)
}

// count is the number of instructions whose mnemonic begins with prefix.
func count(instrs []build.Instr, prefix string) int {
	n := 0
	for _, i := range instrs {
		if strings.HasPrefix(i.Op, prefix) {
			n++
		}
	}
	return n
}

// TestCompiled looks for the instructions that the kernels must become, and for no other memory accesses.
func TestCompiled(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"copy_f16": {"ld.global.nc.v4": 4, "ld.global": 4, "st.global.v4": 4, "st.global": 4, "ld.shared": 0, "div": 0, "rem": 0},
		"warp_gemm": {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 64, "ldmatrix.sync.aligned.m8n8.x4": 16,
			"ldmatrix.sync.aligned.m8n8.x2": 16, "cp.async.cg": 72, "cvt.rn.f16.f32": 64, "st.global.u32": 32,
			"ld.global": 0, "st.shared": 0, "ld.local": 0, "bar.sync": 1},
		"wide":       {"ld.global.nc.v4": 2, "st.global.v4": 2, "fma.rn.f32": 8, "mul.rn.f32": 8},
		"epilogue":   {"ld.shared.v4": 2, "ld.shared": 2, "ld.global": 8, "st.global.v4": 2, "st.global": 2},
		"other_mmas": {"mma.sync": 3, "ld.global.nc.v4.u32": 2, "ld.global.nc.v2.f64": 1, "st.global.v2.f64": 1, "st.global.v4.f32": 1},
	} {
		t.Run(name, func(t *testing.T) {
			code, err := cuda.Print(goldens[name](), cuda.Options{})
			require.NoError(t, err)
			instrs := compile(t, name, code, "")
			for prefix, n := range want {
				require.Equal(t, n, count(instrs, prefix), prefix)
			}
		})
	}
}

// TestHeadersCompile compiles a kernel against the headers, and all wrappers as code by hand would use them.
func TestHeadersCompile(t *testing.T) {
	files, err := cuda.Headers(allOps())
	require.NoError(t, err)
	dir := t.TempDir()
	hand := ""
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
		hand += fmt.Sprintf("#include <%s>\n#include <%s>\n", name, name)
	}
	code, err := cuda.Print(warpGEMM(), cuda.Options{Header: true})
	require.NoError(t, err)
	require.Equal(t, 64, count(compile(t, "warp_gemm", code, dir), "mma.sync"))
	hand += `extern "C" __global__ void hand(float* p, uint32_t* q) {
  float d[4] = {p[0], p[1], p[2], p[3]};
  using gocute::SM80_16x8x16_F32F16F16F32_TN;
  SM80_16x8x16_F32F16F16F32_TN::fma(d[0], d[1], d[2], d[3], q[0], q[1], q[2], q[3], q[4], q[5], d[0], d[1], d[2], d[3]);
  gocute::cp_async_fence();
  gocute::cp_async_wait<0>();
  gocute::store_b128(d, p);
}
`
	instrs := compile(t, "hand", []byte(hand), dir)
	require.Equal(t, 1, count(instrs, "mma.sync"))
	require.Equal(t, 1, count(instrs, "cp.async.wait_group"))
}
