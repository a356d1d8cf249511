// Package tf32gemm is a kernel of one's own, in a module of its own: a tf32 GEMM with a 96x80x48 tile, three warps
// and padded shared memory instead of a swizzle.
package tf32gemm

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

//go:generate go tool gocute gen .

const (
	bM, bN, bK = 96, 80, 48 // block tile
	warps      = 3          // along M
	stages     = 2
	pad        = 4 // elements between rows: 208 bytes a row puts eight rows into different banks
)

// GEMM computes C = A*B for K-major A (M,K) and B (N,K); K is a multiple of 4, so that rows start at 16 bytes.
func GEMM() *Kernel {
	return Define("gemm_tf32", func(k *K) {
		M, N, K := k.Dim("M"), k.Dim("N"), k.Dim("K", Multiple(4))
		A := In[elem.TF32](k, "A", Shape(M, K).Strides(K, 1)) // (M,K)
		B := In[elem.TF32](k, "B", Shape(N, K).Strides(K, 1)) // (N,K)
		C := Out[elem.F32](k, "C", Shape(M, N).Strides(N, 1)) // (M,N)

		mma := NewTiledMMA(atoms.SM80_16x8x8_F32TF32TF32F32_TN, Shape(warps, 1), Tile(warps*16, 16, 8))
		g2s := NewTiledCopyD[elem.TF32](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(8, 12).Strides(12, 1), Shape(1, 4))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		k.Threads(mma.Threads())
		k.Grid(M.CeilDiv(bM), N.CeilDiv(bN))

		sA := Shared[elem.TF32](k, "sA", Shape(bM, bK, stages).Strides(bK+pad, 1, bM*(bK+pad))) // (BLK_M,BLK_K,PIPE)
		sB := Shared[elem.TF32](k, "sB", Shape(bN, bK, stages).Strides(bK+pad, 1, bN*(bK+pad))) // (BLK_N,BLK_K,PIPE)
		gA := A.Tile(Tile(bM, bK), k.BlockX, All)                                               // (BLK_M,BLK_K,k)
		gB := B.Tile(Tile(bN, bK), k.BlockY, All)                                               // (BLK_N,BLK_K,k)
		gC := C.Tile(Tile(bM, bN), k.BlockX, k.BlockY)                                          // (BLK_M,BLK_N)

		load, thr := g2s.Slice(k.Thread), mma.Slice(k.Thread)
		tAgA, tAsA := load.PartitionS(gA), load.PartitionD(sA) // (CPY,CPY_M,CPY_K,k) (CPY,CPY_M,CPY_K,PIPE)
		tBgB, tBsB := load.PartitionS(gB), load.PartitionD(sB) // (CPY,CPY_N,CPY_K,k) (CPY,CPY_N,CPY_K,PIPE)
		tCrA := FragmentA(thr, sA.At(All, All, 0))             // (MMA,MMA_M,MMA_K)
		tCrB := FragmentB(thr, sB.At(All, All, 0))             // (MMA,MMA_N,MMA_K)
		tCrC := FragmentC(thr, gC)                             // (MMA,MMA_M,MMA_N)
		lA, lB := s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tXsA, tXrA := lA.PartitionS(sA), lA.RetileD(tCrA) // (CPY,MMA_M,MMA_K,PIPE) (CPY,MMA_M,MMA_K)
		tXsB, tXrB := lB.PartitionS(sB), lB.RetileD(tCrB) // (CPY,MMA_N,MMA_K,PIPE) (CPY,MMA_N,MMA_K)

		fetch := func(tile, stage any) {
			Copy(g2s, tAgA.At(All, All, All, tile), tAsA.At(All, All, All, stage))
			Copy(g2s, tBgB.At(All, All, All, tile), tBsB.At(All, All, All, stage))
			k.CommitGroup()
		}
		fetch(0, 0)
		Clear(tCrC)
		k.Loop(0, gA.Size(2), func(t Expr) {
			k.WaitGroup(0)
			k.Barrier()
			fetch(t.Add(1), t.Add(1).Mod(stages))
			k.Unroll(bK/8, func(kb Expr) {
				Copy(s2rA, tXsA.At(All, All, kb, t.Mod(stages)), tXrA.At(All, All, kb))
				Copy(s2rB, tXsB.At(All, All, kb, t.Mod(stages)), tXrB.At(All, All, kb))
				Gemm(mma, tCrA.At(All, All, kb), tCrB.At(All, All, kb), tCrC)
			})
		})
		Store(tCrC, PartitionC(thr, gC), func(acc, _ Val[elem.F32]) Val[elem.F32] { return acc })

		Expect(C, 1e-4, func(r *Ref) func(at []int64) float64 {
			a, b, depth := r.Tensor("A"), r.Tensor("B"), r.Dims["K"]
			return func(at []int64) (sum float64) {
				for i := range depth {
					sum += a.At(at[0], i) * b.At(at[1], i)
				}
				return sum
			}
		})
	})
}
