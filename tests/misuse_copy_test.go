package tests

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Copies that cannot be what the user meant.

func rowCopy() (TiledCopy[Gmem, Rmem, elem.F32], TiledCopy[Rmem, Gmem, elem.F32]) {
	thr, val := Shape(4, 8).Strides(8, 1), Shape(1, 4)
	return NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), thr, val), NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
}

var _ = misuse("threads_do_not_divide", func(k *K) {
	A := In[elem.F16](k, "A", Shape(16, 8).Strides(8, 1))
	k.Threads(16)
	sA := Shared[elem.F16](k, "sA", Shape(16, 8).Strides(8, 1))
	c := NewTiledCopyS[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(16, 1), Shape(1, 8)) // ERROR "TiledCopy: SM75_U32x4_LDSM_N moves 32 threads x 8 values of type f16 on its source side, which do not divide the layout's 16 threads x 8 values"
	c.Slice(k.Thread).PartitionS(sA)
	c.Slice(k.Thread).PartitionS(sA) // the same mistake, not a second one
	_ = A
})

var _ = misuse("values_do_not_divide", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 24).Strides(24, 1))
	k.Threads(32)
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 3)) // ERROR "UniversalCopy<u128> fills 4 values of type f32 per thread, which do not divide the 3 values of the layout"
	tA := c.Slice(k.Thread).PartitionS(A)
	frag := FragmentLike(tA)
	Copy(c, tA, frag)
})

var _ = misuse("page_example", func(k *K) { // the TV layout of CuTe's page on TiledCopy does not cover the tile that it names
	A := In[elem.F16](k, "A", Shape(128, 128).Strides(128, 1))
	k.Threads(128)
	tv := Shape(128, 8).Strides(8, 1)
	c := NewTiledCopyTV[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, tv, Shape(128, 128)) // ERROR "128 threads x 8 values = 1024 places, which cover 1024 of the 16384 elements of the tile \(128,128\); the first one missing is element 1024"
	c.Slice(k.Thread).PartitionS(A)
})

var _ = misuse("page_setup", func(k *K) { // its other TV layout, of the same counts
	A := In[elem.F16](k, "A", Shape(128, 128).Strides(128, 1))
	k.Threads(128)
	c := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Gmem, Rmem](16), Shape(128, 8), Shape(128, 128)) // ERROR "cover 1024 of the 16384 elements of the tile \(128,128\)"
	c.Slice(k.Thread).PartitionS(A)
})

var _ = misuse("page_ldmatrix", func(k *K) { // 32 threads x 8 values are one 16x16 tile, not 64x64
	A := In[elem.F16](k, "A", Shape(64, 64).Strides(64, 1))
	k.Threads(32)
	sA := Shared[elem.F16](k, "sA", Shape(64, 64).Strides(64, 1))
	c := NewTiledCopyTV[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32, 8), Shape(64, 64)) // ERROR "32 threads x 8 values = 256 places, which cover 256 of the 4096 elements of the tile \(64,64\)"
	c.Slice(k.Thread).PartitionS(sA)
	_ = A
})

var _ = misuse("page_ldmatrix_rows", func(k *K) { // over a tile that it covers, the page's layout has no rows
	A := In[elem.F16](k, "A", Shape(32, 8).Strides(8, 1))
	k.Threads(32)
	sA := Shared[elem.F16](k, "sA", Shape(32, 8).Strides(8, 1))
	c := NewTiledCopyTV[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32, 8), Shape(32, 8))
	thr := c.Slice(k.Thread)
	Copy(c, thr.PartitionS(sA), FragmentDst(thr, sA)) // ERROR "Copy: mode 0 of the source tAsA expects 8 adjacent elements \(128 bits, for SM75_U32x4_LDSM_N\), but element 2 is 8 away from the first"
	_ = A
})

var _ = misuse("tv_outside_tile", func(k *K) {
	A := In[elem.F16](k, "A", Shape(32, 8).Strides(8, 1))
	k.Threads(32)
	c := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Gmem, Rmem](16), Shape(32, 8), Shape(32, 4)) // ERROR "puts thread 0, value 4 at 128, outside the 128 elements of the tile \(32,4\)"
	c.Slice(k.Thread).PartitionS(A)
})

