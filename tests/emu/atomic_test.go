package emu_test

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// counter is a kernel of n threads with one number in shared memory, 0 at first, and a fragment of ones.
func counter(name string, n int, body func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32])) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		B := Out[elem.S32](k, "B", Shape(n))
		k.Threads(n)
		k.Helper()
		s := Shared[elem.S32](k, "s", Shape(1))
		one := FragmentLike(s)
		Clear(one)
		k.If(k.Thread.Eq(0), func() { Map(one, s, same) }, nil)
		Fill(one, 1)
		body(k, s, one)
		put(k, one, B, k.Thread)
	}))
}

func atomicTooEarly() *cir.Kernel {
	return counter("atomic_too_early", 64, func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32]) {
		AtomicAdd(s, one) // BROKEN race
		k.Barrier()
		Map(s, one, same)
	})
}

func atomicThenRead() *cir.Kernel {
	return counter("atomic_then_read", 64, func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32]) {
		k.Barrier()
		AtomicAdd(s, one)
		Map(s, one, same) // BROKEN race
	})
}

func atomicThenReadInWarp() *cir.Kernel {
	return counter("atomic_then_read_in_warp", 32, func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32]) {
		k.Barrier()
		AtomicMax(s, one)
		k.If(k.Thread.Eq(31), func() {
			Map(s, one, same) // BROKEN race
		}, nil)
	})
}

func atomicThenWrite() *cir.Kernel {
	return counter("atomic_then_write", 64, func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32]) {
		k.Barrier()
		AtomicAdd(s, one)
		k.If(k.Thread.Eq(63), func() {
			Map(one, s, same) // BROKEN race
		}, nil)
	})
}

func readThenAtomic() *cir.Kernel {
	return counter("read_then_atomic", 64, func(k *K, s Tensor[Smem, elem.S32], one Tensor[Rmem, elem.S32]) {
		k.Barrier()
		Map(s, one, same)
		AtomicMin(s, one) // BROKEN race
	})
}

// flagIsNoSync hands a number over through an atomic flag: atomics order nothing but themselves.
func flagIsNoSync() *cir.Kernel {
	return lowered(Define("flag_is_no_sync", func(k *K) {
		B := Out[elem.S32](k, "B", Shape(64))
		k.Threads(64)
		flag, x := Shared[elem.S32](k, "flag", Shape(1)), Shared[elem.S32](k, "x", Shape(1))
		r, old := FragmentLike(x), FragmentLike(x)
		Fill(r, 1)
		k.If(k.Thread.Eq(0), func() { Map(r, flag, same); Map(r, x, same) }, nil)
		k.Barrier()
		k.If(k.Thread.Eq(32), func() {
			Map(r, x, same)
		}, nil)
		AtomicExch(flag, r, old)
		Map(x, r, same) // BROKEN race
		put(k, r, B, k.Thread)
	}))
}

func atomicUninitialised() *cir.Kernel {
	return lowered(Define("atomic_uninitialised", func(k *K) {
		B := Out[elem.F32](k, "B", Shape(32))
		k.Threads(32)
		s := Shared[elem.F32](k, "s", Shape(1))
		r := FragmentLike(s)
		Fill(r, 1)
		AtomicAdd(s, r) // BROKEN uninitialised
		put(k, r, B, k.Thread)
	}))
}

func atomicOfGlobalThenRead() *cir.Kernel {
	return lowered(Define("atomic_of_global_then_read", func(k *K) {
		A, B := InOut[elem.F32](k, "A", Shape(1)), Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(A)
		Fill(r, 1)
		AtomicAdd(A, r)
		Map(A, r, same) // BROKEN race
		put(k, r, B, k.Thread)
	}))
}

func plainAndAtomic() *cir.Kernel {
	return lowered(Define("plain_and_atomic", func(k *K) {
		A := InOut[elem.S32](k, "A", Shape(1))
		k.Threads(64)
		r := FragmentLike(A)
		Fill(r, 1)
		k.If(k.Thread.Eq(40), func() { Map(r, A, same) }, nil)
		AtomicAdd(A, r) // BROKEN race
	}))
}

func blocksReadSum() *cir.Kernel {
	return lowered(Define("blocks_read_sum", func(k *K) {
		A, B := InOut[elem.F32](k, "A", Shape(1)), Out[elem.F32](k, "B", Shape(64))
		k.Threads(32)
		k.Grid(2)
		r := FragmentLike(A)
		Fill(r, 1)
		AtomicAdd(A, r)
		k.Barrier()
		Map(A, r, same) // BROKEN global-race
		put(k, r, B, k.BlockX.Mul(32).Add(k.Thread))
	}))
}

func atomicOutOfBounds() *cir.Kernel {
	k := lowered(Define("atomic_out_of_bounds", func(k *K) {
		n := k.Dim("n")
		A := InOut[elem.S32](k, "A", Shape(n))
		k.Threads(32)
		k.Grid(n.CeilDiv(32))
		i := k.BlockX.Mul(32).Add(k.Thread)
		r := FragmentLike(A.Tile(Tile(1), i))
		Fill(r, 1)
		AtomicAdd(A.Tile(Tile(1), i), r) // BROKEN out-of-bounds
	}))
	k.Body = cir.Rewrite(k.Body, func(s cir.Stmt) []cir.Stmt {
		if a, ok := s.(cir.Atomic); ok {
			a.Pred = nil
			s = a
		}
		return []cir.Stmt{s}
	})
	return k
}
