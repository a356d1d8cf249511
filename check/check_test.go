package check

import (
	"testing"

	"github.com/gocute/gocute/kernels"
)

func TestGEMM(t *testing.T) {
	Kernel(t, kernels.GEMMF16(), Args{}, Options{On: CPU})
	Kernel(t, kernels.GEMMF16(), Args{Dims: map[string]int64{"M": 200, "N": 136, "K": 64}}, Options{On: CPU, EmuSeeds: []uint64{0, 1}})
	Kernel(t, kernels.Copy4x32(), Args{}, Options{On: CPU})
}
