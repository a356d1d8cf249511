package kernels

import (
	"math/bits"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// GEMMConfig sizes a block of the GEMM.
type GEMMConfig struct {
	BM, BN, BK   int  // block tile, elements
	WarpM, WarpN int  // warps along M and N
	Stages       int  // depth of the cp.async pipeline, 2 or more
	Group        int  // block tiles along M whose rows of tiles are done together, for the L2 cache
	Sync         Sync // how stages change hands
}

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

// GEMM computes C = alpha*A*B + beta*C for K-major A (M,K) and B (N,K), accumulating in f32 and rounding
// to O once. C is not read where beta is 0. M and N are arbitrary, K is a multiple of 8.
func GEMM[E elem.Half, O elem.F32 | elem.Half](name string, g GEMMConfig) *Kernel {
	return Define(name, func(k *K) {
		M, N, K := k.Dim("M"), k.Dim("N"), k.Dim("K", Multiple(8))
		A := In[E](k, "A", Shape(M, K).Strides(K, 1))    // (M,K)
		B := In[E](k, "B", Shape(N, K).Strides(K, 1))    // (N,K)
		C := InOut[O](k, "C", Shape(M, N).Strides(N, 1)) // (M,N)
		alpha, beta := Scalar[elem.F32](k, "alpha"), Scalar[elem.F32](k, "beta")

		mma := NewTiledMMA(atoms.MMA16816[E](), Shape(g.WarpM, g.WarpN), Tile(g.WarpM*16, g.WarpN*16, 16))
		vecs := min(g.BK, 64) / 8 // 16-byte vectors in a row of shared memory, 128 bytes at most
		g2s := NewTiledCopyD[E](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(mma.Threads()/vecs, vecs).Strides(vecs, 1), Shape(1, 8))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		k.Threads(mma.Threads())
		blockM, blockN := groupedTiles(k, M.CeilDiv(g.BM), N.CeilDiv(g.BN), g.Group)

		// Block tiles. Tails need no mask: the extents above are the truth.
		row := Swizzle(bits.Len(uint(vecs))-1, 3, 3, Shape(8, 8*vecs).Strides(8*vecs, 1))
		sA := Shared[E](k, "sA", TileToShape(row, g.BM, g.BK, g.Stages)) // (BLK_M,BLK_K,PIPE)
		sB := Shared[E](k, "sB", TileToShape(row, g.BN, g.BK, g.Stages)) // (BLK_N,BLK_K,PIPE)
		gA := A.Tile(Tile(g.BM, g.BK), blockM, All)                      // (BLK_M,BLK_K,k)
		gB := B.Tile(Tile(g.BN, g.BK), blockN, All)                      // (BLK_N,BLK_K,k)
		gC := C.Tile(Tile(g.BM, g.BN), blockM, blockN)                   // (BLK_M,BLK_N)

		load := g2s.Slice(k.Thread)
		tAgA, tAsA := load.PartitionS(gA), load.PartitionD(sA) // (CPY,CPY_M,CPY_K,k) (CPY,CPY_M,CPY_K,PIPE)
		tBgB, tBsB := load.PartitionS(gB), load.PartitionD(sB) // (CPY,CPY_N,CPY_K,k) (CPY,CPY_N,CPY_K,PIPE)

		thr := mma.Slice(k.Thread)
		tCrA := FragmentA(thr, sA.At(All, All, 0)) // (MMA,MMA_M,MMA_K)
		tCrB := FragmentB(thr, sB.At(All, All, 0)) // (MMA,MMA_N,MMA_K)
		tCrC := FragmentC(thr, gC)                 // (MMA,MMA_M,MMA_N)
		lA, lB := s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tXsA, tXrA := lA.PartitionS(sA), lA.RetileD(tCrA) // (CPY,MMA_M,MMA_K,PIPE) (CPY,MMA_M,MMA_K)
		tXsB, tXrB := lB.PartitionS(sB), lB.RetileD(tCrB) // (CPY,MMA_N,MMA_K,PIPE) (CPY,MMA_N,MMA_K)

		// fetch starts the part-th of parts of a tile's copies; read takes one K step of fragments from a stage.
		fetch := func(tile, stage any, part, parts int) {
			copyPart(g2s, tAgA.At(All, All, All, tile), tAsA.At(All, All, All, stage), part, parts)
			copyPart(g2s, tBgB.At(All, All, All, tile), tBsB.At(All, All, All, stage), part, parts)
		}
		read := func(stage any, kb int) {
			Copy(s2rA, tXsA.At(All, All, kb, stage), tXrA.At(All, All, kb))
			Copy(s2rB, tXsB.At(All, All, kb, stage), tXrB.At(All, All, kb))
		}
		pipe := NewPipeline(k, "pipe", g.Stages, g.Sync)
		ahead := g.Stages - 1 // tiles in flight
		if g.Sync == MBarriers {
			ahead = g.Stages - 2 // and one of slack, by which warps may drift apart
		}
		k.Loop(0, ahead, func(s Expr) { // a loop of the kernel
			fetch(s, s, 0, 1)
			pipe.Commit(s)
		})
		Clear(tCrC)
		pipe.Wait(0)
		read(0, 0)
		steps := g.BK / 16
		k.Loop(0, gA.Size(2), func(t Expr) {
			next := t.Add(ahead)
			pipe.Acquire(next)
			for kb := range steps { // a Go loop runs while generating
				if kb < steps-1 {
					fetch(next, pipe.Stage(next), kb, steps-1)
					read(pipe.Stage(t), kb+1)
				} else {
					pipe.Commit(next)
					pipe.Release(t) // the last fragments of this tile are in registers
					pipe.Wait(t.Add(1))
					read(pipe.Stage(t.Add(1)), 0)
				}
				Gemm(mma, tCrA.At(All, All, kb), tCrB.At(All, All, kb), tCrC)
			}
		})
		pipe.Drain()
		expectGEMM(C)
		store(k, mma, tCrC, sA, gC, N, alpha, beta)
	})
}

// copyPart copies the part-th of parts of a partition's rows, mode 1 of ((CPY),CPY_M,CPY_K).
func copyPart[S, D Space, E elem.Any](c TiledCopy[S, D, E], src Tensor[S, E], dst Tensor[D, E], part, parts int) {
	rows := src.Extent(1)
	for i := rows * part / parts; i < rows*(part+1)/parts; i++ {
		Copy(c, src.At(All, i, All), dst.At(All, i, All))
	}
}

// groupedTiles numbers the m*n tiles of the output so that blocks that run together share rows of A and columns of
// B: group rows of tiles, column by column, then the next group.
func groupedTiles(k *K, m, n Expr, group int) (tileM, tileN Expr) {
	k.Grid(m.Mul(n))
	perGroup := k.Let("perGroup", n.Mul(group))
	first := k.Let("groupFirst", k.BlockX.Div(perGroup).Mul(group).Min(m))
	rows := k.Let("groupRows", m.Sub(first).Min(group).Max(1)) // the last group may have fewer
	within := k.Let("inGroup", k.BlockX.Mod(perGroup))
	tileM = k.Let("blockM", first.Add(within.Mod(rows)))
	tileN = k.Let("blockN", within.Div(rows).Min(n.Sub(1)))
	return tileM, tileN
}

// expectGEMM states C = alpha*A*B + beta*C for K-major A and B, of which C is not read where beta is 0.
func expectGEMM[O elem.F32 | elem.Half](C Tensor[Gmem, O]) {
	Expect(C, tolerance[O](), func(r *Ref) func(at []int64) float64 {
		a, b, c := r.Tensor("A"), r.Tensor("B"), r.Tensor("C")
		depth, alpha, beta := r.Dims["K"], r.Scalars["alpha"], r.Scalars["beta"]
		return func(at []int64) float64 {
			sum := 0.0
			for k := range depth {
				sum += a.At(at[0], k) * b.At(at[1], k)
			}
			if beta == 0 {
				return alpha * sum
			}
			return alpha*sum + beta*c.At(at[0], at[1])
		}
	})
}
