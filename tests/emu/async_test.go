package emu_test

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// staged is a kernel of 64 threads that copies 64 rows of 8 f16 through shared memory by cp.async; start starts the
// copy, and read reads the thread's row (the one given) into registers.
func staged(name string, body func(k *K, start func(), read func(row Expr), t, back Expr)) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		A, B := In[elem.F16](k, "A", Shape(64, 8).Strides(8, 1)), Out[elem.F16](k, "B", Shape(64, 8).Strides(8, 1))
		k.Threads(64)
		k.Helper()
		rows, vec := Shape(64, 1), Shape(1, 8)
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, rows, vec)
		load := NewTiledCopy[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), rows, vec)
		store := NewTiledCopy[elem.F16](atoms.UniversalCopy[Rmem, Gmem](128), rows, vec)
		s := Shared[elem.F16](k, "s", Shape(64, 8).Strides(8, 1))
		thr := g2s.Slice(k.Thread)
		r := FragmentLike(store.Slice(k.Thread).PartitionD(B))
		start := func() {
			k.Helper()
			Copy(g2s, thr.PartitionS(A), thr.PartitionD(s))
		}
		read := func(row Expr) {
			k.Helper()
			Copy(load, load.Slice(row).PartitionS(s), r)
		}
		body(k, start, read, k.Thread, k.Thread.Mul(-1).Add(63))
		Copy(store, r, store.Slice(k.Thread).PartitionD(B))
	}))
}

func noWait() *cir.Kernel {
	return staged("no_wait", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.Barrier()
		read(t) // BROKEN read-in-flight
	})
}

func waitTooShallow() *cir.Kernel {
	return staged("wait_too_shallow", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.WaitGroup(1)
		k.Barrier()
		read(back) // BROKEN read-in-flight
	})
}

func noCommit() *cir.Kernel {
	return staged("no_commit", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.WaitGroup(0)
		k.Barrier()
		read(t) // BROKEN read-in-flight
	})
}

func emptyGroupBetween() *cir.Kernel {
	return staged("commit_before_copy", func(k *K, start func(), read func(Expr), t, back Expr) {
		k.CommitGroup()
		start()
		k.WaitGroup(0)
		k.Barrier()
		read(t) // BROKEN read-in-flight
	})
}

func waitOfOneWarp() *cir.Kernel {
	return staged("wait_of_one_warp", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.If(t.Lt(32), func() { k.WaitGroup(0) }, nil)
		k.Barrier()
		read(back) // BROKEN read-in-flight
	})
}

func noBarrierAfterWait() *cir.Kernel {
	return staged("no_barrier_after_wait", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.WaitGroup(0)
		read(back) // BROKEN unpublished
	})
}

func barrierBeforeWait() *cir.Kernel {
	return staged("barrier_before_wait", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.Barrier()
		k.WaitGroup(0)
		read(back) // BROKEN unpublished
	})
}

func refillInFlight() *cir.Kernel {
	return staged("refill_in_flight", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		start() // BROKEN write-in-flight
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		read(t)
	})
}

func refillWhileRead() *cir.Kernel {
	return staged("refill_while_read", func(k *K, start func(), read func(Expr), t, back Expr) {
		k.Loop(0, 2, func(Expr) {
			start() // BROKEN race
			k.CommitGroup()
			k.WaitGroup(0)
			k.Barrier()
			read(back)
		})
	})
}

func exitInFlight() *cir.Kernel {
	return staged("exit_in_flight", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		read(t)
		k.Barrier()
		start() // BROKEN unwaited
		k.CommitGroup()
	})
}

func exitUncommitted() *cir.Kernel {
	return staged("exit_uncommitted", func(k *K, start func(), read func(Expr), t, back Expr) {
		start()
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		read(t)
		k.Barrier()
		start() // BROKEN unwaited
		k.WaitGroup(0)
	})
}

// ring says what is wrong with a pipeline.
type ring struct {
	pending           int  // groups that the wait leaves
	noWait, noBarrier bool // leave them out
	refill            int  // the stage refilled, ahead of the one read
	noClear           bool
	swap              bool // the barrier first, then the wait
}

