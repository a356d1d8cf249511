// Package saxpy is the smallest kernel that does something: y = a*x + y for any length.
package saxpy

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

//go:generate go tool gocute gen .

const (
	threads = 128
	vector  = 4 // elements that a thread moves at once: 16 bytes
)

// Saxpy is found by gocute: exported, without arguments, it returns a kernel.
func Saxpy() *Kernel {
	return Define("saxpy", func(k *K) {
		n := k.Dim("n")
		x := In[elem.F32](k, "x", Shape(n))    // (n)
		y := InOut[elem.F32](k, "y", Shape(n)) // (n)
		a := Scalar[elem.F32](k, "a")
		k.Threads(threads)
		k.Grid(n.CeilDiv(threads * vector))

		gx := x.Tile(Tile(threads*vector), k.BlockX) // (BLK)
		gy := y.Tile(Tile(threads*vector), k.BlockX) // (BLK)
		thr, val := Shape(threads), Shape(vector)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), thr, val)
		save := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
		tx, ty := load.Slice(k.Thread).PartitionS(gx), load.Slice(k.Thread).PartitionS(gy) // (CPY,CPY_N)
		rx, ry := FragmentLike(tx), FragmentLike(ty)                                       // (CPY,CPY_N)
		Copy(load, tx, rx)                                                                 // beyond n come zeros
		Copy(load, ty, ry)
		Combine(ry, rx, func(y, x Val[elem.F32]) Val[elem.F32] { return a.FMA(x, y) })
		Copy(save, ry, save.Slice(k.Thread).PartitionD(gy)) // beyond n nothing is written

		Expect(y, 1e-6, func(r *Ref) func(at []int64) float64 {
			x, y, a := r.Tensor("x"), r.Tensor("y"), r.Scalars["a"]
			return func(at []int64) float64 { return a*x.At(at...) + y.At(at...) }
		})
	})
}
