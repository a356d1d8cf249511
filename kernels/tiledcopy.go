package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// AsyncCopy moves a 128x128 f16 matrix to shared memory by cp.async and out again: 128 threads of 8 values, by the
// TV layout (128,8):(1,128) over a 128x8 tile. Thread t moves 8 values of row t, so the matrix is row-major.
func AsyncCopy() *Kernel {
	return Define("async_copy", func(k *K) {
		A := In[elem.F16](k, "A", Shape(128, 128).Strides(128, 1))  // (M,K)
		D := Out[elem.F16](k, "D", Shape(128, 128).Strides(128, 1)) // (M,K)
		k.Threads(128)
		tv, tile := Shape(128, 8), Shape(128, 8) // (T128,V8) -> (M128,K8)
		g2s := NewTiledCopyTV[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, tv, tile)
		load := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), tv, tile)
		store := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Rmem, Gmem](128), tv, tile)
		sA := Shared[elem.F16](k, "sA", Swizzle(3, 3, 3, Shape(128, 128).Strides(128, 1))) // (M,K)

		fetch(k, g2s, A, sA)
		tAsA := load.Slice(k.Thread).PartitionS(sA) // (CPY,CPY_M,CPY_K)
		tAgD := store.Slice(k.Thread).PartitionD(D) // (CPY,CPY_M,CPY_K)
		k.Unroll(16, func(i Expr) {
			frag := FragmentLike(tAsA.At(All, All, i)) // (CPY,CPY_M)
			Copy(load, tAsA.At(All, All, i), frag)
			Copy(store, frag, tAgD.At(All, All, i))
		})
		expectCopy(D, "A")
	})
}

// LdmatrixRows loads a 32x8 f16 tile by one ldmatrix.x4: 32 threads of 8 values. The thread and value layouts are
// those of the source side, one row a thread; what each thread receives follows, and is written out by it.
func LdmatrixRows() *Kernel {
	return Define("ldmatrix_rows", func(k *K) {
		A := In[elem.F16](k, "A", Shape(32, 8).Strides(8, 1))  // (M,K)
		D := Out[elem.F16](k, "D", Shape(32, 8).Strides(8, 1)) // (M,K)
		k.Threads(32)
		thr, val := Shape(32, 1), Shape(1, 8)
		s2r := NewTiledCopyS[elem.F16](atoms.SM75_U32x4_LDSM_N, thr, val)
		store := CopyLikeD(atoms.UniversalCopy[Rmem, Gmem](32), s2r)
		sA := Shared[elem.F16](k, "sA", Shape(32, 8).Strides(8, 1)) // (M,K)

		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, thr, val), A, sA)
		frag := FragmentDst(s2r.Slice(k.Thread), sA) // (CPY,CPY_M,CPY_K)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(sA), frag)
		Copy(store, frag, store.Slice(k.Thread).PartitionD(D))
		expectCopy(D, "A")
	})
}

// CustomPattern copies a column-major 128x128 f16 matrix element by element in a pattern of the user's own, the TV
// layout (128,8):(8,1) over a 128x8 tile: thread t has 8 elements that follow each other down a column.
func CustomPattern() *Kernel {
	return Define("custom_pattern", func(k *K) {
		A := In[elem.F16](k, "A", Shape(128, 128))  // (M,K)
		D := Out[elem.F16](k, "D", Shape(128, 128)) // (M,K)
		k.Threads(128)
		tv, tile := Shape(128, 8).Strides(8, 1), Shape(128, 8) // (T128,V8) -> (M128,K8)
		load := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Gmem, Rmem](16), tv, tile)
		store := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Rmem, Gmem](16), tv, tile)
		tAgA := load.Slice(k.Thread).PartitionS(A)  // (CPY,CPY_M,CPY_K)
		tAgD := store.Slice(k.Thread).PartitionD(D) // (CPY,CPY_M,CPY_K)
		k.Unroll(16, func(i Expr) {
			frag := FragmentLike(tAgA.At(All, All, i)) // (CPY,CPY_M)
			Copy(load, tAgA.At(All, All, i), frag)
			Copy(store, frag, tAgD.At(All, All, i))
		})
		expectCopy(D, "A")
	})
}

