package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// WarpgroupPipeline multiplies a 64xK A by a 64xK B by the instructions of sm_90: the copy engine fills a ring of three
// stages, and four warps multiply what is in one of them while the next ones are on their way.
func WarpgroupPipeline() *Kernel {
	const stages, depth = 3, 64
	return Define("wgmma_pipeline", func(k *K) {
		K := k.Dim("K", Multiple(8))
		A := In[elem.F16](k, "A", Shape(64, K).Strides(K, 1))                          // (M,K)
		B := In[elem.F16](k, "B", Shape(64, K).Strides(K, 1))                          // (N,K)
		C := Out[elem.F32](k, "C", Shape(64, 64).Strides(64, 1))                       // (M,N)
		atom, err := atoms.GMMAOf[elem.F32, elem.F16, elem.F16](atoms.GMMASpec{N: 64}) // SM90_64x64x16_F32F16F16_SS
		if err != nil {
			k.Fail("GMMAOf", err)
			return
		}
		mma := NewTiledMMA(atom, Shape(1, 1))
		k.Threads(mma.Threads()) // 128, a warpgroup

		// Rows of 128 bytes, swizzled as the copy engine and wgmma have it.
		row := TileToShape(Swizzle(3, 3, 3, Shape(8, depth).Strides(depth, 1)), 64, depth, stages)
		sA, sB := Shared[elem.F16](k, "sA", row), Shared[elem.F16](k, "sB", row)   // (M,K,PIPE) (N,K,PIPE)
		gA, gB := A.Tile(Tile(64, depth), 0, All), B.Tile(Tile(64, depth), 0, All) // (M,K,k) (N,K,k)
		thr := mma.Slice(k.Thread)
		tCsA, tCsB := PartitionA(thr, sA), PartitionB(thr, sB) // (MMA,MMA_M,MMA_K,PIPE) (MMA,MMA_N,MMA_K,PIPE)
		tCrC := FragmentC(thr, C)                              // (MMA,MMA_M,MMA_N)
		pipe := NewPipeline(k, "pipe", stages, TMALoads)
		tiles := gA.Size(2)

		fill := func(tile Expr) {
			k.If(tile.Lt(tiles), func() {
				pipe.Fill(tile, func(f *StageFill) {
					stage := pipe.Stage(tile)
					TMALoad(f, gA.At(All, All, tile), sA.At(All, All, stage)) // beyond K come zeros
					TMALoad(f, gB.At(All, All, tile), sB.At(All, All, stage))
				})
			}, nil)
		}
		k.Loop(0, stages-1, fill)
		Clear(tCrC)
		k.Loop(0, tiles, func(t Expr) {
			stage := pipe.Stage(t)
			pipe.Wait(t)
			k.WarpgroupArrive()
			WarpgroupGemm(mma, tCsA.At(All, All, All, stage), tCsB.At(All, All, All, stage), tCrC)
			k.WarpgroupCommitBatch()
			k.WarpgroupWait(0) // what the products read may be written again
			pipe.Release(t)
			fill(t.Add(stages - 1))
		})
		Map(tCrC, PartitionC(thr, C), same)
		expectProduct(C, 1e-5, func(r *Ref) int64 { return r.Dims["K"] })
	})
}
