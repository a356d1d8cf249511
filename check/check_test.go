package check_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

var onCPU = check.Options{On: check.CPU}

func TestLibrary(t *testing.T) {
	check.Kernel(t, kernels.GEMMF16(), check.Args{}, onCPU)
	check.Kernel(t, kernels.GEMMBF16(), check.Args{Dims: map[string]int64{"M": 200, "N": 136, "K": 64}, Seed: 3}, check.Options{On: check.CPU, EmuSeeds: []uint64{0, 1, 2}})
	check.Kernel(t, kernels.GEMMF16(), check.Args{Dims: map[string]int64{"M": 1, "N": 1, "K": 8}, Scalars: map[string]float64{"beta": 0}}, onCPU)
	check.Kernel(t, kernels.Copy4x32(), check.Args{}, onCPU)
}

// double is B = 2*A for a matrix of m rows in steps of 4; blocks is how many of the steps it does.
func double(m, blocks any, reference func(a RefTensor) func(at []int64) float64) *Kernel {
	return doubleWithin(0, m, blocks, reference)
}

func doubleWithin(tolerance float64, m, blocks any, reference func(a RefTensor) func(at []int64) float64) *Kernel {
	return Define("twofold", func(k *K) {
		if name, ok := m.(string); ok {
			m = k.Dim(name, AtMost(4096), AtLeast(0))
		}
		if blocks == nil {
			blocks = m.(Expr).CeilDiv(4)
		}
		src := In[elem.F32](k, "A", Shape(m, 32).Strides(32, 1))
		dst := Out[elem.F32](k, "B", Shape(m, 32).Strides(40, 1))
		k.Threads(32)
		k.Grid(blocks)
		c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 4).Strides(4, 1)).Slice(k.Thread)
		tile := Tile(4, 32)
		s, d := c.PartitionS(src.Tile(tile, k.BlockX, 0)), c.PartitionS(dst.Tile(tile, k.BlockX, 0))
		frag := FragmentLike(s)
		Map(s, frag, func(v Val[elem.F32]) Val[elem.F32] { return v })
		Store(frag, d, func(x, _ Val[elem.F32]) Val[elem.F32] { return x.Add(x) })
		if reference != nil {
			Expect(dst, tolerance, func(r *Ref) func(at []int64) float64 { return reference(r.Tensor("A")) })
		}
	})
}

func twice(a RefTensor) func(at []int64) float64 {
	return func(at []int64) float64 { return 2 * a.At(at...) }
}

func result(t *testing.T, k *Kernel, args check.Args) *check.Result {
	t.Helper()
	res, err := check.Run(t.Context(), k, args, onCPU)
	require.NoError(t, err)
	return res
}

func TestRight(t *testing.T) {
	res := result(t, double("M", nil, twice), check.Args{Dims: map[string]int64{"M": 7}})
	require.NoError(t, res.Err())
	require.Equal(t, int64(7*32), res.Outputs[0].Compared)
	require.Empty(t, res.Defaults)
	require.Regexp(t, `^twofold\n  args     M=7\n  on       the emulator, 2 blocks\n  time     .* \(of the emulator\)\n`+
		`  B        f32 \(7,32\): all 224 elements compared, largest error 0\nPASS$`, res.String())
}

func TestNotCompared(t *testing.T) {
	res := result(t, double("M", nil, nil), check.Args{})
	require.NoError(t, res.Err())
	require.True(t, strings.HasSuffix(res.String(), "B        f32 (256,32): not compared, for it has no Expect\nRAN  no reference to compare with (state one with Expect)"), res)
	res = result(t, double("M", nil, nil), check.Args{Dims: map[string]int64{"M": 0}})
	require.NotContains(t, res.String(), "PASS")
	in, err := check.Inspect(t.Context(), double("M", nil, nil), check.Args{Dims: map[string]int64{"M": 4}}, check.Options{})
	require.NoError(t, err)
	require.Contains(t, in.String(), "  exact    no reference to compare with\n")
	require.True(t, strings.HasSuffix(in.String(), "\nRAN  no reference to compare with (state one with Expect)"), in)
}

func TestUnwritten(t *testing.T) {
	res := result(t, double(8, 1, nil), check.Args{})
	require.ErrorContains(t, res.Err(), "twofold: unwritten: 128 of B's elements are never written, the first is B(4,0)")
	require.True(t, strings.HasSuffix(res.String(), "\nFAIL"), res)
	require.Equal(t, []int64{4, 0}, res.Outputs[0].FirstUnwritten)
}

func TestWrong(t *testing.T) {
	off := func(a RefTensor) func(at []int64) float64 {
		return func(at []int64) float64 {
			if at[0] == 3 && at[1] == 5 {
				return 40
			}
			return 2 * a.At(at...)
		}
	}
	given := make([]float64, 4*32)
	given[3*32+5] = 10
	res := result(t, double(4, 1, off), check.Args{Tensors: map[string][]float64{"A": given}})
	require.EqualError(t, res.Err(), "twofold: B: 1 of 128 elements are wrong, the worst at (3,5): expected 40, but got 20")
	require.InDelta(t, 0.5, res.Outputs[0].Relative, 1e-12)
}

