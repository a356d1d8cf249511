package emu_test

import (
	"testing"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

// notExact are the kernels of the library that exact mode is not for, and why.
var notExact = map[string]string{
	"gemm_f16_bias_gelu":        "GELU is not linear",
	"gemm_s8_s8":                "holding sums within 8 bits is not linear",
	"gemm_f16_f16_splitk":       "a workspace and counters are two inputs more than exact mode takes",
	"gemm_f16_f16_wgmma_splitk": "a workspace and counters are two inputs more than exact mode takes",
}

// TestExact: the kernels of the library are linear in their inputs, and right in the field of 2^61-1 elements.
func TestExact(t *testing.T) {
	for _, k := range kernels.Library() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			if why := notExact[k.Name()]; why != "" {
				t.Skip(why)
			}
			for _, d := range sizesOf(k.Name()) {
				check.ExactKernel(t, k, check.Args{Dims: d})
			}
		})
	}
}

// Counters begin at zero in exact mode, too.
func TestExactCounters(t *testing.T) {
	k := dsl.Define("arrivals", func(k *dsl.K) {
		x, y := dsl.In[elem.F32](k, "x", dsl.Shape(8)), dsl.Out[elem.F32](k, "y", dsl.Shape(8))
		c := dsl.InOut[elem.U32](k, "c", dsl.Shape(1))
		k.Threads(1)
		k.Grid(8)
		dsl.Map(x.Tile(dsl.Tile(1), k.BlockX), y.Tile(dsl.Tile(1), k.BlockX), func(v dsl.Val[elem.F32]) dsl.Val[elem.F32] { return v })
		dsl.Arrive(k, c.At(0), 8)
		dsl.Expect(y, 0, func(r *dsl.Ref) func([]int64) float64 {
			a := r.Tensor("x")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
	check.ExactKernel(t, k, check.Args{})
}
