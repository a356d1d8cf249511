package kernels

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// GEMMF16 multiplies f16 matrices into an f32 one.
func GEMMF16() *Kernel {
	return GEMM[elem.F16, elem.F32]("gemm_f16", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8})
}

// GEMMBF16 multiplies bf16 matrices into an f32 one.
func GEMMBF16() *Kernel {
	return GEMM[elem.BF16, elem.F32]("gemm_bf16", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8})
}

// GEMMF16Out multiplies f16 matrices into an f16 one, in large blocks for GPUs with 227 KiB of shared memory.
func GEMMF16Out() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16", GEMMConfig{BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2, Stages: 4, Group: 8})
}
