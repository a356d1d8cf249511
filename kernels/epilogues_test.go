package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/elem"
)

// TestEpilogues: each does in the emulator what it says, also in chains, in f32 and rounded to 16 bits.
func TestEpilogues(t *testing.T) {
	type f32 = Epilogue[elem.F32, elem.F32]
	small := GEMMConfig{BM: 32, BN: 32, BK: 32, WarpM: 1, WarpN: 1, Stages: 2, Group: 1}
	for name, f := range map[string]f32{
		"bias": Bias[elem.F32](), "residual": Residual[elem.F32](), "scale": ScaleRows[elem.F32](), "times": Times[elem.F32](), "relu": ReLU[elem.F32](),
		"silu": SiLU[elem.F32](), "gelu": GELU[elem.F32](), "gate": SiLUTimes[elem.F32](), "nothing": Chain[elem.F32, elem.F32](nil),
		"all": Chain(ScaleRows[elem.F32](), nil, Chain(Bias[elem.F32](), GELU[elem.F32]()), Residual[elem.F32](), SiLUTimes[elem.F32]()),
	} {
		k := Product[elem.F16]("gemm_"+name, atoms.MMA16816[elem.F16](), small, f)
		for _, n := range []int64{37, 40} {
			run(t, k, map[string]int64{"M": 35, "N": n, "K": 40})
		}
	}
	k := Product[elem.F16]("gemm_twice", atoms.MMA16816[elem.F16](), small, Chain(Bias[elem.F16](), Bias[elem.F16]()))
	require.ErrorContains(t, k.Err(), "bias")
}

// TestEpilogueInputs: an input lies in memory as its declaration says; the references read it by the same layout.
func TestEpilogueInputs(t *testing.T) {
	small := GEMMConfig{BM: 32, BN: 32, BK: 32, WarpM: 1, WarpN: 1, Stages: 2, Group: 1}
	f := Chain(Bias[elem.F16](), ScaleRows[elem.F16](), Residual[elem.F16](), SiLUTimes[elem.F16]())
	k := Product[elem.F16]("gemm_inputs", atoms.MMA16816[elem.F16](), small, f)
	require.NoError(t, k.Err())
	got := map[string]string{}
	var order []string
	for _, p := range k.IR().Params {
		if len(p.Strides) == 2 {
			got[p.Name] = fmt.Sprintf("%v by %v", p.Extents, p.Strides)
			order = append(order, p.Name)
		}
	}
	require.Equal(t, []string{"A", "B", "C", "bias", "scale", "residual", "factor"}, order)
	for name, want := range map[string]string{"bias": "[M N] by [0 1]", "scale": "[M N] by [1 0]", "residual": "[M N] by [N 1]", "factor": "[M N] by [N 1]"} {
		require.Equal(t, want, got[name], name)
	}
}

// TestFunctionsIntoIntegers: GELU of 5.5 is a hair below it, which f32 does not tell.
func TestFunctionsIntoIntegers(t *testing.T) {
	k := Product[elem.S8, elem.S32, elem.F32, elem.S8]("s8gelu", atoms.SM80_16x8x32_S32S8S8S32_TN,
		GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 2, WarpN: 2, Stages: 2, Group: 1}, GELU[elem.S8]())
	check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": 64, "N": 64, "K": 64}, Scalars: map[string]float64{"alpha": 0.5, "beta": 0}}, check.Options{On: check.CPU})
}
