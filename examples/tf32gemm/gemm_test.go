package tf32gemm

import (
	"testing"

	"github.com/gocute/gocute/check"
)

// TestGEMM runs sizes around the tile on the GPU if there is one, and in the emulator with its warps in many orders.
func TestGEMM(t *testing.T) {
	for _, d := range []map[string]int64{
		{"M": 96, "N": 80, "K": 48}, {"M": 1, "N": 1, "K": 4}, {"M": 97, "N": 79, "K": 52}, {"M": 193, "N": 161, "K": 100},
	} {
		check.Kernel(t, GEMM(), check.Args{Dims: d}, check.Options{})
		check.Kernel(t, GEMM(), check.Args{Dims: d}, check.Options{On: check.CPU, EmuSeeds: schedules})
	}
}

// schedules are orders in which the emulator runs the warps; a kernel without races gives the same bytes in all of them.
var schedules = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
