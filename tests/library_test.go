package tests

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

// TestLibraryErrors: what a library's kernel finds is told at the user's line, which called it, or at that of the user's own
// function which it calls.
func TestLibraryErrors(t *testing.T) {
	type f32 = elem.F32
	here := func() int { _, _, line, _ := runtime.Caller(1); return line }
	good := kernels.GEMMConfig{BM: 64, BN: 64, BK: 32, WarpM: 2, WarpN: 2, Stages: 3, Group: 1}
	inputs := 0
	mine := func(in *kernels.EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
		in.Row("A")
		inputs = here() - 1
		return nil, nil
	}
	for _, c := range []struct {
		want, within string
		make         func() (*dsl.Kernel, int)
	}{
		{"k: Product: expected BM of at least 16, but got 0", "gemm.go", func() (*dsl.Kernel, int) {
			return kernels.Product[elem.F16, f32, f32, f32]("k", atoms.MMA16816[elem.F16](), kernels.GEMMConfig{}, nil), here()
		}},
		{"k: Product: expected BM of at least 16, but got 0", "gemm.go", func() (*dsl.Kernel, int) {
			return kernels.GEMM[elem.F16, f32]("k", kernels.GEMMConfig{}), here()
		}},
		{`a b: Define: expects a name that is an identifier in C and Go, but got "a b"`, "", func() (*dsl.Kernel, int) {
			return kernels.GEMM[elem.F16, f32]("a b", good), here()
		}},
		{"k: In: the name bias is already used in this kernel", "epilogues.go", func() (*dsl.Kernel, int) {
			return kernels.Product("k", atoms.MMA16816[elem.F16](), good, kernels.Chain(kernels.Bias[f32](), kernels.Bias[f32]())), here()
		}},
		{"k: In: the name A is already used in this kernel", "", func() (*dsl.Kernel, int) {
			return kernels.Product("k", atoms.MMA16816[elem.F16](), good, mine), inputs
		}},
	} {
		k, line := c.make()
		var e *dsl.Error
		require.ErrorAs(t, k.Err(), &e)
		require.Contains(t, e.Kernel+": "+e.Op+": "+e.Text, c.want)
		require.Equal(t, "library_test.go", filepath.Base(e.Pos.File), e)
		require.Equal(t, line, e.Pos.Line, e)
		if c.within != "" {
			require.Equal(t, c.within, filepath.Base(e.Within.File), e)
		}
	}
}
