package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels"
)

// TestLoopEnds: a loop goes as far as its bound said when it began, also where its body sets a variable of the bound.
func TestLoopEnds(t *testing.T) {
	k := Define("loop_ends", func(k *K) {
		y := Out[elem.S32](k, "y", Shape(32))
		k.Threads(32)
		v := k.Var("v", 5, 0, 10)
		n := FragmentLike(y.At(k.Thread))
		Clear(n)
		one := func(x Val[elem.S32]) Val[elem.S32] { return x.Add(Lit[elem.S32](1)) }
		k.Loop(0, v.Expr, func(Expr) {
			k.If(k.Thread.Lt(40), func() { v.Set(v.Sub(1).Max(0)) }, nil)
			Map(n, n, one)
		})
		k.Loop(0, v.Add(2), func(Expr) { Map(n, n, one) })
		Map(n, y.At(k.Thread), keep[elem.S32])
		Expect(y, 0, func(*Ref) func(at []int64) float64 { return func([]int64) float64 { return 7 } })
	})
	check.Kernel(t, k, check.Args{Seed: 1}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	require.Contains(t, string(out.CUDA), "  const int end = v;\n")
	require.Contains(t, string(out.CUDA), "t < end;")
	require.Contains(t, string(out.CUDA), "t1 < v + 2;") // nothing sets it there
}

// TestHelpersAreReserved: no argument may be called as a function of the emitted code, and no integer is.
func TestHelpersAreReserved(t *testing.T) {
	header, err := os.ReadFile("../out/include/gocute/gocute.cuh")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^(?:static )?__device__ __forceinline__ [\w ]+[ *&](\w+)\(`).FindAllStringSubmatch(string(header), -1)
	require.Greater(t, len(names), 100)
	for _, n := range names {
		k := Define("word", func(k *K) {
			k.Dim(n[1])
			k.Threads(32)
		})
		require.ErrorContains(t, k.Err(), "is used by the emitted code itself", n[1])
		k = Define("word", func(k *K) {
			y := Out[elem.S32](k, "y", Shape(64))
			k.Threads(32)
			y.At(k.Opaque(n[1], k.Thread))
		})
		out, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		require.NotRegexp(t, `int `+n[1]+`\b`, string(out.CUDA))
	}
}

// TestOpaqueConstants stay out of what uses them.
func TestOpaqueConstants(t *testing.T) {
	k := Define("opaque_constant", func(k *K) {
		x, y := In[elem.F32](k, "x", Shape(64)), Out[elem.F32](k, "y", Shape(32))
		k.Threads(32)
		Map(x.At(k.Thread.Add(k.Opaque("off", 5))), y.At(k.Thread), keep[elem.F32])
		Expect(y, 0, func(r *Ref) func(at []int64) float64 {
			x := r.Tensor("x")
			return func(at []int64) float64 { return x.At(at[0] + 5) }
		})
	})
	check.Kernel(t, k, check.Args{Seed: 1}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(out.CUDA), "__builtin_assume(off >= 5);")
	require.Contains(t, after, "off")
}

// TestFunctionsIntoIntegers: GELU of 5.5 is a hair below it, which f32 does not tell.
func TestFunctionsIntoIntegers(t *testing.T) {
	k := kernels.Product[elem.S8, elem.S32, elem.F32, elem.S8]("s8gelu", atoms.SM80_16x8x32_S32S8S8S32_TN,
		kernels.GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 2, WarpN: 2, Stages: 2, Group: 1}, kernels.GELU[elem.S8]())
	check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": 64, "N": 64, "K": 64}, Scalars: map[string]float64{"alpha": 0.5, "beta": 0}}, check.Options{On: check.CPU})
}
