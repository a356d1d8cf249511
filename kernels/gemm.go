package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// GEMMConfig sizes a block of the GEMM.
type GEMMConfig struct {
	BM, BN, BK   int // block tile, elements
	WarpM, WarpN int // warps along M and N
	Stages       int // depth of the cp.async pipeline, 2 or more
}

// GEMMF16 multiplies f16 matrices.
func GEMMF16() *Kernel {
	return GEMM[elem.F16]("gemm_f16", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3})
}

// GEMMBF16 multiplies bf16 matrices.
func GEMMBF16() *Kernel {
	return GEMM[elem.BF16]("gemm_bf16", GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3})
}

// GEMM computes C = alpha*A*B + beta*C for K-major A (M,K) and B (N,K), accumulating in f32. C is not read where
// beta is 0. M and N are arbitrary, K is a multiple of 8.
func GEMM[E elem.Half](name string, g GEMMConfig) *Kernel {
	return Define(name, func(k *K) {
		M, N, K := k.Dim("M"), k.Dim("N"), k.Dim("K", Multiple(8))
		A := In[E](k, "A", Shape(M, K).Strides(K, 1))           // (M,K)
		B := In[E](k, "B", Shape(N, K).Strides(K, 1))           // (N,K)
		C := InOut[elem.F32](k, "C", Shape(M, N).Strides(N, 1)) // (M,N)
		alpha, beta := Scalar[elem.F32](k, "alpha"), Scalar[elem.F32](k, "beta")

		mma := NewTiledMMA(atoms.MMA16816[E](), Shape(g.WarpM, g.WarpN), Tile(g.WarpM*16, g.WarpN*16, 16))
		g2s := NewTiledCopyD[E](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(mma.Threads()/8, 8).Strides(8, 1), Shape(1, 8))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		k.Threads(mma.Threads())
		k.Grid(M.CeilDiv(g.BM), N.CeilDiv(g.BN))

		// Block tiles. Tails need no mask: the extents above are the truth.
		row := Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1))
		sA := Shared[E](k, "sA", TileToShape(row, g.BM, g.BK, g.Stages)) // (BLK_M,BLK_K,PIPE)
		sB := Shared[E](k, "sB", TileToShape(row, g.BN, g.BK, g.Stages)) // (BLK_N,BLK_K,PIPE)
		gA := A.Tile(Tile(g.BM, g.BK), k.BlockX, All)                    // (BLK_M,BLK_K,k)
		gB := B.Tile(Tile(g.BN, g.BK), k.BlockY, All)                    // (BLK_N,BLK_K,k)
		gC := C.Tile(Tile(g.BM, g.BN), k.BlockX, k.BlockY)               // (BLK_M,BLK_N)

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

		fetch := func(tile, stage any) {
			Copy(g2s, tAgA.At(All, All, All, tile), tAsA.At(All, All, All, stage))
			Copy(g2s, tBgB.At(All, All, All, tile), tBsB.At(All, All, All, stage))
			k.CommitGroup()
		}
		for s := range g.Stages - 1 { // a Go loop runs while generating
			fetch(s, s)
		}
		Clear(tCrC)
		k.Loop(0, gA.Size(2), func(t Expr) { // a loop of the kernel
			k.WaitGroup(g.Stages - 2)
			k.Barrier()
			fetch(t.Add(g.Stages-1), t.Add(g.Stages-1).Mod(g.Stages))
			stage := t.Mod(g.Stages)
			k.Unroll(g.BK/16, func(kb Expr) { // a loop of the kernel that nvcc unrolls: may index fragments
				Copy(s2rA, tXsA.At(All, All, kb, stage), tXrA.At(All, All, kb))
				Copy(s2rB, tXsB.At(All, All, kb, stage), tXrB.At(All, All, kb))
				Gemm(mma, tCrA.At(All, All, kb), tCrB.At(All, All, kb), tCrC)
			})
		})
		Expect(C, 1e-4, func(r *Ref) func(at []int64) float64 {
			a, b, c := r.Tensor("A"), r.Tensor("B"), r.Tensor("C")
			depth, al, be := r.Dims["K"], r.Scalars["alpha"], r.Scalars["beta"]
			return func(at []int64) float64 {
				sum := 0.0
				for k := range depth {
					sum += a.At(at[0], k) * b.At(at[1], k)
				}
				if be == 0 {
					return al * sum
				}
				return al*sum + be*c.At(at[0], at[1])
			}
		})
		Store(tCrC, PartitionC(thr, gC), func(acc, old Val[elem.F32]) Val[elem.F32] {
			return Select(beta.Eq(Lit[elem.F32](0)), acc.Mul(alpha), acc.Mul(alpha).Add(old.Mul(beta)))
		})
	})
}
