package kernels

import (
	"github.com/gocute/gocute/atoms"
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
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16", GEMMConfig{BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2, Stages: 4, Group: 8, OneAddress: true})
}

// GEMMF16Small multiplies f16 matrices into an f16 one, in blocks for results of 1024 by 1024 and less, and for few rows.
func GEMMF16Small() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_small", GEMMConfig{BM: 64, BN: 128, BK: 128, WarpM: 1, WarpN: 4, Stages: 3, Group: 8})
}

// GEMMF16Unaligned is GEMMF16Small for rows of A and B whose length in bytes is no multiple of 32.
func GEMMF16Unaligned() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_unaligned", GEMMConfig{BM: 64, BN: 128, BK: 128, WarpM: 1, WarpN: 4, Stages: 3, Group: 8, CacheAlways: true})
}

// GEMMF16NT multiplies an M-major and an N-major f16 matrix into an f16 one.
func GEMMF16NT() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_nt", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8, A: MNMajor, B: MNMajor})
}

// GEMMF16SplitK multiplies few rows: several blocks share the sum of a tile.
func GEMMF16SplitK() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_splitk", GEMMConfig{BM: 16, BN: 32, BK: 128, WarpM: 1, WarpN: 2, Stages: 6, Group: 8, SplitK: true})
}

// GEMMF16Batched multiplies L pairs of f16 matrices.
func GEMMF16Batched() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_batched", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8, Batched: true, OneAddress: true})
}

// GEMMF16BiasGELU is a layer: f16 matrices, a bias for each column, and GELU.
func GEMMF16BiasGELU() *Kernel {
	return Product[elem.F16, elem.F32, elem.F32, elem.F16]("gemm_f16_bias_gelu", atoms.MMA16816[elem.F16](),
		GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8, OneAddress: true}, Chain(Bias[elem.F16](), GELU[elem.F16]()))
}

// GEMMTF32 multiplies tf32 matrices into an f32 one.
func GEMMTF32() *Kernel {
	return Product[elem.TF32, elem.F32, elem.F32, elem.F32]("gemm_tf32_f32", atoms.SM80_16x8x8_F32TF32TF32F32_TN,
		GEMMConfig{BM: 128, BN: 128, BK: 32, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}, nil)
}

// GEMMS8 multiplies s8 matrices into an s32 one.
func GEMMS8() *Kernel {
	return Product[elem.S8, elem.S32, elem.S32, elem.S32]("gemm_s8_s32", atoms.SM80_16x8x32_S32S8S8S32_TN,
		GEMMConfig{BM: 128, BN: 128, BK: 128, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}, nil)
}

// GEMMS8Out multiplies s8 matrices into an s8 one: alpha scales the sums, which are then rounded and held within 8 bits.
func GEMMS8Out() *Kernel {
	return Product[elem.S8, elem.S32, elem.F32, elem.S8]("gemm_s8_s8", atoms.SM80_16x8x32_S32S8S8S32_TN,
		GEMMConfig{BM: 128, BN: 128, BK: 128, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}, nil)
}

// GEMMF16WGMMA multiplies f16 matrices by the instructions of sm_90: the copy engine brings what wgmma multiplies.
func GEMMF16WGMMA() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_wgmma", GEMMConfig{BM: 128, BN: 256, BK: 64, WarpM: 8, WarpN: 1, Stages: 4, Group: 8, Sync: TMALoads, WGMMA: true})
}

// GEMMF16WGMMASplitK does so for few rows: several blocks share the sum of every tile.
func GEMMF16WGMMASplitK() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_wgmma_splitk",
		GEMMConfig{BM: 128, BN: 192, BK: 64, WarpM: 8, WarpN: 1, Stages: 5, Group: 8, Sync: TMALoads, WGMMA: true, SplitK: true})
}

// GEMMF16WGMMABatched does so for L pairs of matrices.
func GEMMF16WGMMABatched() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_wgmma_batched",
		GEMMConfig{BM: 128, BN: 256, BK: 64, WarpM: 8, WarpN: 1, Stages: 4, Group: 8, Sync: TMALoads, WGMMA: true, Batched: true})
}

// GEMMF16TMA multiplies f16 matrices by mma.sync, whose operands the copy engine of sm_90 brings.
func GEMMF16TMA() *Kernel {
	return GEMM[elem.F16, elem.F16]("gemm_f16_f16_tma", GEMMConfig{BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2, Stages: 4, Group: 8, Sync: TMALoads})
}
