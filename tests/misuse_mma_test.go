package tests

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// MMAs, fragments and retiles that cannot be what the user meant.

var mma16816 = NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1))

func operands(k *K, m, n, depth int) (sA, sB Tensor[Smem, elem.F16], C Tensor[Gmem, elem.F32]) {
	C = InOut[elem.F32](k, "C", Shape(m, n).Strides(n, 1))
	sA = Shared[elem.F16](k, "sA", Shape(m, depth).Strides(depth, 1))
	sB = Shared[elem.F16](k, "sB", Shape(n, depth).Strides(depth, 1))
	return sA, sB, C
}

var _ = misuse("fragment_by_loop", func(k *K) {
	k.Threads(32)
	sA, _, _ := operands(k, 16, 8, 64)
	tCrA := FragmentA(mma16816.Slice(k.Thread), sA)
	k.Loop(0, 4, func(i Expr) {
		Clear(tCrA.At(All, All, i)) // ERROR "At: mode 2 of the fragment tCrA expects an index known to nvcc \(a constant or the variable of Unroll\), but got the run-time value t"
	})
	k.Unroll(4, func(i Expr) { Clear(tCrA.At(All, All, i)) })
	Clear(tCrA.At(All, All, k.Thread.Mod(4))) // ERROR "run-time value tid%4"
})

var _ = misuse("retile_of_another_operand", func(k *K) {
	k.Threads(32)
	sA, sB, _ := operands(k, 16, 8, 16)
	thr := mma16816.Slice(k.Thread)
	tCrA, tCrB := FragmentA(thr, sA), FragmentB(thr, sB)
	s2r := CopyA(atoms.SM75_U32x2_LDSM_N, mma16816)
	s2r.Slice(k.Thread).RetileD(tCrA)
	s2r.Slice(k.Thread).RetileD(tCrB) // ERROR "RetileD: the fragment tCrB \(\(2,2\),1,1\):\(\(1,2\),0,0\) does not have the value order of this copy"
})

var _ = misuse("retile_of_other_order", func(k *K) { // a copy whose values are numbered otherwise than the MMA's
	k.Threads(32)
	sA, _, _ := operands(k, 16, 8, 16)
	tCrA := FragmentA(mma16816.Slice(k.Thread), sA)
	c := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Smem, Rmem](32), ParseLayout("(32,8):(8,1)"), Shape(16, 16))
	c.Slice(k.Thread).RetileD(tCrA) // ERROR "RetileD: the fragment tCrA .* does not have the value order of this copy: value 1 of thread 0 is element 1 of the tile \(16,16\) for the copy, but element 16 for the fragment"
})

var _ = misuse("retile_of_no_fragment", func(k *K) {
	k.Threads(32)
	sA, _, C := operands(k, 16, 8, 16)
	s2r := CopyA(atoms.SM75_U32x2_LDSM_N, mma16816)
	ld := s2r.Slice(k.Thread)
	Clear(ld.RetileD(FragmentLike(sA))) // ERROR "RetileD: expects a fragment of an MMA or a copy, whose value order is known, but rA is neither"
	_ = C
})

var _ = misuse("copy_into_mma_view", func(k *K) {
	k.Threads(32)
	sA, _, _ := operands(k, 16, 8, 16)
	s2r := CopyA(atoms.SM75_U32x4_LDSM_N, mma16816)
	tCrA := FragmentA(mma16816.Slice(k.Thread), sA)
	Copy(s2r, s2r.Slice(k.Thread).PartitionS(sA), tCrA) // ERROR "Copy: tCrA is a view of the MMA's, not of this copy's: Retile it"
})

var _ = misuse("gemm_operands", func(k *K) {
	k.Threads(32)
	sA, sB, C := operands(k, 16, 8, 16)
	thr := mma16816.Slice(k.Thread)
	tCrA, tCrB, tCrC := FragmentA(thr, sA), FragmentB(thr, sB), FragmentC(thr, C)
	Clear(tCrC)
	Gemm(mma16816, tCrB, tCrB, tCrC)                 // ERROR "Gemm: expects a fragment of operand A of this MMA \(FragmentA\), but tCrB is another view"
	Gemm(mma16816, tCrA, tCrA, tCrC)                 // ERROR "expects a fragment of operand B of this MMA \(FragmentB\), but tCrA is another view"
	Gemm(mma16816, tCrA, tCrB.At(All, All, 0), tCrC) // ERROR "or A and B without their K mode"
	other := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1), Tile(32, 8, 16))
	Gemm(other, tCrA, tCrB, tCrC) // ERROR "expects a fragment of operand A of this MMA"
})