// MultiStage multiplies a 64xK A by a 64xK B through a ring of three stages of shared memory: while one is multiplied,
// two are on their way. Every round closes a group, of zeros past the end, so that waiting for all but one of them
// always means that the stage to read has arrived.
func MultiStage() *Kernel {
	const stages, depth = 3, 16
	return Define("pipeline", func(k *K) {
		K := k.Dim("K", Multiple(8))
		A := In[elem.F16](k, "A", Shape(64, K).Strides(K, 1))    // (M,K)
		B := In[elem.F16](k, "B", Shape(64, K).Strides(K, 1))    // (N,K)
		C := Out[elem.F32](k, "C", Shape(64, 64).Strides(64, 1)) // (M,N)
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1), Tile(32, 32, depth))
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, Shape(64, 2).Strides(2, 1), Shape(1, 8))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)

		// Rows of 32 bytes, of which each group of four is swizzled otherwise: no bank conflicts.
		row := TileToShape(Swizzle(1, 3, 3, Shape(8, depth).Strides(depth, 1)), 64, depth, stages)
		sA, sB := Shared[elem.F16](k, "sA", row), Shared[elem.F16](k, "sB", row)   // (M,K,PIPE) (N,K,PIPE)
		gA, gB := A.Tile(Tile(64, depth), 0, All), B.Tile(Tile(64, depth), 0, All) // (M,K,k) (N,K,k)
		load := g2s.Slice(k.Thread)
		tAgA, tAsA := load.PartitionS(gA), load.PartitionD(sA) // (CPY,CPY_M,CPY_K,k) (CPY,CPY_M,CPY_K,PIPE)
		tBgB, tBsB := load.PartitionS(gB), load.PartitionD(sB) // (CPY,CPY_N,CPY_K,k) (CPY,CPY_N,CPY_K,PIPE)
		thr, lA, lB := mma.Slice(k.Thread), s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tCrA := FragmentA(thr, sA.At(All, All, 0))        // (MMA,MMA_M,MMA_K)
		tCrB := FragmentB(thr, sB.At(All, All, 0))        // (MMA,MMA_N,MMA_K)
		tCrC := FragmentC(thr, C)                         // (MMA,MMA_M,MMA_N)
		tXsA, tXrA := lA.PartitionS(sA), lA.RetileD(tCrA) // (CPY,MMA_M,MMA_K,PIPE) (CPY,MMA_M,MMA_K)
		tXsB, tXrB := lB.PartitionS(sB), lB.RetileD(tCrB) // (CPY,MMA_N,MMA_K,PIPE) (CPY,MMA_N,MMA_K)

		fetch := func(tile, stage any) {
			Copy(g2s, tAgA.At(All, All, All, tile), tAsA.At(All, All, All, stage))
			Copy(g2s, tBgB.At(All, All, All, tile), tBsB.At(All, All, All, stage))
		}
		for s := range stages - 1 {
			fetch(s, s)
			k.CommitGroup()
		}
		Clear(tCrC)
		k.Loop(0, gA.Size(2), func(t Expr) {
			k.WaitGroup(stages - 2)
			k.Barrier()
			read, write := t.Mod(stages), t.Add(stages-1).Mod(stages)
			Copy(s2rA, tXsA.At(All, All, All, read), tXrA)
			Copy(s2rB, tXsB.At(All, All, All, read), tXrB)
			Gemm(mma, tCrA, tCrB, tCrC)
			fetch(t.Add(stages-1), write) // zeros past the last tile
			k.CommitGroup()
		})
		Map(tCrC, PartitionC(thr, C), same)
		expectProduct(C, 1e-5, func(r *Ref) int64 { return r.Dims["K"] })
	})
}