// TestInfinity: an infinite or a huge expected value excuses no other element, and an infinity must be met.
func TestInfinity(t *testing.T) {
	for _, expected := range []float64{math.Inf(1), math.Inf(-1), 1e39, 3e38} {
		res := result(t, doubleWithin(1e-6, 4, 1, func(RefTensor) func(at []int64) float64 {
			return func([]int64) float64 { return expected }
		}), check.Args{})
		require.Equal(t, int64(4*32), res.Outputs[0].Wrong, expected)
		require.ErrorContains(t, res.Err(), "128 of 128 elements are wrong", expected)
	}
	given := make([]float64, 4*32)
	given[7] = math.Inf(1)
	oneOff := func(a RefTensor) func(at []int64) float64 {
		return func(at []int64) float64 {
			if at[0] == 3 {
				return 40
			}
			return 2 * a.At(at...)
		}
	}
	infinite := check.Args{Tensors: map[string][]float64{"A": given}}
	require.NoError(t, result(t, doubleWithin(1e-6, 4, 1, twice), infinite).Err())
	require.Equal(t, int64(32), result(t, doubleWithin(1e-6, 4, 1, oneOff), infinite).Outputs[0].Wrong)
}

// TestMistakes is about what cannot be run; the texts are those of the generated launchers.
func TestMistakes(t *testing.T) {
	gemm := kernels.GEMMF16()
	dims := func(m, n, k int64) check.Args { return check.Args{Dims: map[string]int64{"M": m, "N": n, "K": k}} }
	for _, c := range []struct {
		k    *Kernel
		args check.Args
		err  string
	}{
		{nil, check.Args{}, "check: expected a kernel, but got nil"},
		{gemm, dims(128, 128, 1001), "gemm_f16: K = 1001: must be a multiple of 8"},
		{gemm, dims(0, 128, 64), "gemm_f16: M = 0: must be at least 1"},
		{gemm, dims(-3, 128, 64), "gemm_f16: M = -3: must be at least 1"},
		{gemm, check.Args{Dims: map[string]int64{"Q": 1}}, "gemm_f16: there is no dim Q: expected one of M, N, K"},
		{gemm, check.Args{Scalars: map[string]float64{"M": 1}}, "gemm_f16: there is no scalar M: expected one of alpha, beta"},
		{gemm, check.Args{Tensors: map[string][]float64{"D": nil}}, "gemm_f16: there is no tensor D: expected one of A, B, C"},
		{kernels.Copy4x32(), check.Args{Dims: map[string]int64{"M": 1}}, "copy_4x32: there is no dim M: expected none, for the kernel has none"},
		{kernels.Copy4x32(), check.Args{Tensors: map[string][]float64{"A": {1}}}, "copy_4x32: A: expected the data of an input, 128 numbers, but got 1"},
		{double(4, 1, func(RefTensor) func([]int64) float64 { return nil }), check.Args{}, "twofold: the reference of B returned no function, but nil"},
	} {
		_, err := check.Run(t.Context(), c.k, c.args, onCPU)
		require.EqualError(t, err, c.err)
	}
	for _, n := range []int64{1 << 20, 1 << 21} {
		_, err := check.Run(t.Context(), gemm, dims(n, n, 64), onCPU)
		require.ErrorContains(t, err, "gemm_f16: C needs ")
	}
	_, err := check.Run(t.Context(), Define("bad", func(k *K) { k.Threads(0) }), check.Args{}, onCPU)
	require.ErrorContains(t, err, "bad: Threads: expects 1 to 1024 threads, but got 0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = check.Run(ctx, gemm, check.Args{}, onCPU)
	require.ErrorIs(t, err, context.Canceled)
}

// TestReferencePanics names the line of the reference that is wrong, be it the dsl or the Go runtime that panics.
func TestReferencePanics(t *testing.T) {
	zero := int64(0)
	_, file, line, _ := runtime.Caller(0)
	for i, c := range []struct {
		reference func(RefTensor) func([]int64) float64
		err       string
	}{
		{func(RefTensor) func([]int64) float64 { panic("oh\nno") }, "oh no"},
		{func(a RefTensor) func([]int64) float64 { return func([]int64) float64 { return a.At(0, 32) } }, "the reference reads at [0 32], outside of a tensor of extents [4 32]"},
		{func(a RefTensor) func([]int64) float64 { return func(at []int64) float64 { return a.Data[at[1]+1e6] } }, "runtime error: index out of range"},
		{func(RefTensor) func([]int64) float64 { return func([]int64) float64 { return float64(1 / zero) } }, "runtime error: integer divide by zero"},
	} {
		want := fmt.Sprintf("%s:%d: twofold: the reference of B panicked: %s", file, line+5+i, c.err)
		_, err := check.Run(t.Context(), double(4, 1, c.reference), check.Args{}, onCPU)
		require.ErrorContains(t, err, want)
		_, err = check.Exact(t.Context(), double(4, 1, c.reference), check.Args{})
		require.ErrorContains(t, err, fmt.Sprintf("%s:%d: twofold: ", file, line+5+i))
	}
}

func TestEmpty(t *testing.T) {
	res := result(t, double("M", nil, twice), check.Args{Dims: map[string]int64{"M": 0}})
	require.NoError(t, res.Err())
	require.Equal(t, "twofold\n  args     M=0\n  on       nothing: these sizes make an empty grid\nPASS", res.String())
}

// recorder is a test that only remembers.
type recorder struct {
	check.TB
	failed string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestKernelFails(t *testing.T) {
	r := &recorder{TB: t}
	require.Nil(t, check.Kernel(r, kernels.GEMMF16(), check.Args{Dims: map[string]int64{"K": 3}}, onCPU))
	require.Equal(t, "gemm_f16: K = 3: must be a multiple of 8", r.failed)
	check.Kernel(r, double(8, 1, twice), check.Args{}, onCPU)
	require.Contains(t, r.failed, "elements are never written, the first is B(4,0)")
	require.Contains(t, r.failed, "FAIL")
}