var _ = misuse("gemm_extents", func(k *K) {
	k.Threads(32)
	sA, sB, C := operands(k, 32, 8, 16)
	thr := mma16816.Slice(k.Thread)
	top := Shared[elem.F16](k, "top", Shape(16, 16).Strides(16, 1))
	deep := Shared[elem.F16](k, "deep", Shape(8, 32).Strides(32, 1))
	tCrC := FragmentC(thr, C)
	Gemm(mma16816, FragmentA(thr, top), FragmentB(thr, sB), tCrC)  // ERROR "MMA_M expects one extent, but tCrtop has 1 in mode 1 and tCrC has 2 in mode 1"
	Gemm(mma16816, FragmentA(thr, sA), FragmentB(thr, deep), tCrC) // ERROR "MMA_K expects one extent, but tCrA has 1 in mode 2 and tCrdeep has 2 in mode 2"
})

var _ = misuse("mma_tile", func(k *K) {
	k.Threads(32)
	sA, _, _ := operands(k, 16, 8, 16)
	bad := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1), Tile(24, 8, 16)) // ERROR "TiledMMA: the tile's extent in mode M is 24, which 1 atoms of 16 do not divide"
	FragmentA(bad.Slice(k.Thread), sA)
})

var _ = misuse("mma_does_not_divide", func(k *K) {
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	odd := Shared[elem.F16](k, "odd", Shape(24, 16).Strides(16, 1))
	FragmentA(mma16816.Slice(k.Thread), odd) // ERROR "FragmentA: odd: the MMA's tile \(16,16\) does not divide the tensor \(24,16\):\(16,1\)"
	_ = C
})

var _ = misuse("mma_threads", func(k *K) {
	k.Threads(64)
	sA, _, _ := operands(k, 16, 8, 16)
	FragmentA(mma16816.Slice(k.Thread), sA) // ERROR "Slice: expects a thread from 0 to 31, those of the MMA, but tid may be 63"
})

var _ = misuse("mma_thread_too_soon", func(k *K) {
	thr := mma16816.Slice(k.Thread)
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	Clear(FragmentC(thr, C)) // ERROR "FragmentC: expects a slice by k.Thread, but it was made before k.Threads"
})

var _ = misuse("map_of_other_partitions", func(k *K) {
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	tCrC := FragmentC(mma16816.Slice(k.Thread), C)
	_, store := rowCopy()
	other := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](32), Shape(4, 8), Shape(4, 1))
	_ = store
	Map(tCrC, other.Slice(k.Thread).PartitionD(C), func(v Val[elem.F32]) Val[elem.F32] { return v }) // ERROR "Map: the elements of tCC and tCrC do not belong together: of their partitions, value 1 of thread 0 is element .* for the second, but element .* for the first"
})

var _ = misuse("map_into_input", func(k *K) {
	k.Threads(32)
	B := In[elem.F32](k, "B", Shape(16, 8).Strides(8, 1))
	thr := mma16816.Slice(k.Thread)
	tCrC := FragmentC(thr, B)
	Clear(tCrC)
	Map(tCrC, PartitionC(thr, B), func(v Val[elem.F32]) Val[elem.F32] { return v }) // ERROR "Map: expects an output, but B was declared with In"
})

var _ = misuse("map_of_nothing", func(k *K) {
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	thr := mma16816.Slice(k.Thread)
	tCrC := FragmentC(thr, C)
	Map(tCrC, PartitionC(thr, C), func(Val[elem.F32]) (none Val[elem.F32]) { return none }) // ERROR "the function returned a value that was never set"
})

var _ = misuse("retile_by_atom", func(k *K) { // two atoms' values in one fragment, one atom in the memory's view
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	sC := Shared[elem.F32](k, "sC", Shape(16, 8).Strides(8, 1))
	tCrC := FragmentC(mma16816.Slice(k.Thread), C)
	r2s := CopyAtomC[elem.F32](atoms.UniversalCopy[Rmem, Smem](64), mma16816)
	put := r2s.Slice(k.Thread)
	Copy(r2s, put.RetileS(tCrC), put.PartitionD(sC)) // ERROR "Copy: mode 0 expects as many atoms in both views, but tXrC has 2 and tXsC has 1"
})

var _ = misuse("atom_wider_than_c", func(k *K) {
	k.Threads(32)
	_, _, C := operands(k, 16, 8, 16)
	c := CopyAtomC[elem.F16](atoms.UniversalCopy[Rmem, Smem](128), mma16816) // ERROR "TiledCopy: UniversalCopy<u128> moves 8 values of type f16 per thread, but the MMA has only 4 of C"
	c.Slice(k.Thread).PartitionD(Shared[elem.F16](k, "sC", Shape(16, 8)))
	_ = C
})