var _ = misuse("element_wider_than_copy", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](16), Shape(32), Shape(1)) // ERROR "UniversalCopy<u16> moves 16 bits at a time, but an element of type f32 has 32"
	c.Slice(k.Thread).PartitionS(A)
})

var _ = misuse("no_such_width", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](48), Shape(32), Shape(1)) // ERROR "expects a copy atom, but got none"
	c.Slice(k.Thread).PartitionS(A)
})

var _ = misuse("column_major", func(k *K) { // partitioning is legal; the wide copy is not
	A := In[elem.F32](k, "A", Shape(4, 32))
	B := Out[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, store := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
	frag := FragmentLike(tB)
	Copy(load, tA, frag) // ERROR "Copy: mode 0 of the source tAA expects 4 adjacent elements \(128 bits, for UniversalCopy<u128>\), but element 1 is 4 away from the first: layout \(\(4,1\),1,1\):\(\(4,0\),0,0\)"
	Copy(store, frag, tB)
})

var _ = misuse("swizzle_too_fine", func(k *K) {
	A := In[elem.F16](k, "A", Shape(8, 64).Strides(64, 1))
	k.Threads(64)
	g2s := NewTiledCopy[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(8, 8).Strides(8, 1), Shape(1, 8))
	sA := Shared[elem.F16](k, "sA", Swizzle(3, 2, 3, Shape(8, 64).Strides(64, 1)))
	thr := g2s.Slice(k.Thread)
	Copy(g2s, thr.PartitionS(A), thr.PartitionD(sA)) // ERROR "vectors of 8 elements to stay whole in tAsA, but its swizzle Sw<3,2,3> moves runs of 4"
})

var _ = misuse("no_fact", func(k *K) {
	M, K := k.Dim("M"), k.Dim("K")
	A := In[elem.F16](k, "A", Shape(M, K).Strides(K, 1))
	k.Threads(32)
	g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(4, 8).Strides(8, 1), Shape(1, 8))
	sA := Shared[elem.F16](k, "sA", Shape(4, 64).Strides(64, 1))
	thr := g2s.Slice(k.Thread)
	tA := thr.PartitionS(A.Tile(Tile(4, 64), 0, 0))
	Copy(g2s, tA, thr.PartitionD(sA)) // ERROR "expects vectors of 8 elements to start at multiples of 8 in tAgA, but the thread's offset .*K.* is not known to be one"
})

var _ = misuse("no_fact_of_stride", func(k *K) {
	M, K := k.Dim("M"), k.Dim("K")
	A := In[elem.F16](k, "A", Shape(M, K).Strides(K, 1))
	k.Threads(8)
	g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(1, 8), Shape(1, 8))
	sA := Shared[elem.F16](k, "sA", Shape(4, 64).Strides(64, 1))
	thr := g2s.Slice(k.Thread)
	Copy(g2s, thr.PartitionS(A.Tile(Tile(4, 64), 0, 0)), thr.PartitionD(sA)) // ERROR "stride K of layout .* is not known to be one \(state it with Multiple\?\)"
})

var _ = misuse("input_as_destination", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	B := In[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, store := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
	frag := FragmentLike(tB)
	Copy(load, tA, frag)
	Copy(store, frag, tB) // ERROR "expects an output as destination, but B was declared with In"
})

var _ = misuse("output_as_source", func(k *K) {
	A := Out[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, _ := rowCopy()
	tA := load.Slice(k.Thread).PartitionS(A)
	Copy(load, tA, FragmentLike(tA)) // ERROR "expects an input as source, but A was declared with Out"
})

var _ = misuse("copy_shapes", func(k *K) {
	A := In[elem.F32](k, "A", Shape(8, 64).Strides(64, 1))
	B := Out[elem.F32](k, "B", Shape(8, 32).Strides(32, 1))
	k.Threads(32)
	load, store := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
	Copy(load, tA, FragmentLike(tB))                 // ERROR "mode 2 expects one extent in both views, but tAA \(\(4,1\),2,2\) has 2 and rB \(\(4,1\),2,1\) has 1"
	Copy(load, tA.At(All, All, 0), FragmentLike(tB)) // ERROR "expects views of one rank, but tAA has shape \(\(4,1\),2\) and rB.* has \(\(4,1\),2,1\)"
})

var _ = misuse("other_copys_partition", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, _ := rowCopy()
	other := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8), Shape(1, 4))
	tA := load.Slice(k.Thread).PartitionS(A)
	Copy(other, tA, FragmentLike(tA)) // ERROR "tAA is a partition by another copy: thread 1, value 0 is element 16 of the tile there, but element 1 on this copy's source side"
})

