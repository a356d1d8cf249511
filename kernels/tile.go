package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// MMATile multiplies one 16x16 A by one 8x16 B, over (N,K), with a single mma.sync of one warp: C = A*B.
func MMATile() *Kernel {
	return Define("mma_tile", func(k *K) {
		A := In[elem.F16](k, "A", Shape(16, 16).Strides(16, 1)) // (M,K)
		B := In[elem.F16](k, "B", Shape(8, 16).Strides(16, 1))  // (N,K)
		C := Out[elem.F32](k, "C", Shape(16, 8).Strides(8, 1))  // (M,N)
		k.Threads(32)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x2_LDSM_N, mma)

		sA := Shared[elem.F16](k, "sA", Shape(16, 16).Strides(16, 1)) // (M,K)
		sB := Shared[elem.F16](k, "sB", Shape(8, 16).Strides(16, 1))  // (N,K)
		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(16, 2).Strides(2, 1), Shape(1, 8)), A, sA)
		fetch(k, NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U64, Shape(8, 4).Strides(4, 1), Shape(1, 4)), B, sB)

		thr, lA, lB := mma.Slice(k.Thread), s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tCrA, tCrB := FragmentA(thr, sA), FragmentB(thr, sB) // (MMA,MMA_M,MMA_K) (MMA,MMA_N,MMA_K)
		tCrC := FragmentC(thr, C)                            // (MMA,MMA_M,MMA_N)
		Copy(s2rA, lA.PartitionS(sA), lA.RetileD(tCrA))
		Copy(s2rB, lB.PartitionS(sB), lB.RetileD(tCrB))
		Clear(tCrC)
		Gemm(mma, tCrA, tCrB, tCrC)
		Map(tCrC, PartitionC(thr, C), same)
		expectProduct(C, 1e-6, func(*Ref) int64 { return 16 })
	})
}

// expectProduct states that out(m,n) is the sum over k of A(m,k)*B(n,k).
func expectProduct(out Tensor[Gmem, elem.F32], tolerance float64, depth func(*Ref) int64) {
	Expect(out, tolerance, func(r *Ref) func(at []int64) float64 {
		a, b, n := r.Tensor("A"), r.Tensor("B"), depth(r)
		return func(at []int64) float64 {
			sum := 0.0
			for k := range n {
				sum += a.At(at[0], k) * b.At(at[1], k)
			}
			return sum
		}
	})
}
