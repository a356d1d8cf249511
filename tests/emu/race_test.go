package emu_test

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

func same[E elem.Any](v Val[E]) Val[E] { return v }

// put and get move one value between a register and an element of a tensor with one mode.
func put[S Space, E elem.Any](k *K, r Tensor[Rmem, E], t Tensor[S, E], i any) {
	k.Helper()
	Map(r, t.Tile(Tile(1), i), same)
}

func get[S Space, E elem.Any](k *K, t Tensor[S, E], i any, r Tensor[Rmem, E]) {
	k.Helper()
	Map(t.Tile(Tile(1), i), r, same)
}

// reversal is a kernel of n threads that reverses n numbers through shared memory, as body says.
func reversal(name string, n int, body func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr)) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(n)), Out[elem.F32](k, "B", Shape(n))
		k.Threads(n)
		k.Helper()
		s := Shared[elem.F32](k, "s", Shape(n))
		r := FragmentLike(A.Tile(Tile(1), k.Thread))
		get(k, A, k.Thread, r)
		body(k, r, s, k.Thread, k.Thread.Mul(-1).Add(n-1))
		put(k, r, B, k.Thread)
	}))
}

func noBarrier() *cir.Kernel {
	return reversal("no_barrier", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		get(k, s, back, r) // BROKEN race
	})
}

func barrierTooEarly() *cir.Kernel {
	return reversal("barrier_too_early", 128, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		k.Barrier()
		put(k, r, s, t)
		get(k, s, back, r) // BROKEN race
	})
}

func oneWarp() *cir.Kernel {
	return reversal("one_warp", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		get(k, s, back, r) // BROKEN race
	})
}

func oneWarpReuse() *cir.Kernel {
	return reversal("one_warp_reuse", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.Barrier()
		get(k, s, back, r)
		put(k, r, s, t) // BROKEN race
	})
}

func noBarrierBeforeReuse() *cir.Kernel {
	return reversal("no_barrier_before_reuse", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		k.Loop(0, 3, func(Expr) {
			put(k, r, s, t) // BROKEN race
			k.Barrier()
			get(k, s, back, r)
		})
	})
}

func twoWriters() *cir.Kernel {
	return reversal("two_writers", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		put(k, r, s, t.Mod(32).Add(32)) // BROKEN race
		k.Barrier()
		get(k, s, t, r)
	})
}

func twoWritersOfWarp() *cir.Kernel {
	return reversal("two_writers_of_warp", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		put(k, r, s, back) // BROKEN race
		k.Barrier()
		get(k, s, t, r)
	})
}

func oneForAll() *cir.Kernel {
	return reversal("one_for_all", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t.Div(2)) // BROKEN lane-conflict
		k.Barrier()
		get(k, s, t.Mod(16), r)
	})
}

// storesThenLdmatrix fills a tile by plain stores of the warp that loads it as matrices at once.
func storesThenLdmatrix() *cir.Kernel {
	return lowered(Define("stores_then_ldmatrix", func(k *K) {
		A, D := In[elem.F16](k, "A", Shape(32, 8).Strides(8, 1)), Out[elem.F16](k, "D", Shape(32, 8).Strides(8, 1))
		k.Threads(32)
		rows, vec := Shape(32, 1), Shape(1, 8)
		in := NewTiledCopy[elem.F16](atoms.UniversalCopy[Gmem, Rmem](128), rows, vec)
		out := NewTiledCopy[elem.F16](atoms.UniversalCopy[Rmem, Smem](128), rows, vec)
		s2r := NewTiledCopyS[elem.F16](atoms.SM75_U32x4_LDSM_N, rows, vec)
		store := NewTiledCopyTV[elem.F16](atoms.UniversalCopy[Rmem, Gmem](32), s2r.LayoutD(), Shape(32, 8))
		sA := Shared[elem.F16](k, "sA", Shape(32, 8).Strides(8, 1))
		r := FragmentLike(in.Slice(k.Thread).PartitionS(A))
		Copy(in, in.Slice(k.Thread).PartitionS(A), r)
		Copy(out, r, out.Slice(k.Thread).PartitionD(sA))
		frag := FragmentDst(s2r.Slice(k.Thread), sA)
		Copy(s2r, s2r.Slice(k.Thread).PartitionS(sA), frag) // BROKEN race
		Copy(store, frag, store.Slice(k.Thread).PartitionD(D))
	}))
}

func globalExchange() *cir.Kernel {
	return lowered(Define("global_exchange", func(k *K) {
		A, B := InOut[elem.F32](k, "A", Shape(64)), Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, A, k.Thread)
		get(k, A, k.Thread.Mul(-1).Add(63), r) // BROKEN race
		put(k, r, B, k.Thread)
	}))
}

func globalReverseInPlace() *cir.Kernel {
	return lowered(Define("global_reverse_in_place", func(k *K) {
		A := InOut[elem.F32](k, "A", Shape(64))
		k.Threads(64)
		r := FragmentLike(A.Tile(Tile(1), k.Thread))
		get(k, A, k.Thread.Mul(-1).Add(63), r)
		put(k, r, A, k.Thread) // BROKEN race
	}))
}

func globalNeighbour() *cir.Kernel {
	return lowered(Define("global_neighbour", func(k *K) {
		n := k.Dim("n", Multiple(32))
		A := InOut[elem.F32](k, "A", Shape(n))
		k.Threads(32)
		k.Grid(n.Div(32))
		i := k.BlockX.Mul(32).Add(k.Thread)
		r := FragmentLike(A.Tile(Tile(1), i))
		get(k, A, i.Add(32), r) // BROKEN global-race
		put(k, r, A, i)
	}))
}

func globalBroadcast() *cir.Kernel {
	return lowered(Define("global_broadcast", func(k *K) {
		n := k.Dim("n", Multiple(32))
		A := InOut[elem.F32](k, "A", Shape(n))
		k.Threads(32)
		k.Grid(n.Div(32))
		r := FragmentLike(A.Tile(Tile(1), k.Thread))
		get(k, A, k.Thread, r) // BROKEN global-race
		k.Barrier()
		put(k, r, A, k.BlockX.Mul(32).Add(k.Thread))
	}))
}

func blocksOverlap() *cir.Kernel {
	return lowered(Define("blocks_overlap", func(k *K) {
		n := k.Dim("n", Multiple(32))
		B := Out[elem.F32](k, "B", Shape(n))
		k.Threads(32)
		k.Grid(n.Div(32).Add(1))
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.BlockX.Mul(32).Add(k.Thread).Mod(n)) // BROKEN double-write
	}))
}

func threadsOverlap() *cir.Kernel {
	return lowered(Define("threads_overlap", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(48))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.Thread.Mod(48)) // BROKEN double-write
	}))
}

func rowsForgotten() *cir.Kernel {
	return lowered(Define("rows_forgotten", func(k *K) {
		n := k.Dim("n")
		B := Out[elem.F32](k, "B", Shape(n))
		k.Threads(32)
		k.Grid(n.Div(32)) // not rounded up
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.BlockX.Mul(32).Add(k.Thread)) // BROKEN unwritten
	}))
}

func everyOtherForgotten() *cir.Kernel {
	return lowered(Define("every_other_forgotten", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(8, 8).Strides(10, 1))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1, 1), 0, 0))
		Fill(r, 1)
		Map(r, B.Tile(Tile(1, 1), k.Thread.Div(4), k.Thread.Mod(4).Mul(2)), same) // BROKEN unwritten
	}))
}