var _ = misuse("fragment_of_the_wrong_side", func(k *K) { // what a thread points at is not what it receives
	A := In[elem.F16](k, "A", Shape(32, 8).Strides(8, 1))
	k.Threads(32)
	s2r := NewTiledCopyS[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32, 1), Shape(1, 8))
	sA := Shared[elem.F16](k, "sA", Shape(32, 8).Strides(8, 1))
	tS := s2r.Slice(k.Thread).PartitionS(sA)
	Copy(s2r, tS, FragmentLike(tS)) // ERROR "Copy: .* is a partition by another copy: thread 1, value 0 is element 1 of the tile there, but element 64 on this copy's destination side"
	_ = A
})

var _ = misuse("tile_of_shared", func(k *K) { // shared memory has no tails
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Smem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 4))
	sA := Shared[elem.F32](k, "sA", Shape(6, 32).Strides(32, 1))
	c.Slice(k.Thread).PartitionS(sA) // ERROR "PartitionS: sA: the copy's tile \(4,32\) does not divide the tensor \(6,32\):\(32,1\)"
	_ = A
})

var _ = misuse("too_many_threads", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(64)
	load, _ := rowCopy()
	load.Slice(k.Thread).PartitionS(A) // ERROR "Slice: expects a thread from 0 to 31, those of the copy, but tid may be 63"
})

var _ = misuse("thread_too_soon", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	load, _ := rowCopy()
	thr := load.Slice(k.Thread)
	k.Threads(32)
	tA := thr.PartitionS(A) // ERROR "PartitionS: expects a slice by k.Thread, but it was made before k.Threads"
	Copy(load, tA, FragmentLike(tA))
})

var _ = misuse("too_few_threads", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(16)
	load, _ := rowCopy()
	tA := load.Slice(k.Thread).PartitionS(A) // ERROR "Slice: expects all 32 threads of the copy to take part, but tid is at most 15"
	Copy(load, tA, FragmentLike(tA))
})

var _ = misuse("old_element_of_an_output", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	B := Out[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, save := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), save.Slice(k.Thread).PartitionD(B)
	frag := FragmentLike(tB)
	Copy(load, tA, frag)
	Store(frag, tB, func(acc, old Val[elem.F32]) Val[elem.F32] { return acc.Add(old) }) // ERROR "Store: expects a tensor that may be read, since the function uses its old elements, but B was declared with Out: declare it with InOut"
})

var _ = misuse("next_tiles_rows", func(k *K) {
	A := In[elem.F32](k, "A", Shape(64, 32).Strides(32, 1))
	k.Threads(32)
	k.Grid(8)
	load, _ := rowCopy()
	tA := load.Slice(k.Thread).PartitionS(A.Tile(Tile(8, 32), k.BlockX, 0))
	Copy(load, tA.At(All, 2, All), FragmentLike(tA.At(All, 0, All))) // ERROR "At: mode 1 of tAgA expects an index from 0 to 1, but got 2"
})

var _ = misuse("tile_larger_than_its_part", func(k *K) {
	A := In[elem.F32](k, "A", Shape(60, 32).Strides(32, 1))
	k.Threads(32)
	k.Grid(10)
	load, _ := rowCopy()
	tA := load.Slice(k.Thread).PartitionS(A.Tile(Tile(6, 32), k.BlockX, 0)) // ERROR "PartitionS: gA: the copy's tile \(4,32\) does not divide"
	Copy(load, tA, FragmentLike(tA))
})
