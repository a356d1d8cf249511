package tests

import (
	"testing"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// TestPrograms runs kernels that use what the library's kernels do not: every constructor of copies, tails of static
// extents, transposed and narrow loads.
func TestPrograms(t *testing.T) {
	for _, k := range []*Kernel{
		staticTail("tail_elements", 1), staticTail("tail_vectors", 4), mmaTail(),
		epilogue(), cotiled(), partsOfC(),
		transposedA(), transposedB(),
		fragmentA("ldmatrix_tf32", atoms.SM80_16x8x8_F32TF32TF32F32_TN, 16, 8), fragmentA("ldmatrix_s8", atoms.SM80_16x8x32_S32S8S8S32_TN, 32, 32),
		fragmentA("ldmatrix_bf16", atoms.SM80_16x8x16_F32BF16BF16F32_TN, 48, 32),
	} {
		t.Run(k.Name(), func(t *testing.T) {
			check.Kernel(t, k, check.Args{Seed: 7}, check.Options{On: check.CPU, EmuSeeds: []uint64{0, 3}})
		})
	}
}

func keep[E elem.Any](v Val[E]) Val[E] { return v }

func expectSame[E elem.Any](out Tensor[Gmem, E], in string) {
	Expect(out, 0, func(r *Ref) func(at []int64) float64 {
		a := r.Tensor(in)
		return func(at []int64) float64 { return a.At(at...) }
	})
}

// staticTail copies 10x30 elements by tiles of 4 rows, which neither extent is a multiple of.
func staticTail(name string, vector int) *Kernel {
	return Define(name, func(k *K) {
		A := In[elem.F32](k, "A", Shape(10, 30).Strides(32, 1))
		B := Out[elem.F32](k, "B", Shape(10, 30).Strides(32, 1))
		k.Threads(32)
		thr, val := Shape(4, 8).Strides(8, 1), Shape(1, vector)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](32*vector), thr, val)
		store := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](32*vector), thr, val)
		tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
		frag := FragmentLike(tB)
		Copy(load, tA, frag)
		Copy(store, frag, tB)
		expectSame(B, "A")
	})
}

// mmaTail multiplies operands that fill neither the atom's rows nor its columns.
func mmaTail() *Kernel {
	return Define("mma_tail", func(k *K) {
		A := In[elem.F16](k, "A", Shape(15, 13).Strides(13, 1))
		B := In[elem.F16](k, "B", Shape(7, 13).Strides(13, 1))
		C := Out[elem.F32](k, "C", Shape(15, 7).Strides(7, 1))
		k.Threads(32)
		thr := mma16816.Slice(k.Thread)
		tCrA, tCrB, tCrC := FragmentA(thr, A), FragmentB(thr, B), FragmentC(thr, C)
		Map(PartitionA(thr, A), tCrA, keep) // zeros beyond the edges
		Map(PartitionB(thr, B), tCrB, keep)
		Clear(tCrC)
		Gemm(mma16816, tCrA, tCrB, tCrC)
		Map(tCrC, PartitionC(thr, C), keep)
		Expect(C, 1e-5, func(r *Ref) func(at []int64) float64 {
			a, b := r.Tensor("A"), r.Tensor("B")
			return func(at []int64) float64 {
				sum := 0.0
				for k := range int64(13) {
					sum += a.At(at[0], k) * b.At(at[1], k)
				}
				return sum
			}
		})
	})
}

// epilogue rounds accumulators of 2x2 warps to f16 and brings them to memory through shared memory in 16-byte rows.
func epilogue() *Kernel {
	return Define("epilogue", func(k *K) {
		A := In[elem.F32](k, "A", Shape(64, 64).Strides(64, 1))
		D := Out[elem.F16](k, "D", Shape(64, 64).Strides(64, 1))
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1), Tile(32, 32, 16))
		sD := Shared[elem.F16](k, "sD", Shape(64, 64).Strides(72, 1))
		thr := mma.Slice(k.Thread)
		acc := FragmentC(thr, A)
		Map(PartitionC(thr, A), acc, keep)

		r2s := CopyOut[elem.F16](atoms.UniversalCopy[Rmem, Smem](32), mma)
		put := r2s.Slice(k.Thread)
		Copy(r2s, put.RetileS(Convert[elem.F16](acc)), put.PartitionD(sD))
		k.Barrier()
		wide := NewTiledCopy[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), Shape(16, 8).Strides(8, 1), Shape(1, 8))
		out := CopyLikeD(atoms.UniversalCopy[Rmem, Gmem](128), wide)
		frag := FragmentDst(wide.Slice(k.Thread), sD)
		Copy(wide, wide.Slice(k.Thread).PartitionS(sD), frag)
		Copy(out, frag, out.Slice(k.Thread).PartitionD(D))
		Expect(D, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return elem.ToFloat64(elem.FromFloat64[elem.F16](a.At(at...))) }
		})
	})
}

