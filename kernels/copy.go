package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Copy4x32 copies a 4x32 f32 matrix with one warp: one 16-byte vector for each thread.
func Copy4x32() *Kernel { return copyRows("copy_4x32", 4, 32, 4) }

// Copy8x128 copies an 8x128 f32 matrix with the same 4x32 tile: eight vectors for each thread.
func Copy8x128() *Kernel { return copyRows("copy_8x128", 8, 128, 4) }

// Copy4x64 gives each thread eight adjacent values, which a 16-byte atom moves in two steps.
func Copy4x64() *Kernel { return copyRows("copy_4x64", 4, 64, 8) }

// copyRows copies an (m,n) row-major f32 matrix by 4x8 threads of vals adjacent values.
func copyRows(name string, m, n, vals int) *Kernel {
	return Define(name, func(k *K) {
		src := In[elem.F32](k, "A", Shape(m, n).Strides(n, 1))  // (M,N)
		dst := Out[elem.F32](k, "B", Shape(m, n).Strides(n, 1)) // (M,N)
		k.Threads(32)
		thr, val := Shape(4, 8).Strides(8, 1), Shape(1, vals).Strides(vals, 1)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), thr, val)
		store := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
		tS := load.Slice(k.Thread).PartitionS(src)  // (CPY,CPY_M,CPY_N)
		tD := store.Slice(k.Thread).PartitionD(dst) // (CPY,CPY_M,CPY_N)
		frag := FragmentLike(tD)                    // (CPY,CPY_M,CPY_N)
		Copy(load, tS, frag)
		Copy(store, frag, tD)
		expectCopy(dst, "A")
	})
}

// expectCopy states that every element of out equals the input's at the same coordinate, of which out may have more
// modes than the input: those are copies.
func expectCopy[E elem.Any](out Tensor[Gmem, E], in string) {
	Expect(out, 0, func(r *Ref) func(at []int64) float64 {
		a := r.Tensor(in)
		return func(at []int64) float64 { return a.At(at[:len(a.Extents)]...) }
	})
}
