package emu_test

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// mring is a pipeline with mbarriers; it leaves out the steps that are named.
func mring(name string, without string, body func(k *K, acquire, fetch, commit, wait, load, release func())) *cir.Kernel {
	const stages, depth = 3, 16
	return lowered(Define(name, func(k *K) {
		k.Helper()
		K := k.Dim("K", Multiple(16))
		A := In[elem.F16](k, "A", Shape(64, K).Strides(K, 1))
		C := Out[elem.F32](k, "C", Shape(64, 64).Strides(64, 1))
		k.Threads(128)
		mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1), Tile(32, 32, depth))
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, Shape(64, 2).Strides(2, 1), Shape(1, 8))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		sA := Shared[elem.F16](k, "sA", TileToShape(Swizzle(1, 3, 3, Shape(8, depth).Strides(depth, 1)), 64, depth, stages))
		p := NewPipeline(k, "ring", stages, MBarriers)
		gA := A.Tile(Tile(64, depth), 0, All)
		part := g2s.Slice(k.Thread)
		thr, lA, lB := mma.Slice(k.Thread), s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tCrA, tCrB := FragmentA(thr, sA.At(All, All, 0)), FragmentB(thr, sA.At(All, All, 0))
		tCrC := FragmentC(thr, C)
		Clear(tCrC)
		step := func(name string, f func(any)) func(any) {
			return func(x any) {
				k.Helper()
				if name != without {
					f(x)
				}
			}
		}
		acquire, commit, wait, release := step("acquire", p.Acquire), step("commit", p.Commit), step("wait", p.Wait), step("release", p.Release)
		fetch := func(t any) {
			k.Helper()
			Copy(g2s, part.PartitionS(gA).At(All, All, All, t), part.PartitionD(sA).At(All, All, All, p.Stage(t)))
		}
		for s := range stages - 1 {
			fetch(s)
			p.Commit(s)
		}
		k.Loop(0, gA.Size(2), func(t Expr) {
			k.Helper()
			next := t.Add(stages - 1)
			body(k, func() { k.Helper(); acquire(next) }, func() { k.Helper(); fetch(next) }, func() { k.Helper(); commit(next) },
				func() { k.Helper(); wait(t) }, func() {
					k.Helper()
					Copy(s2rA, lA.PartitionS(sA).At(All, All, All, p.Stage(t)), lA.RetileD(tCrA))
					Copy(s2rB, lB.PartitionS(sA).At(All, All, All, p.Stage(t)), lB.RetileD(tCrB))
				}, func() { k.Helper(); release(t) })
			Gemm(mma, tCrA, tCrB, tCrC)
		})
		Map(tCrC, PartitionC(thr, C), same)
	}))
}

// goodRing is what the broken ones should be.
func goodRing() *cir.Kernel {
	return mring("mring", "", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire()
		fetch()
		commit()
		wait()
		load()
		release()
	})
}

func mringNoAcquire() *cir.Kernel {
	return mring("mring_no_acquire", "acquire", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		fetch() // BROKEN race
		commit()
		wait()
		load()
		release()
	})
}

func mringNoWait() *cir.Kernel {
	return mring("mring_no_wait", "wait", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire()
		fetch() // BROKEN write-in-flight
		commit()
		load() // BROKEN read-in-flight, race
		release()
	})
}

func mringNoCommit() *cir.Kernel {
	return mring("mring_no_commit", "commit", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire()
		fetch()
		wait() // BROKEN deadlock
		load()
		release()
	})
}

func mringNoRelease() *cir.Kernel {
	return mring("mring_no_release", "release", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire() // BROKEN deadlock
		fetch()
		commit()
		wait()
		load()
	})
}

func mringReleaseTooEarly() *cir.Kernel {
	return mring("mring_release_too_early", "", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire()
		fetch() // BROKEN race
		commit()
		wait()
		release()
		load()
	})
}

func mringDivergentRelease() *cir.Kernel {
	return mring("mring_divergent_release", "", func(k *K, acquire, fetch, commit, wait, load, release func()) {
		acquire()
		fetch()
		commit()
		wait()
		load()
		k.If(k.Thread.Mod(32).Eq(0), func() {
			release() // BROKEN divergent
		}, nil)
	})
}
