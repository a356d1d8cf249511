package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// LdmatrixAx1 loads a 16x16 A tile into an MMA's fragment by four ldmatrix.x1 and writes the fragment out.
func LdmatrixAx1() *Kernel { return ldmatrixA("ldmatrix_a_x1", atoms.SM75_U32x1_LDSM_N) }

// LdmatrixAx2 loads the same fragment by two ldmatrix.x2.
func LdmatrixAx2() *Kernel { return ldmatrixA("ldmatrix_a_x2", atoms.SM75_U32x2_LDSM_N) }

// LdmatrixAx4 loads the same fragment by one ldmatrix.x4.
func LdmatrixAx4() *Kernel { return ldmatrixA("ldmatrix_a_x4", atoms.SM75_U32x4_LDSM_N) }

func ldmatrixA(name string, atom atoms.CopyAtom[Smem, Rmem]) *Kernel {
	return Define(name, func(k *K) {
		A := In[elem.F16](k, "A", Shape(16, 16).Strides(16, 1))  // (M,K)
		D := Out[elem.F16](k, "D", Shape(16, 16).Strides(16, 1)) // (M,K)
		k.Threads(32)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1))
		s2r := CopyA(atom, mma)

		sA := Shared[elem.F16](k, "sA", Shape(16, 16).Strides(16, 1)) // (M,K)
		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(16, 2).Strides(2, 1), Shape(1, 8)), A, sA)

		thr, ld := mma.Slice(k.Thread), s2r.Slice(k.Thread)
		tCrA := FragmentA(thr, sA)                        // (MMA,MMA_M,MMA_K)
		tXsA, tXrA := ld.PartitionS(sA), ld.RetileD(tCrA) // (CPY,MMA_M,MMA_K) each
		Copy(s2r, tXsA, tXrA)
		Map(tCrA, PartitionA(thr, D), same)
		expectCopy(D, "A")
	})
}

// LdmatrixBx1 loads an 8x16 B tile, over (N,K), into an MMA's fragment by two ldmatrix.x1 and writes it out.
func LdmatrixBx1() *Kernel { return ldmatrixB("ldmatrix_b_x1", atoms.SM75_U32x1_LDSM_N, 8, 16) }

// LdmatrixBx2 loads the same fragment by one ldmatrix.x2.
func LdmatrixBx2() *Kernel { return ldmatrixB("ldmatrix_b_x2", atoms.SM75_U32x2_LDSM_N, 8, 16) }

// LdmatrixBGather loads a 32x32 B tile by ldmatrix.x4, each of which fills the fragments of two MMAs that follow each
// other along K: the tiled MMA covers K 32, twice its atom.
func LdmatrixBGather() *Kernel {
	return ldmatrixB("ldmatrix_b_gather", atoms.SM75_U32x4_LDSM_N, 32, 32)
}

// ldmatrixB loads an (n,depth) tile; the tiled MMA covers all of depth.
func ldmatrixB(name string, atom atoms.CopyAtom[Smem, Rmem], n, depth int) *Kernel {
	return Define(name, func(k *K) {
		B := In[elem.F16](k, "B", Shape(n, depth).Strides(depth, 1))  // (N,K)
		D := Out[elem.F16](k, "D", Shape(n, depth).Strides(depth, 1)) // (N,K)
		k.Threads(32)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1), Tile(16, 8, depth))
		s2r := CopyB(atom, mma)

		sB := Shared[elem.F16](k, "sB", Shape(n, depth).Strides(depth, 1)) // (N,K)
		row := depth / 4                                                   // threads along K, four values each
		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U64, Shape(32/row, row).Strides(row, 1), Shape(1, 4)), B, sB)

		thr, ld := mma.Slice(k.Thread), s2r.Slice(k.Thread)
		tCrB := FragmentB(thr, sB)                        // (MMA,MMA_N,MMA_K)
		tXsB, tXrB := ld.PartitionS(sB), ld.RetileD(tCrB) // (CPY,CPY_N,CPY_K) each
		Copy(s2r, tXsB, tXrB)
		Map(tCrB, PartitionB(thr, D), same)
		expectCopy(D, "B")
	})
}

// LdmatrixBroadcast loads a 32x16 A tile for 2x2 warps by two ldmatrix.x2 in each warp. The two warps along N need
// the same A; each writes a copy of its own, D(m,k,warp along N).
func LdmatrixBroadcast() *Kernel {
	return Define("ldmatrix_broadcast", func(k *K) {
		A := In[elem.F16](k, "A", Shape(32, 16).Strides(16, 1))          // (M,K)
		D := Out[elem.F16](k, "D", Shape(32, 16, 2).Strides(16, 1, 512)) // (M,K,WARP_N)
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F16F16F16F16_TN, Shape(2, 2, 1))
		s2r := CopyA(atoms.SM75_U32x2_LDSM_N, mma)

		sA := Shared[elem.F16](k, "sA", Shape(32, 16).Strides(16, 1)) // (M,K)
		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U64, Shape(32, 4).Strides(4, 1), Shape(1, 4)), A, sA)

		thr, ld := mma.Slice(k.Thread), s2r.Slice(k.Thread)
		tCrA := FragmentA(thr, sA)                        // (MMA,MMA_M,MMA_K)
		tXsA, tXrA := ld.PartitionS(sA), ld.RetileD(tCrA) // (CPY,MMA_M,MMA_K) each
		Copy(s2r, tXsA, tXrA)
		Map(tCrA, PartitionA(thr, D.At(All, All, k.Thread.Div(64))), same)
		expectCopy(D, "A")
	})
}

// fetch copies a whole global tensor to shared memory and waits for it.
func fetch[E elem.Any](k *K, c TiledCopy[Gmem, Smem, E], src Tensor[Gmem, E], dst Tensor[Smem, E]) {
	k.Helper()
	thr := c.Slice(k.Thread)
	Copy(c, thr.PartitionS(src), thr.PartitionD(dst))
	k.CommitGroup()
	k.WaitGroup(0)
	k.Barrier()
}

// same leaves a value as it is.
func same[E elem.Any](v Val[E]) Val[E] { return v }
