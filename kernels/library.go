package kernels

import "github.com/gocute/gocute/dsl"

// Library records every kernel of the library, in order of name.
func Library() []*dsl.Kernel {
	return []*dsl.Kernel{
		AsyncCopy(), ColumnSums(), Copy4x32(), Copy4x64(), Copy8x128(), CustomPattern(), GEMMBF16(), GEMMF16(), GEMMF16BiasGELU(), GEMMF16Out(),
		GEMMF16Batched(), GEMMF16NT(), GEMMF16Small(), GEMMF16SplitK(), GEMMF16TMA(), GEMMF16Unaligned(), GEMMF16WGMMA(), GEMMF16WGMMABatched(), GEMMF16WGMMASplitK(),
		GEMMS8(), GEMMS8Out(), GEMMTF32(),
		LdmatrixAx1(), LdmatrixAx2(), LdmatrixAx4(), LdmatrixBGather(), LdmatrixBroadcast(), LdmatrixBx1(), LdmatrixBx2(),
		LdmatrixRows(), MMATile(), MultiStage(), RowSums(), WarpgroupPipeline(),
	}
}