// cotiled deals out the addresses of rows with gaps between them: 8 lanes a row, 16 rows at a time.
func cotiled() *Kernel {
	return Define("cotiled", func(k *K) {
		data := Shape(32, 64).Strides(72, 1)
		A := In[elem.F16](k, "A", data)
		B := Out[elem.F16](k, "B", data)
		k.Threads(128)
		tv := ParseLayout("((8,16),8):((8,72),1)") // (T128,V8) -> address
		load := NewCotiledCopy[elem.F16](atoms.UniversalCopy[Gmem, Rmem](128), tv, data)
		store := CopyLikeS(atoms.UniversalCopy[Rmem, Gmem](128), load)
		tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
		frag := FragmentLike(tB)
		Copy(load, tA, frag)
		Copy(store, frag, tB)
		expectSame(B, "A")
	})
}

// partsOfC copies by the part of an MMA's C tile that one pair of values of each thread fills: rows and columns with
// gaps between them, which the other pairs fill.
func partsOfC() *Kernel {
	return Define("parts_of_c", func(k *K) {
		A, B := In[elem.F16](k, "A", Shape(64, 64).Strides(64, 1)), Out[elem.F16](k, "B", Shape(64, 64).Strides(64, 1))
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1), Tile(32, 32, 16))
		load := CopyAtomC[elem.F16](atoms.UniversalCopy[Gmem, Rmem](32), mma)
		store := CopyLikeS(atoms.UniversalCopy[Rmem, Gmem](32), load)
		tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
		frag := FragmentLike(tB)
		Copy(load, tA, frag)
		Copy(store, frag, tB)
		expectSame(B, "A")
	})
}

// transposedA loads an M-major A by ldmatrix.trans.
func transposedA() *Kernel {
	return Define("ldmatrix_trans_a", func(k *K) {
		A, D := In[elem.F16](k, "A", Shape(32, 16)), Out[elem.F16](k, "D", Shape(32, 16))
		k.Threads(32)
		sA := Shared[elem.F16](k, "sA", Shape(32, 16))
		stage(k, A, sA, NewTiledCopy[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(4, 8), Shape(8, 1)))
		s2r, thr := CopyA(atoms.SM75_U16x8_LDSM_T, mma16816), mma16816.Slice(k.Thread)
		tCrA := FragmentA(thr, sA)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(sA), s2r.Slice(k.Thread).RetileD(tCrA))
		Map(tCrA, PartitionA(thr, D), keep)
		expectSame(D, "A")
	})
}

// transposedB loads an N-major B by ldmatrix.trans.
func transposedB() *Kernel {
	return Define("ldmatrix_trans_b", func(k *K) {
		B, D := In[elem.F16](k, "B", Shape(16, 32)), Out[elem.F16](k, "D", Shape(16, 32))
		k.Threads(32)
		sB := Shared[elem.F16](k, "sB", Shape(16, 32))
		stage(k, B, sB, NewTiledCopy[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(2, 16), Shape(8, 1)))
		s2r, thr := CopyB(atoms.SM75_U16x4_LDSM_T, mma16816), mma16816.Slice(k.Thread)
		tCrB := FragmentB(thr, sB)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(sB), s2r.Slice(k.Thread).RetileD(tCrB))
		Map(tCrB, PartitionB(thr, D), keep)
		expectSame(D, "B")
	})
}

// fragmentA loads an A tile of any element type by ldmatrix.x4.
func fragmentA[D, A, B, C elem.Any](name string, atom atoms.MMAAtom[D, A, B, C], m, depth int) *Kernel {
	return Define(name, func(k *K) {
		in, out := In[A](k, "A", Shape(m, depth).Strides(depth, 1)), Out[A](k, "D", Shape(m, depth).Strides(depth, 1))
		k.Threads(32)
		mma := NewTiledMMA(atom, Shape(1, 1, 1))
		vector := 16 / (elem.KindOf[A]().Bits() / 8)
		row := depth / vector
		sA := Shared[A](k, "sA", Shape(m, depth).Strides(depth, 1))
		stage(k, in, sA, NewTiledCopy[A](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(32/row, row).Strides(row, 1), Shape(1, vector)))
		s2r, thr := CopyA(atoms.SM75_U32x4_LDSM_N, mma), mma.Slice(k.Thread)
		tCrA := FragmentA(thr, sA)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(sA), s2r.Slice(k.Thread).RetileD(tCrA))
		Map(tCrA, PartitionA(thr, out), keep)
		expectSame(out, "A")
	})
}

// stage brings a tensor to shared memory.
func stage[E elem.Any](k *K, src Tensor[Gmem, E], dst Tensor[Smem, E], c TiledCopy[Gmem, Smem, E]) {
	k.Helper()
	thr := c.Slice(k.Thread)
	Copy(c, thr.PartitionS(src), thr.PartitionD(dst))
	k.CommitGroup()
	k.WaitGroup(0)
	k.Barrier()
}
