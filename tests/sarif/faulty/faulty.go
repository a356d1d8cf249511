// Package faulty has kernels with a mistake each, which gocute check finds.
package faulty

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Turn has no barrier between its writes to shared memory, by rows, and its reads, by columns.
func Turn() *Kernel {
	return Define("turn", func(k *K) {
		a := In[elem.F32](k, "A", Shape(8, 8).Strides(8, 1))
		b := Out[elem.F32](k, "B", Shape(8, 8).Strides(8, 1))
		k.Threads(64)
		k.Budget(Coalesced)
		s := Shared[elem.F32](k, "S", Shape(8, 8).Strides(8, 1))
		rows, columns, one := Shape(8, 8).Strides(8, 1), Shape(8, 8).Strides(1, 8), Shape(1, 1).Strides(1, 1)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](32), rows, one)
		put := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Smem](32), rows, one)
		get := NewTiledCopy[elem.F32](atoms.UniversalCopy[Smem, Rmem](32), columns, one)
		store := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](32), columns, one)
		from, shared := load.Slice(k.Thread).PartitionS(a), get.Slice(k.Thread).PartitionS(s)
		row, column := FragmentLike(from), FragmentLike(shared)
		Copy(load, from, row)
		Copy(put, row, put.Slice(k.Thread).PartitionD(s))
		Copy(get, shared, column)
		Copy(store, column, store.Slice(k.Thread).PartitionD(b))
		Expect(b, 0, func(ref *Ref) func(at []int64) float64 {
			a := ref.Tensor("A")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
}

// Unequal stores into a tensor of another shape, which the DSL refuses.
func Unequal() *Kernel {
	return Define("unequal", func(k *K) {
		a := In[elem.F32](k, "A", Shape(8, 8).Strides(8, 1))
		k.Threads(64)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](32), Shape(8, 8).Strides(8, 1), Shape(1, 1).Strides(1, 1))
		from := load.Slice(k.Thread).PartitionS(a)
		Copy(load, from, FragmentLike(from.At(0)))
	})
}
