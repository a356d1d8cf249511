package main

import (
	"fmt"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"

	"github.com/gocute/gocute/check"
)

// probe is a kernel that is launched once, with its arguments.
type probe struct {
	kernel *Kernel
	args   check.Args
}

// probes are the accesses whose costs are held against the hardware's counters.
func probes() []probe {
	var out []probe
	add := func(k *Kernel) { out = append(out, probe{kernel: k}) }
	for _, s := range []int{1, 2, 8, 32, 33} { // words between lanes: free, 2, 8 and 32 lanes a bank, padded
		add(throughShared(32, s))
	}
	for _, s := range []int{2, 4, 32, 34} {
		add(throughShared(64, s))
	}
	for _, s := range []int{4, 8, 32, 36} {
		add(throughShared(128, s))
	}
	add(matrices("ldmatrix_rows_128b", Shape(32, 64).Strides(64, 1)))
	add(matrices("ldmatrix_swizzled", TileToShape(Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1)), 32, 64)))
	add(matrices("ldmatrix_padded", Shape(32, 64).Strides(72, 1)))
	add(matrices("ldmatrix_half_swizzle", TileToShape(Swizzle(1, 3, 3, Shape(8, 64).Strides(64, 1)), 32, 64)))
	for _, s := range []int{1, 2, 8, 9} {
		add(throughRegisters(fmt.Sprintf("global32_stride%d", s), 32, Shape(128, 1).Strides(s, 1)))
	}
	add(throughRegisters("global128_stride4", 128, Shape(128, 4).Strides(4, 1)))
	add(throughRegisters("global128_stride12", 128, Shape(128, 4).Strides(12, 1)))
	add(rowsOf33())
	for _, k := range []*Kernel{kernels.AsyncCopy(), kernels.CustomPattern(), kernels.Copy8x128(), kernels.MMATile()} {
		add(k)
	}
	gemm := check.Args{Dims: map[string]int64{"M": 128, "N": 128, "K": 64}, Scalars: map[string]float64{"alpha": 1, "beta": 0.5}}
	return append(out, probe{kernels.GEMMF16(), gemm})
}

const threads = 128

// throughShared stores a vector of every thread to shared memory and loads it again, with stride words between the
// threads' vectors: the store and the load have the same conflicts.
func throughShared(bits, stride int) *Kernel {
	n := bits / 32
	return Define(fmt.Sprintf("shared%d_stride%d", bits, stride), func(k *K) {
		A := In[elem.F32](k, "A", Shape(threads, n).Strides(n, 1))
		D := Out[elem.F32](k, "D", Shape(threads, n).Strides(n, 1))
		k.Threads(threads)
		s := Shared[elem.F32](k, "s", Shape(threads, n).Strides(stride, 1))
		thr, val := Shape(threads, 1), Shape(1, n)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](bits), thr, val)
		put := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Smem](bits), thr, val)
		get := NewTiledCopy[elem.F32](atoms.UniversalCopy[Smem, Rmem](bits), thr, val)
		save := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](bits), thr, val)
		src := load.Slice(k.Thread).PartitionS(A)
		in, back := FragmentLike(src), FragmentLike(src)
		Copy(load, src, in)
		Copy(put, in, put.Slice(k.Thread).PartitionD(s))
		k.Barrier() // also keeps the compiler from passing the registers on
		Copy(get, get.Slice(k.Thread).PartitionS(s), back)
		Copy(save, back, save.Slice(k.Thread).PartitionD(D))
	})
}

// matrices loads a 32x64 tile of 16-bit elements from a layout in shared memory, by eight ldmatrix.x4 of one warp.
func matrices(name string, layout Layout) *Kernel {
	return Define(name, func(k *K) {
		A := In[elem.F16](k, "A", Shape(32, 64).Strides(64, 1))
		D := Out[elem.F16](k, "D", Shape(32, 64).Strides(64, 1))
		k.Threads(32)
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(4, 8).Strides(8, 1), Shape(1, 8))
		s2r := NewTiledCopyS[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32, 1), Shape(1, 8))
		save := CopyLikeD(atoms.UniversalCopy[Rmem, Gmem](32), s2r)
		s := Shared[elem.F16](k, "s", layout)
		Copy(g2s, g2s.Slice(k.Thread).PartitionS(A), g2s.Slice(k.Thread).PartitionD(s))
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		frag := FragmentDst(s2r.Slice(k.Thread), s)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(s), frag)
		Copy(save, frag, save.Slice(k.Thread).PartitionD(D))
	})
}

// throughRegisters copies vectors between global tensors of the same layout over (thread,value).
func throughRegisters(name string, bits int, layout Layout) *Kernel {
	return Define(name, func(k *K) {
		A, D := In[elem.F32](k, "A", layout), Out[elem.F32](k, "D", layout)
		k.Threads(threads)
		move(k, A, D, bits, Shape(threads, 1), Shape(1, bits/32))
	})
}

// rowsOf33 copies four rows of 32 words, one a warp, that start 33 words apart: all but the first straddle a sector
// more than they fill.
func rowsOf33() *Kernel {
	return Define("global32_rows33", func(k *K) {
		l := Shape(4, 32).Strides(33, 1)
		A, D := In[elem.F32](k, "A", l), Out[elem.F32](k, "D", l)
		k.Threads(threads)
		move(k, A, D, 32, Shape(4, 32).Strides(32, 1), Shape(1, 1))
	})
}

// move copies through registers.
func move(k *K, src, dst Tensor[Gmem, elem.F32], bits int, thr, val Layout) {
	k.Helper()
	load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](bits), thr, val)
	save := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](bits), thr, val)
	from := load.Slice(k.Thread).PartitionS(src)
	frag := FragmentLike(from)
	Copy(load, from, frag)
	Copy(save, frag, save.Slice(k.Thread).PartitionD(dst))
}