// pipeline multiplies 64xK by 64xK through three stages. The marks are its callers' business.
func pipeline(name string, w ring, lines func(k *K, fetch func(), load func(), gemm func())) *cir.Kernel {
	const stages, depth = 3, 16
	return lowered(Define(name, func(k *K) {
		k.Helper()
		K := k.Dim("K", Multiple(16))
		A := In[elem.F16](k, "A", Shape(64, K).Strides(K, 1))
		B := In[elem.F16](k, "B", Shape(64, K).Strides(K, 1))
		C := Out[elem.F32](k, "C", Shape(64, 64).Strides(64, 1))
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1), Tile(32, 32, depth))
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, Shape(64, 2).Strides(2, 1), Shape(1, 8))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		row := TileToShape(Swizzle(1, 3, 3, Shape(8, depth).Strides(depth, 1)), 64, depth, stages)
		sA, sB := Shared[elem.F16](k, "sA", row), Shared[elem.F16](k, "sB", row)
		gA, gB := A.Tile(Tile(64, depth), 0, All), B.Tile(Tile(64, depth), 0, All)
		part := g2s.Slice(k.Thread)
		tAgA, tAsA, tBgB, tBsB := part.PartitionS(gA), part.PartitionD(sA), part.PartitionS(gB), part.PartitionD(sB)
		thr, lA, lB := mma.Slice(k.Thread), s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tCrA, tCrB := FragmentA(thr, sA.At(All, All, 0)), FragmentB(thr, sB.At(All, All, 0))
		tCrC := FragmentC(thr, C)
		fetch := func(tile, stage any) {
			k.Helper()
			Copy(g2s, tAgA.At(All, All, All, tile), tAsA.At(All, All, All, stage))
			Copy(g2s, tBgB.At(All, All, All, tile), tBsB.At(All, All, All, stage))
			k.CommitGroup()
		}
		for s := range stages - 1 {
			fetch(s, s)
		}
		if !w.noClear {
			Clear(tCrC)
		}
		k.Loop(0, gA.Size(2), func(t Expr) {
			k.Helper()
			sync := []func(){func() {
				if !w.noWait {
					k.WaitGroup(w.pending)
				}
			}, func() {
				if !w.noBarrier {
					k.Barrier()
				}
			}}
			if w.swap {
				sync[0], sync[1] = sync[1], sync[0]
			}
			sync[0]()
			sync[1]()
			read := t.Mod(stages)
			lines(k, func() {
				k.Helper()
				fetch(t.Add(stages-1), t.Add(w.refill).Mod(stages))
			}, func() {
				k.Helper()
				Copy(s2rA, lA.PartitionS(sA).At(All, All, All, read), lA.RetileD(tCrA))
				Copy(s2rB, lB.PartitionS(sB).At(All, All, All, read), lB.RetileD(tCrB))
			}, func() {
				k.Helper()
				Gemm(mma, tCrA, tCrB, tCrC)
			})
		})
		Map(tCrC, PartitionC(thr, C), same)
	}))
}

func ringTooShallow() *cir.Kernel {
	return pipeline("ring_too_shallow", ring{pending: 2, refill: 2}, func(k *K, fetch, load, gemm func()) {
		fetch()
		load() // BROKEN read-in-flight
		gemm()
	})
}

func ringNoWait() *cir.Kernel {
	return pipeline("ring_no_wait", ring{noWait: true, refill: 2}, func(k *K, fetch, load, gemm func()) {
		fetch() // BROKEN write-in-flight
		load()  // BROKEN read-in-flight
		gemm()
	})
}

func ringNoBarrier() *cir.Kernel {
	return pipeline("ring_no_barrier", ring{pending: 1, noBarrier: true, refill: 2}, func(k *K, fetch, load, gemm func()) {
		fetch()
		load() // BROKEN unpublished
		gemm()
	})
}

func ringBarrierFirst() *cir.Kernel {
	return pipeline("ring_barrier_first", ring{pending: 1, swap: true, refill: 2}, func(k *K, fetch, load, gemm func()) {
		fetch()
		load() // BROKEN unpublished
		gemm()
	})
}

func ringRefillsWhatIsRead() *cir.Kernel {
	return pipeline("ring_refills_what_is_read", ring{pending: 1, refill: 3}, func(k *K, fetch, load, gemm func()) {
		load()
		gemm()
		fetch() // BROKEN race
	})
}

func ringRefillsWhatComes() *cir.Kernel {
	return pipeline("ring_refills_what_comes", ring{pending: 1, refill: 1}, func(k *K, fetch, load, gemm func()) {
		load() // BROKEN read-in-flight
		gemm()
		fetch() // BROKEN write-in-flight
	})
}

func ringNotCleared() *cir.Kernel {
	return pipeline("ring_not_cleared", ring{pending: 1, refill: 2, noClear: true}, func(k *K, fetch, load, gemm func()) {
		fetch()
		load()
		gemm() // BROKEN uninitialised
	})
}
