package emu_test

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

func barrierInBranch() *cir.Kernel {
	return reversal("barrier_in_branch", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(40), func() {
			k.Barrier() // BROKEN divergent
		}, nil)
		get(k, s, back, r)
	})
}

func barrierOfOneWarp() *cir.Kernel {
	return lowered(Define("barrier_of_one_warp", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.Thread)
		k.If(k.Thread.Lt(32), func() {
			k.Barrier() // BROKEN deadlock
		}, nil)
	}))
}

func barrierOfLastWarp() *cir.Kernel {
	return lowered(Define("barrier_of_last_warp", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(96))
		k.Threads(96)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.Thread)
		k.Loop(0, k.Thread.Div(64), func(Expr) {
			k.Barrier() // BROKEN deadlock
		})
	}))
}

func twoBarriers() *cir.Kernel {
	return lowered(Define("two_barriers", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		k.If(k.Thread.Lt(32), func() {
			k.Barrier() // BROKEN divergent
		}, func() {
			k.Barrier()
		})
		put(k, r, B, k.Thread)
	}))
}

func barrierInDivergentLoop() *cir.Kernel {
	return lowered(Define("barrier_in_divergent_loop", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(32))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.Thread)
		k.Loop(0, k.Thread.Mod(4), func(Expr) {
			k.Barrier() // BROKEN divergent
		})
	}))
}

// tile is a kernel of one warp with 16x16 A, 8x16 B and their product.
func tile(name string, body func(k *K, load, gemm func())) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		k.Helper()
		A := In[elem.F16](k, "A", Shape(16, 16).Strides(16, 1))
		C := Out[elem.F32](k, "C", Shape(16, 8).Strides(8, 1))
		k.Threads(32)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1))
		s2r := CopyA(atoms.SM75_U32x4_LDSM_N, mma)
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(16, 2).Strides(2, 1), Shape(1, 8))
		sA := Shared[elem.F16](k, "sA", Shape(16, 16).Strides(16, 1))
		Copy(g2s, g2s.Slice(k.Thread).PartitionS(A), g2s.Slice(k.Thread).PartitionD(sA))
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		thr, ld := mma.Slice(k.Thread), s2r.Slice(k.Thread)
		a, b, c := FragmentA(thr, sA), FragmentB(thr, sA.Tile(Tile(8, 16), 0, 0)), FragmentC(thr, C)
		Fill(b, 1)
		Clear(c)
		body(k, func() {
			k.Helper()
			Copy(s2r, ld.PartitionS(sA), ld.RetileD(a))
		}, func() {
			k.Helper()
			Gemm(mma, a, b, c)
		})
		Map(c, PartitionC(thr, C), same)
	}))
}

func ldmatrixInBranch() *cir.Kernel {
	return tile("ldmatrix_in_branch", func(k *K, load, gemm func()) {
		k.If(k.Thread.Lt(16), func() {
			load() // BROKEN divergent
		}, nil)
		gemm()
	})
}

func mmaInBranch() *cir.Kernel {
	return tile("mma_in_branch", func(k *K, load, gemm func()) {
		load()
		k.If(k.Thread.Mod(2).Eq(0), func() {
			gemm() // BROKEN divergent
		}, nil)
	})
}

func mmaInDivergentLoop() *cir.Kernel {
	return tile("mma_in_divergent_loop", func(k *K, load, gemm func()) {
		load()
		k.Loop(0, k.Thread.Mod(8), func(Expr) {
			gemm() // BROKEN divergent
		})
	})
}

func fragmentNotLoaded() *cir.Kernel {
	return tile("fragment_not_loaded", func(k *K, load, gemm func()) {
		gemm() // BROKEN uninitialised
	})
}

func sharedNotWritten() *cir.Kernel {
	return reversal("shared_not_written", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		k.If(t.Lt(32), func() { put(k, r, s, t) }, nil)
		k.Barrier()
		get(k, s, back, r) // BROKEN uninitialised
	})
}

// outputRead declares its output as one that may be read, and is then lowered as one that holds nothing yet: the DSL
// itself refuses to read an Out.
func outputRead() *cir.Kernel {
	c := lowered(Define("output_read", func(k *K) {
		B := InOut[elem.F32](k, "B", Shape(32))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		Store(r, B.Tile(Tile(1), k.Thread), func(acc, old Val[elem.F32]) Val[elem.F32] { return acc.Add(old) }) // BROKEN uninitialised
	}))
	c.Params[0].Read = false
	return c
}

func branchSetsHalf() *cir.Kernel {
	return lowered(Define("branch_sets_half", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(32))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		k.If(k.Thread.Lt(20), func() { Fill(r, 1) }, nil)
		put(k, r, B, k.Thread) // BROKEN uninitialised
	}))
}
