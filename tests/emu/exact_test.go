package emu_test

import (
	"testing"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels"
)

// notExact are the kernels of the library that exact mode is not for, and why.
var notExact = map[string]string{
	"gemm_f16_bias_gelu":  "GELU is not linear",
	"gemm_f16_f16_splitk": "a workspace and counters are two inputs more than exact mode takes",
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
