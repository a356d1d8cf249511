package tf32gemm

import (
	"testing"

	"github.com/gocute/gocute/check"
)

// TestGEMM runs sizes around the tile on the GPU if there is one, else in the emulator.
func TestGEMM(t *testing.T) {
	for _, d := range []map[string]int64{
		{"M": 96, "N": 80, "K": 48}, {"M": 1, "N": 1, "K": 4}, {"M": 97, "N": 79, "K": 52}, {"M": 193, "N": 161, "K": 100},
	} {
		check.Kernel(t, GEMM(), check.Args{Dims: d}, check.Options{})
	}
}
